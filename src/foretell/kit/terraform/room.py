"""How many plans run at once: as many as the cores and the memory of this machine take.

A plan takes a core and up to some hundred megabytes for a while; thirty at once have ended
machines. The memory is that of the machine and, in a container, of its limit.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

PLAN_BYTES: Final = 1024**3
"""What a plan is taken to need until it has ended: its program, and one large provider."""
_PER_CORE: Final = 2  # a plan waits for its provider's server half of the time
_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


class Room:
    """One for all plans of a process. The first always gets in, whatever the memory."""

    def __init__(
        self, most: int = 0, available_bytes: Callable[[], int | None] | None = None
    ) -> None:
        self._most = most or (os.cpu_count() or 1) * _PER_CORE
        self._available_bytes = available_bytes or memory_available_bytes
        self._running = 0
        self._left = asyncio.Condition()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Waits for room, in order of asking."""
        async with self._left:
            await self._left.wait_for(self._is_free)
            self._running += 1
        try:
            yield
        finally:
            await asyncio.shield(self._leave())

    async def _leave(self) -> None:
        async with self._left:
            self._running -= 1
            self._left.notify_all()

    def _is_free(self) -> bool:
        if self._running == 0:
            return True
        if self._running >= self._most:
            return False
        available = self._available_bytes()
        # Those that run may not have taken their part yet.
        return available is None or available >= PLAN_BYTES * (self._running + 1)


def memory_available_bytes() -> int | None:
    """Of the machine or of the container's limit, whichever is less; None: nobody says."""
    known = [each for each in (_of_machine(), _of_container()) if each is not None]
    return min(known) if known else None


def _of_machine() -> int | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kilobytes[0]) * 1024 if kilobytes else None


def _of_container() -> int | None:
    try:
        limit, used = ((_CGROUP / name).read_text() for name in ("memory.max", "memory.current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # no cgroup of version 2, or "max"
        return None
