"""Several processes, one folder: who decides, and who is the last one out.

Two locks on files of the folder, both freed by the kernel when their holder dies:
`turn` is held by the one that starts or stops the server; `users` is shared by all who use it.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

POLL_SECONDS = 0.01


@asynccontextmanager
async def turn(home: Path) -> AsyncIterator[None]:
    """Wait until nobody else starts or stops the server in `home`."""
    lock = _open(home / "turn.lock")
    try:
        while not _try(lock, fcntl.LOCK_EX):
            await asyncio.sleep(POLL_SECONDS)
        yield
    finally:
        os.close(lock)


class Use:
    """The right to use the server, held until `leave`; take and leave it with the turn."""

    def __init__(self, lock: int) -> None:
        self._lock = lock

    @classmethod
    async def take(cls, home: Path) -> "Use":
        """Before asking whether the server runs: whoever stops it holds the whole lock."""
        lock = lock_of_users(home)
        try:
            while not _try(lock, fcntl.LOCK_SH):
                await asyncio.sleep(POLL_SECONDS)
        except BaseException:
            os.close(lock)
            raise
        return cls(lock)

    def is_last(self) -> bool:
        """Whether nobody else uses the server; with the turn held, nobody can begin to."""
        return _try(self._lock, fcntl.LOCK_EX)

    def leave(self) -> None:
        os.close(self._lock)


def lock_of_users(home: Path) -> int:
    """A new descriptor of the lock that the users share, without a share of it."""
    return _open(home / "users.lock")


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _try(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
