"""A store with a hook at every point where a worker may die."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from foretell.domain.plan import PlanId
from foretell.ports import Store, Tx

Hook = Callable[[], None]


class FaultyStore:
    """Calls `hook` just before and just after each commit; what it raises goes to the caller."""

    def __init__(self, store: Store, hook: Hook) -> None:
        self._store = store
        self._hook = hook

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        async with self._store.begin() as tx:
            yield tx
            self._hook()
        self._hook()

    def watch(self, plan_id: PlanId) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        return self._store.watch(plan_id)
