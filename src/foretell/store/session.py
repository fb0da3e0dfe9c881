"""One pooled connection, its types, its errors, and named statements on it."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import psycopg
from psycopg import AsyncCursor, errors, postgres
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg_pool import AsyncConnectionPool

from foretell.domain.errors import Conflict, NotFound, Unavailable
from foretell.ports import Job
from foretell.store.queries import queries
from foretell.store.queue import enqueue
from foretell.store.text import restored, storable

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]
Pool: TypeAlias = AsyncConnectionPool[Connection]
Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Json:
    """A parameter that is JSON text already."""

    text: bytes


class _JsonDumper(Dumper):
    oid = postgres.types["json"].oid

    def dump(self, obj: Json) -> Buffer:
        return obj.text


class _TextDumper(Dumper):
    # No oid: the server takes the type that the place needs, be it text, uuid or an enum.
    def dump(self, obj: str) -> Buffer:
        return storable(obj).encode()


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return restored(bytes(data).decode())


class _PlainLoader(Loader):
    """JSON and UUIDs as the text that they are: the codec reads one, the domain the other."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


def register_types(connection: Connection) -> None:
    """Ids are text, JSON stays text, and any text can be stored."""
    adapters = connection.adapters
    adapters.register_dumper(Json, _JsonDumper)
    adapters.register_dumper(str, _TextDumper)
    adapters.register_loader("text", _TextLoader)
    for name in ("json", "jsonb", "uuid"):
        adapters.register_loader(name, _PlainLoader)


class Session:
    """Named statements on one connection; without `commit`, the pool rolls them back.

    BEGIN is sent before the first statement that needs a transaction. What is read before it sees
    what is committed by then, as each statement of a READ COMMITTED transaction does, so nobody
    can tell the difference; but a single question is one round trip instead of three.
    """

    __slots__ = ("_connection", "_has_begun", "jobs")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._has_begun = False
        self.jobs: list[Job] = []

    async def send(self, name: str, values: Mapping[str, Any]) -> AsyncCursor[Row]:
        """Run a statement."""
        statement = queries()[name]
        if statement.in_transaction:
            await self.transaction()
        return await self._connection.execute(statement.text, values)

    async def transaction(self) -> Connection:
        """The connection, in a transaction from here on."""
        if not self._has_begun:
            await self._connection.execute(b"BEGIN")
            self._has_begun = True
        return self._connection

    async def write_jobs(self) -> None:
        """Write the jobs that were asked for, in one statement."""
        jobs, self.jobs = self.jobs, []
        if jobs:
            await enqueue(await self.transaction(), jobs)

    async def commit(self) -> None:
        """Write the jobs and commit, in one round trip.

        Everybody who settles an invocation asks for the same job, and holds its row until the
        commit: to write it last, and not to come back in between, is what lets them pass.
        """
        if self.jobs:
            connection = await self.transaction()
            async with connection.pipeline():
                await self.write_jobs()
                await connection.execute(b"COMMIT")
        elif self._has_begun:
            await self._connection.execute(b"COMMIT")

    async def copy(self, name: str, rows: Iterable[Row]) -> None:
        """Run a COPY … FROM STDIN with `rows`."""
        connection = await self.transaction()
        async with connection.cursor() as cursor, cursor.copy(queries()[name].text) as copy:
            for row in rows:
                await copy.write_row(row)

    async def first(self, name: str, values: Mapping[str, Any]) -> Row | None:
        """The first row."""
        return await (await self.send(name, values)).fetchone()

    async def value(self, name: str, values: Mapping[str, Any]) -> Any:
        """The first column of the first row, None without one."""
        row = await self.first(name, values)
        return row[0] if row else None

    async def rows(self, name: str, values: Mapping[str, Any]) -> list[Row]:
        """All rows."""
        return await (await self.send(name, values)).fetchall()

    async def hit(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether there is a row: an UPDATE … RETURNING that found its row."""
        return await self.first(name, values) is not None


@asynccontextmanager
async def translated() -> AsyncIterator[None]:
    """What the driver raises, in the domain's words."""
    try:
        yield
    except (errors.UniqueViolation, errors.ForeignKeyViolation, errors.DataError) as error:
        raise _refusal(error) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        # Deadlocks and lost races are OperationalErrors too: asking again helps there as well.
        raise Unavailable(f"the database cannot answer now: {error}") from error


def _refusal(error: psycopg.Error) -> Exception:
    match error:
        case errors.UniqueViolation():
            return Conflict(f"it is there already: {error.diag.message_detail}")
        case errors.ForeignKeyViolation():
            return NotFound(f"it refers to what is not there: {error.diag.message_detail}")
        case errors.InvalidTextRepresentation():
            return NotFound(f"there is no such thing: {error.diag.message_primary}")
        case _:
            return error
