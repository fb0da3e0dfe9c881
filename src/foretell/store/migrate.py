"""Bring a database to the schema of this version."""

import asyncio
from typing import Any

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from foretell.domain.errors import Unavailable

LOCK = 0x666F726574656C6C
"""Key of the advisory lock under which the schema is changed: "foretell" as a number."""


def migrate(dsn: str) -> None:
    """Apply what is missing; nothing on a database of this version. Two at once are one.

    `dsn` is a libpq URI or keyword string. Raises Unavailable when the server can't be reached.
    """
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(dsn), poolclass=NullPool
    )
    try:
        with engine.begin() as connection:
            # Held to the commit: whoever comes second finds the work done.
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
            config = Config()
            config.set_main_option("script_location", "foretell.store:migrations")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except OperationalError as error:
        raise Unavailable(f"cannot migrate the database: {error.orig}") from error
    finally:
        engine.dispose()


async def migrate_async(dsn: str) -> None:
    """`migrate`, off the event loop."""
    await asyncio.to_thread(migrate, dsn)


def _connect(dsn: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(dsn)
