"""Same inputs once: callers with one key share one call, and for a while its answer."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from prometheus_client import Counter

T = TypeVar("T")

CALLS = Counter("foretell_renders", "Renders asked for, by whether they had to be made", ["made"])


class SharedRenders:
    """Single flight and a bounded memory of answers, in this process only.

    Answers hold secrets that no store may see, so several workers render a thing once each.
    An error is shared with those who wait for it and then forgotten: it may be gone next time.
    `keep` bounds the number of answers kept: 20 distinct inputs for two sides are 40.
    """

    def __init__(self, keep: int = 256) -> None:
        self._keep = keep
        self._kept: OrderedDict[str, asyncio.Task[Any]] = OrderedDict()

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """The answer for `key`: one caller makes it, and its cancellation is not the others'."""
        task = self._kept.get(key)
        CALLS.labels(made="no" if task else "yes").inc()
        if task is None:
            task = asyncio.ensure_future(_awaited(make))
            self._remember(key, task)
        self._kept.move_to_end(key, last=True)
        answer: T = await asyncio.shield(task)
        return answer

    def _remember(self, key: str, task: "asyncio.Task[Any]") -> None:
        self._kept[key] = task
        task.add_done_callback(lambda done: self._forget_failure(key, done))
        while len(self._kept) > self._keep:
            self._kept.popitem(last=False)

    def _forget_failure(self, key: str, task: "asyncio.Task[Any]") -> None:
        failed = task.cancelled() or task.exception() is not None
        if failed and self._kept.get(key) is task:
            del self._kept[key]


async def _awaited(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
