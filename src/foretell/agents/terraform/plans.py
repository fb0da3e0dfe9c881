"""The plans that run here: each in a folder that its process owns, stopped when nobody wants it."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from foretell.domain.errors import AgentRejected
from foretell.domain.plan import InvocationId
from foretell.kit.terraform.folder import Folder, discard, laid_out, leftovers

T = TypeVar("T")
ASKED_EVERY: Final = timedelta(seconds=1)
"""How often a plan looks whether another process of this machine asked it to stop."""


class Plans:
    """Those of this process by invocation, and the folders of all processes below `parent`."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._tasks: dict[InvocationId, set[asyncio.Task[Any]]] = {}

    async def run(self, invocation: InvocationId, work: Coroutine[Any, Any, T]) -> T:
        """What `work` answers. Raises AgentRejected when somebody stops it meanwhile."""
        task = asyncio.ensure_future(work)
        tasks = self._tasks.setdefault(invocation, set())
        tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is None or caller.cancelling():
                raise
            raise AgentRejected("the plan was stopped: nobody wants it any more") from None
        finally:
            tasks.discard(task)
            if not tasks:
                self._tasks.pop(invocation, None)

    async def stop(self, invocation: InvocationId) -> None:
        """Stops what runs of the invocation on this machine, and removes what a dead process left.

        Returns when those of this process have ended; another's look once a second.
        """
        await self._stop_own(invocation)
        for folder in self._parent.glob(f"{_name(invocation)}-*"):
            await asyncio.to_thread(discard, folder)

    async def _stop_own(self, invocation: InvocationId) -> None:
        if tasks := set(self._tasks.get(invocation, ())):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def sweep(self, older_than: timedelta, live: frozenset[InvocationId]) -> int:
        """Removes the folders of dead processes and stops plans that are not `live`; how many."""
        names = {_name(each) for each in live}
        found = leftovers(self._parent, older_than.total_seconds(), time.time())
        return sum(discard(path) for name, path in found if name not in names)

    @asynccontextmanager
    async def folder(
        self, invocation: InvocationId, tree: Path, relative: str
    ) -> AsyncIterator[Folder]:
        """As `laid_out`; whoever runs in it ends when it is asked to."""
        made = laid_out(self._parent, _name(invocation), tree, relative)
        entering = asyncio.ensure_future(asyncio.to_thread(made.__enter__))
        heed: asyncio.Task[None] | None = None
        try:
            folder = await asyncio.shield(entering)
            heed = asyncio.create_task(self._heed(folder, invocation))
            yield folder
        finally:
            if heed is not None:
                heed.cancel()
            await asyncio.shield(_left(made, entering))

    async def _heed(self, folder: Folder, invocation: InvocationId) -> None:
        while not folder.is_unwanted():
            await asyncio.sleep(ASKED_EVERY.total_seconds())
        await self._stop_own(invocation)


async def _left(made: AbstractContextManager[Folder], entering: "asyncio.Future[Folder]") -> None:
    """Also where a cancellation came while the folder was being filled: it goes when it is."""
    await asyncio.wait([entering])
    if entering.exception() is None:
        await asyncio.to_thread(made.__exit__, None, None, None)


def _name(invocation: InvocationId) -> str:
    return quote(str(invocation), safe="")
