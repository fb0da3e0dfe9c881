"""The store's promises, held by PostgreSQL."""

from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from foretell.ports import Step
from foretell.store.postgres import PostgresStore, open_store
from foretell.testing.contracts.store import Queued, StoreContract

WAITING = """
SELECT entrypoint, convert_from(payload, 'UTF8'),
    date_trunc('minute', GREATEST(execute_after - now(), '0 s') + '30 s')
FROM pgqueuer WHERE status = 'queued'
"""


class TestPostgresStore(StoreContract):
    @pytest.fixture
    async def store(self, database: str) -> AsyncIterator[PostgresStore]:
        store = await open_store(database, size=5)
        yield store
        await store.close()

    @pytest.fixture
    def queued(self, database: str) -> Queued:
        async def read() -> dict[tuple[Step, str], timedelta]:
            async with await psycopg.AsyncConnection.connect(database) as connection:
                rows = await (await connection.execute(WAITING)).fetchall()
            return {(Step(step), id): after for step, id, after in rows}

        return read
