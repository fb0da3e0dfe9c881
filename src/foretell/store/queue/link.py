"""A worker's two connections to the queue.

On one connection LISTEN would hold the lock that every query needs: a thousand bare jobs took 48
seconds that way, and half a second this way.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, Self
from uuid import UUID

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
from pgqueuer.adapters.persistence.qb import (
    QueryBuilderEnvironment,
    QueryQueueBuilder,
    QuerySchedulerBuilder,
)
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.tm import cancel_and_wait
from pgqueuer.ports.driver import NotifyCallback

from foretell.domain.errors import Unavailable
from foretell.store.queue import queue_settings, statement

_REQUEUE = statement("requeue")
# A server that vanished without a word (a pulled cable, a lost node) is noticed within half a
# minute, the time after which other workers take over the jobs of this one.
KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "connect_timeout": 10,
}


class Link(PsycopgDriver):
    """pgqueuer's driver on two connections; `lost` is set as soon as one of them is gone.

    `listening` listens already. The library sends itself a probe while it begins to listen: on two
    connections the probe may be faster, is then heard by nobody, and ten seconds later the library
    takes a sound link for a broken one.
    """

    def __init__(
        self, asking: psycopg.AsyncConnection[Any], listening: psycopg.AsyncConnection[Any]
    ) -> None:
        super().__init__(asking)
        self._listening = listening
        self._ears: list[asyncio.Task[None]] = []
        self.lost = asyncio.Event()

    def queries(self) -> Queries:
        """pgqueuer's statements over this link, with our names for its tables."""
        settings = queue_settings()
        return Queries(
            self,
            qbe=QueryBuilderEnvironment(settings),
            qbq=QueryQueueBuilder(settings),
            qbs=QuerySchedulerBuilder(settings),
        )

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        with self._noticing_loss():
            return await super().fetch(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        with self._noticing_loss():
            return await super().execute(query, *args)

    async def add_listener(self, channel: str, callback: NotifyCallback) -> None:
        """Call back with each payload since the link was opened; `channel` is the queue's own."""
        self._ears.append(asyncio.create_task(self._listen(channel, callback)))

    async def requeue(
        self, worker: UUID, job: int | None = None, *, after: timedelta, failures: int
    ) -> None:
        """Give back one job that `worker` runs, or all that it ran, to be run `after` now."""
        with self._noticing_loss():
            await self._connection.execute(
                _REQUEUE, {"worker": worker, "job": job, "after": after, "failures": failures}
            )

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        for ear in self._ears:
            await cancel_and_wait(ear)
        self._ears.clear()
        await super().__aexit__(*error)

    async def _listen(self, channel: str, callback: NotifyCallback) -> None:
        try:
            async for note in self._listening.notifies():
                if note.channel == channel:
                    callback(note.payload)
        except psycopg.OperationalError:
            self.lost.set()

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except psycopg.OperationalError:
            if self._connection.closed:
                self.lost.set()
            raise


class QueueDatabase:
    """Where the queue is."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Link]:
        """A link for as long as the block lasts; Unavailable when the server is away."""
        try:
            async with await self._connect() as asking, await self._connect() as listening:
                await listening.execute(f'LISTEN "{queue_settings().channel}"'.encode())
                yield Link(asking, listening)
        except psycopg.OperationalError as error:
            raise Unavailable(f"The queue's database is away: {error}") from error

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        # The library accepts no other mode.
        return await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, **KEEPALIVE)
