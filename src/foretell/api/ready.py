"""Documents of completed plans, kept in memory: under one key they never change, and many ask.

Whether a plan may still be seen is asked of the database each time; only the bytes are kept.
"""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b

MAX_BYTES = 64 * 1024 * 1024
"""Some 50 plans of 1,000 targets."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A document as it is sent, and the ETag by which a caller knows it again."""

    body: bytes
    etag: str


def made_ready(body: bytes) -> Ready:
    """The document with its ETag, a digest of the bytes."""
    return Ready(body, f'"{blake2b(body, digest_size=16).hexdigest()}"')


class ReadyDocuments:
    """The last that were asked for, up to so many bytes in all."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, Ready] = OrderedDict()

    def get(self, key: str) -> Ready | None:
        """The document with that key, if it is kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: str, ready: Ready) -> None:
        """Keep it; those that nobody asked for the longest make room."""
        if key in self._kept or len(ready.body) > self._max_bytes:
            return
        self._kept[key] = ready
        self._bytes += len(ready.body)
        while self._bytes > self._max_bytes:
            _, gone = self._kept.popitem(last=False)
            self._bytes -= len(gone.body)
