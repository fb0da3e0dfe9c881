"""The machine's time and random names: the only place that asks for either."""

from datetime import UTC, datetime
from uuid import uuid4


class SystemClock:
    """Aware UTC; a step back of the machine's clock is not passed on."""

    def __init__(self) -> None:
        self._latest = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Now, or the latest time given out where the machine's clock was set back."""
        self._latest = max(self._latest, datetime.now(UTC))  # noqa: TID251 - this is the Clock
        return self._latest


class RandomIds:
    """Random UUIDs (RFC 9562, version 4)."""

    def new(self) -> str:
        """A new one, as text."""
        return str(uuid4())
