"""Rate budgets that all workers share: a row each."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from foretell.store.session import Pool, Session, translated


class PostgresBudget:
    """The Budget port. One statement gives a turn, by the database's own clock."""

    def __init__(
        self, pool: Pool, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._pool = pool
        self._sleep = sleep

    async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
        """Wait for the turn of one call; no connection is held meanwhile."""
        interval = timedelta(seconds=1 / per_second)
        values = {"name": name, "interval": interval, "saved": (burst - 1) * interval}
        async with translated(), self._pool.connection() as connection:
            session = Session(connection)
            wait_for: timedelta = await session.value("take_turn", values)
            await session.commit()
        if wait_for > timedelta():
            await self._sleep(wait_for.total_seconds())

    async def hold(self, name: str, wait_for: timedelta) -> None:
        """No turn before that."""
        async with translated(), self._pool.connection() as connection:
            session = Session(connection)
            await session.send("hold_turns", {"name": name, "wait_for": wait_for})
            await session.commit()
