"""A rate budget of one process, where no store is shared with others."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic


class ProcessBudget:
    """The Budget port for one event loop, in memory.

    Turns are given by the generic cell rate algorithm (ITU-T I.371, annex A): each call moves the
    next turn on by one interval, and a pause saves up to `burst` of them.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._now = now
        self._sleep = sleep
        self._next: dict[str, float] = {}
        self._held: dict[str, float] = {}

    async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
        """Wait for the turn of one call."""
        interval = 1 / per_second
        now = self._now()
        saved = now - (burst - 1) * interval
        turn = max(self._next.get(name, saved), saved, self._held.get(name, saved))
        self._next[name] = turn + interval
        if turn > now:
            await self._sleep(turn - now)

    async def hold(self, name: str, wait_for: timedelta) -> None:
        """No turn before that."""
        until = self._now() + wait_for.total_seconds()
        self._held[name] = max(self._held.get(name, until), until)
