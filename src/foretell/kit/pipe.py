"""The two ends of a child's streams that can neither block it nor us."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


class Capture(asyncio.Protocol):
    """Always drains its pipe, so that no child blocks on it; keeps what is under the cap."""

    def __init__(self, cap_bytes: int, over: asyncio.Future[None], error: Exception) -> None:
        self.data = bytearray()
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._cap_bytes, self._over, self._error = cap_bytes, over, error

    def data_received(self, data: bytes) -> None:
        if len(self.data) + len(data) <= self._cap_bytes:
            self.data += data
        elif not self._over.done():
            self._over.set_exception(self._error)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


@contextmanager
def readable(data: bytes | None) -> Iterator[int]:
    """A file that holds `data`: unlike a pipe it can't block us, and it never has a name."""
    if data is None:
        yield asyncio.subprocess.DEVNULL
        return
    memory = getattr(os, "memfd_create", None)
    with os.fdopen(memory("stdin"), "w+b") if memory else tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()
