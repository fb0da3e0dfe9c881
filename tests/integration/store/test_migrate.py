"""The schema: made once, by however many at a time, with the names that RFC 0004 and 0013 give."""

import asyncio
from uuid import uuid4

import psycopg
import pytest

from foretell.domain.errors import Unavailable
from foretell.store.migrate import migrate, migrate_async

GIVEN = {
    ("deployment_plan", "id", "uuid", "NO"),
    ("deployment_plan", "workspace_id", "uuid", "NO"),
    ("deployment_plan", "deployment_id", "uuid", "NO"),
    ("deployment_plan", "status", "text", "NO"),
    ("deployment_plan", "request", "jsonb", "NO"),
    ("deployment_plan", "result", "jsonb", "YES"),
    ("deployment_plan", "created_at", "timestamp with time zone", "NO"),
    ("deployment_plan", "completed_at", "timestamp with time zone", "YES"),
    ("deployment_plan", "expires_at", "timestamp with time zone", "NO"),
    ("deployment_plan_target", "id", "uuid", "NO"),
    ("deployment_plan_target_result", "kind", "text", "NO"),
    ("deployment_plan_target_result_validation", "id", "uuid", "NO"),
}
COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
WHERE table_schema = 'public'
"""


def _columns(dsn: str) -> set[tuple[str, ...]]:
    with psycopg.connect(dsn) as connection:
        return set(connection.execute(COLUMNS).fetchall())


@pytest.fixture
def empty(database: str) -> str:
    """A database without any table."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return database


def test_the_names_of_the_rfcs_are_kept(database: str) -> None:
    assert _columns(database) >= GIVEN


def test_twice_is_once(database: str) -> None:
    before = _columns(database)
    migrate(database)
    assert _columns(database) == before


async def test_two_at_once_are_one(empty: str, database: str) -> None:
    await asyncio.gather(migrate_async(empty), migrate_async(empty))
    assert _columns(empty) >= GIVEN


def test_a_migration_that_fails_leaves_nothing(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("CREATE TABLE token (id INTEGER)")
    with pytest.raises(Exception, match='"token" already exists'):
        migrate(empty)
    assert _columns(empty) == {("token", "id", "integer", "YES")}


def test_a_row_of_before_kinds_has_the_empty_kind(database: str) -> None:
    query = """
        SELECT column_default FROM information_schema.columns
        WHERE table_name = 'deployment_plan_target_result' AND column_name = 'kind'
    """
    with psycopg.connect(database) as connection:
        assert connection.execute(query).fetchone() == ("''::text",)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="cannot migrate the database"):
        migrate(f"postgresql://nobody@/none?host=/nowhere-{uuid4()}")
