"""A budget without a limit, which counts."""

from collections import Counter
from datetime import timedelta


class FreeBudget:
    """The Budget port for tests: never waits; `taken` and `held` tell what was asked."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.held: dict[str, timedelta] = {}

    async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
        self.taken[name] += 1

    async def hold(self, name: str, wait_for: timedelta) -> None:
        self.held[name] = wait_for
