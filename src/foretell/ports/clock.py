"""Time and names, so that the engine reads no clock and rolls no dice."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Aware UTC, and it never goes back."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """New names for new rows: UUIDs as text, so that every store takes them."""

    def new(self) -> str: ...
