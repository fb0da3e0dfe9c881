"""The store's promises, held by a PostgreSQL server that nobody here built: Debian's."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import count
from urllib.parse import urlsplit

import psycopg
import pytest

from foretell.ports import Step
from foretell.store.migrate import migrate
from foretell.store.postgres import PostgresStore, open_store
from foretell.testing.contracts.store import Queued, StoreContract

TEMPLATE = "foretell_server_template"
WAITING = """
SELECT entrypoint, convert_from(payload, 'UTF8'),
    date_trunc('minute', GREATEST(execute_after - now(), '0 s') + '30 s')
FROM pgqueuer WHERE status = 'queued'
"""
_numbers = count(1)


def named(dsn: str, database: str) -> str:
    return urlsplit(dsn)._replace(path=f"/{database}").geturl()


def run(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(scope="module")
def migrated_server(server_postgres: str) -> Iterator[str]:
    """The server's DSN, with a template that has every migration applied."""
    run(server_postgres, f"CREATE DATABASE {TEMPLATE}")
    migrate(named(server_postgres, TEMPLATE))
    yield server_postgres
    run(server_postgres, f"DROP DATABASE {TEMPLATE} WITH (FORCE)")


class TestPostgresStoreOnAServer(StoreContract):
    @pytest.fixture
    def server_database(self, migrated_server: str) -> Iterator[str]:
        name = f"foretell_server_test_{next(_numbers)}"
        run(migrated_server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        yield named(migrated_server, name)
        run(migrated_server, f"DROP DATABASE {name} WITH (FORCE)")

    @pytest.fixture
    async def store(self, server_database: str) -> AsyncIterator[PostgresStore]:
        store = await open_store(server_database, size=5)
        yield store
        await store.close()

    @pytest.fixture
    def queued(self, server_database: str) -> Queued:
        async def read() -> dict[tuple[Step, str], timedelta]:
            async with await psycopg.AsyncConnection.connect(server_database) as connection:
                rows = await (await connection.execute(WAITING)).fetchall()
            return {(Step(step), id): after for step, id, after in rows}

        return read
