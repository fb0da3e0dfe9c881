"""The store: rows and jobs in one transaction, on a pool of connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool

from foretell.domain.errors import Unavailable
from foretell.domain.plan import PlanId
from foretell.ports import Tx
from foretell.store.budget import PostgresBudget
from foretell.store.deliveries import Deliveries
from foretell.store.installation import Installation
from foretell.store.inventory import Inventories
from foretell.store.invocations import Invocations
from foretell.store.plans import Plans
from foretell.store.reports import Reports
from foretell.store.session import Connection, Pool, register_types, translated
from foretell.store.tokens import Tokens
from foretell.store.watch import Watchers

WAIT = timedelta(seconds=30)
"""How long `open_store` and a caller without a free connection wait."""
OPTIONS: dict[str, Any] = {
    "application_name": "foretell",
    "options": "-c TimeZone=UTC",
    # The session begins and ends its transactions itself.
    "autocommit": True,
}


class PostgresTx(Plans, Invocations, Inventories, Tokens, Deliveries, Installation, Reports):
    """One transaction on one connection."""

    __slots__ = ()


class PostgresStore:
    """Rows and jobs in PostgreSQL, 15 or later. `pool` is open, and closed by `close`."""

    def __init__(self, pool: Pool, watchers: Watchers) -> None:
        self._pool = pool
        self._watchers = watchers
        self._checking: asyncio.Future[None] | None = None
        self.budget = PostgresBudget(pool)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        try:
            async with translated(), self._pool.connection() as connection:
                tx = PostgresTx(connection)
                yield tx
                await tx.commit()
        except Unavailable:
            self._check_connections()
            raise

    def _check_connections(self) -> None:
        """A server that was away took all connections along: one caller finds out, for all."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._pool.check())

    def watch(self, plan_id: PlanId) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        return self._watchers.watch(plan_id)

    async def close(self) -> None:
        """Close every connection; transactions that are under way are rolled back."""
        if self._checking is not None:
            self._checking.cancel()
        await self._watchers.close()
        await self._pool.close()


async def open_store(dsn: str, *, size: int = 10, wait_for: timedelta = WAIT) -> PostgresStore:
    """A store on `size` connections to the migrated database at `dsn`.

    Waits for a server that is starting; raises Unavailable when it does not answer in time.
    """
    pool: Pool = AsyncConnectionPool(
        dsn,
        min_size=min(size, 2),
        max_size=size,
        open=False,
        kwargs=OPTIONS,
        configure=_configure,
        timeout=wait_for.total_seconds(),
    )
    try:
        await pool.open(wait=True, timeout=wait_for.total_seconds())
    except psycopg.OperationalError as error:
        await pool.close()
        raise Unavailable(f"the database does not answer: {error}") from error
    return PostgresStore(pool, Watchers(lambda: _connect(dsn)))


async def _configure(connection: Connection) -> None:
    register_types(connection)


async def _connect(dsn: str) -> Connection:
    return await psycopg.AsyncConnection.connect(dsn, **OPTIONS)
