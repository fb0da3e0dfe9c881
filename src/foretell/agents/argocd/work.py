"""Work that goes on while nobody waits: a question is asked, and its answer called for later."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Work(Generic[T]):
    """One task for each key; its answer is handed out once."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}

    async def answer(
        self, key: str, begin: Callable[[], Awaitable[T]], *, wait_for: timedelta
    ) -> T | None:
        """What the task of `key` says, begun by the first who asks; None: not yet."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(_begun(begin))
        await asyncio.wait({task}, timeout=wait_for.total_seconds())
        if not task.done():
            return None
        self._tasks.pop(key, None)
        return task.result()

    async def stop(self, key: str) -> None:
        """Nobody wants this answer any more."""
        task = self._tasks.pop(key, None)
        if task is not None:
            await _stopped([task])

    async def close(self) -> None:
        """Stop everything."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        await _stopped(tasks)


async def _begun(begin: Callable[[], Awaitable[T]]) -> T:
    return await begin()


async def _stopped(tasks: "list[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
