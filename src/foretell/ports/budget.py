"""How often others may be called."""

from datetime import timedelta
from typing import Protocol


class Budget(Protocol):
    """One rate per name over all workers, so that many of them stay within a server's limit."""

    async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
        """Wait for the turn of one call: `per_second` of them, after a pause `burst` at once.

        Turns are given in the order of asking. Raises Unavailable while nobody can give one.
        """

    async def hold(self, name: str, wait_for: timedelta) -> None:
        """The server asked to wait: no turn that is asked for from now on comes before that."""
