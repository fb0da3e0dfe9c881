"""Who waits for a plan wakes when it moves: one LISTEN connection a process, fanned out."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import psycopg

from foretell.store.session import Connection

CHANNEL = "foretell_plan"
SAFETY = timedelta(seconds=2)
"""A watcher wakes this often in any case: a notification can be lost with its connection."""
RECONNECT_SECONDS = 0.5


class Watchers:
    """The watchers of this process, and the connection that wakes them."""

    def __init__(
        self, connect: Callable[[], Awaitable[Connection]], safety: timedelta = SAFETY
    ) -> None:
        self._connect = connect
        self._safety_seconds = safety.total_seconds()
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._listening: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def watch(self, plan_id: str) -> AsyncIterator[AsyncIterator[None]]:
        """An iterator that wakes once at the start and then at each move of the plan."""
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())
        woken = asyncio.Event()
        woken.set()
        self._waiting[plan_id].add(woken)
        try:
            yield self._wakes(woken)
        finally:
            self._waiting[plan_id].discard(woken)
            if not self._waiting[plan_id]:
                del self._waiting[plan_id]

    async def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
            self._listening = None

    async def _wakes(self, woken: asyncio.Event) -> AsyncIterator[None]:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._safety_seconds):
                    await woken.wait()
            # Cleared before the watcher looks: what moves while it looks wakes it again.
            woken.clear()
            yield

    async def _listen(self) -> None:
        while True:
            with suppress(psycopg.Error):
                async with await self._connect() as connection:
                    await connection.execute(f"LISTEN {CHANNEL}".encode())
                    # Whatever moved while nobody listened.
                    self._wake_all()
                    async for note in connection.notifies():
                        self._wake(note.payload)
            await asyncio.sleep(RECONNECT_SECONDS)

    def _wake(self, plan_id: str) -> None:
        for woken in self._waiting.get(plan_id, ()):
            woken.set()

    def _wake_all(self) -> None:
        for plan_id in self._waiting:
            self._wake(plan_id)
