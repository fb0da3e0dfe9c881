"""A real PostgreSQL for every test that asks: one server a session, one new database a test."""

import asyncio
import importlib
import importlib.util
import inspect
import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from foretell.store.embedded import EmbeddedPostgres

SERVER_VARIABLE = "FORETELL_TEST_DATABASE_URL"
MIGRATIONS = "foretell.store.migrate"
_numbers = count(1)


def _named(dsn: str, database: str) -> str:
    return urlsplit(dsn)._replace(path=f"/{database}").geturl()


def _run(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The DSN of a server: the one named by the environment, else an embedded one of our own."""
    if given := os.environ.get(SERVER_VARIABLE):
        yield given
        return
    # Not below pytest's own folder: that is closed to the account which the server runs as.
    with tempfile.TemporaryDirectory(prefix="foretell-test-") as folder:
        server = EmbeddedPostgres(Path(folder), ephemeral=True)
        yield asyncio.run(server.start())
        asyncio.run(server.stop())


@pytest.fixture(scope="session")
def template(postgres: str) -> Iterator[str]:
    """The name of a database with every migration applied, to be cloned."""
    name = f"foretell_template_{os.getpid()}"
    _run(postgres, f"CREATE DATABASE {name}")
    if importlib.util.find_spec(MIGRATIONS):
        done = importlib.import_module(MIGRATIONS).migrate(_named(postgres, name))
        if inspect.iscoroutine(done):
            asyncio.run(done)
    yield name
    _run(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def database(postgres: str, template: str) -> Iterator[str]:
    """The DSN of a new, migrated database that nobody else uses."""
    name = f"foretell_test_{os.getpid()}_{next(_numbers)}"
    _run(postgres, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield _named(postgres, name)
    _run(postgres, f"DROP DATABASE {name} WITH (FORCE)")
