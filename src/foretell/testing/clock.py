"""Time and names that a test decides."""

from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID


class ManualClock:
    """A Clock that stands still until it is told to go on, and never goes back."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """Aware UTC."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Let `by` pass; ValueError for a step back."""
        if by < timedelta(0):
            raise ValueError(f"a clock never goes back: {by}")
        self._now += by


class SequentialIds:
    """Ids that are UUIDs, in ascending order, the same in each run."""

    def __init__(self, first: int = 1) -> None:
        self._numbers = count(first)

    def new(self) -> str:
        """A new one, as text."""
        return str(UUID(int=next(self._numbers)))
