"""The worker's loop: takes jobs, runs their steps, loses none.

A job leaves the queue only when its step returned. One that raised comes back later, one that was
interrupted comes back at once, and those of a killed worker are taken over by another.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol
from uuid import UUID, uuid4

import structlog
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job as PickedJob
from pgqueuer.domain.types import QueueManagerId
from pgqueuer.ports import RepositoryPort

from foretell.ports import Step

Handler = Callable[[str], Awaitable[None]]

BATCH = 10
NOW = timedelta(0)
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at once, how soon again.

    `concurrency` (at least 2) counts this worker's jobs, `limits` those of a step over all workers.
    A worker that says nothing for `stale_after` is taken for dead and its jobs for free. A step
    that raised is tried again after `retry_after`, doubled each time, at most `retry_at_most`; it
    is the step that knows its deadline and ends the trying. On `stop` a running step has `grace`
    to finish.
    """

    concurrency: int = 2 * BATCH
    limits: Mapping[Step, int] = field(default_factory=dict)
    stale_after: timedelta = timedelta(seconds=30)
    retry_after: timedelta = timedelta(seconds=1)
    retry_at_most: timedelta = timedelta(minutes=1)
    grace: timedelta = timedelta(seconds=10)

    def retry_delay(self, attempts: int) -> timedelta:
        """After how long to try again what has failed `attempts` times before."""
        factor: int = 2 ** min(attempts, 20)
        return min(self.retry_after * factor, self.retry_at_most)


class Link(Protocol):
    """An open way to the queue; `lost` is set when it is gone."""

    lost: asyncio.Event

    def queries(self) -> RepositoryPort: ...

    async def requeue(
        self, worker: UUID, job: int | None = None, *, after: timedelta, failures: int
    ) -> None: ...


class QueueDatabase(Protocol):
    def open(self) -> AbstractAsyncContextManager[Link]: ...


class Queue:
    """Runs the jobs of `handlers`' steps until it is stopped, through any loss of the database."""

    RECONNECT_AFTER = timedelta(milliseconds=100)
    RECONNECT_AT_MOST = timedelta(seconds=5)

    def __init__(
        self, database: QueueDatabase, handlers: Mapping[Step, Handler], pace: Pace | None = None
    ) -> None:
        self._database = database
        self._handlers = handlers
        self._pace = pace or Pace()
        # One name for its whole life: after a lost connection it finds its own jobs again.
        self._name = uuid4()
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._reconnect_after = self.RECONNECT_AFTER
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Take jobs until `stop`, or until cancelled, which gives the running ones no grace."""
        try:
            while not self._stopping.is_set():
                try:
                    await self._serve()
                except Exception as error:  # whatever it was: a worker that gave up helps nobody
                    _log.warning("queue.lost", error=f"{type(error).__name__}: {error}")
                    await self._pause()
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """Take no more jobs, let the running ones finish or hand them back; returns when done."""
        self._stopping.set()
        await self._ended.wait()

    async def _serve(self) -> None:
        async with self._database.open() as link:
            await link.requeue(self._name, after=NOW, failures=0)
            session = _Session(link, self._handlers, self._pace, self._name)
            session.start()
            self.listening.set()
            self._reconnect_after = self.RECONNECT_AFTER
            try:
                await _first(self._stopping, link.lost, task=session.running)
                if self._stopping.is_set():
                    await session.finish_within(self._pace.grace)
            finally:
                self.listening.clear()
                await session.close()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), self._reconnect_after.total_seconds())
        except TimeoutError:
            self._reconnect_after = min(self._reconnect_after * 2, self.RECONNECT_AT_MOST)


class _Session:
    """The time between two losses of the connection."""

    def __init__(
        self, link: Link, handlers: Mapping[Step, Handler], pace: Pace, worker: UUID
    ) -> None:
        self._link = link
        self._pace = pace
        self._worker = worker
        self._work: set[asyncio.Task[None]] = set()
        self._is_closing = False
        queries = link.queries()
        self._manager = QueueManager(queries, channel=queries.qbe.settings.channel)
        self._manager.queue_manager_id = QueueManagerId(worker)
        for step, handler in handlers.items():
            # `hold`, since the library's default deletes the job of a step that raised. It does not
            # come to that: `_run` lets nothing out while the database answers.
            register = self._manager.entrypoint(
                step,
                concurrency_limit=pace.limits.get(step, 0),
                accepts_context=False,
                on_failure="hold",
            )
            register(partial(self._run, handler))

    def start(self) -> None:
        batch = max(1, min(BATCH, self._pace.concurrency // 2))
        self.running = asyncio.create_task(
            self._manager.run(
                # Nobody announces that a worker has died: one has to look.
                dequeue_timeout=self._pace.stale_after / 3,
                batch_size=batch,
                max_concurrent_tasks=max(self._pace.concurrency, 2 * batch),
                heartbeat_timeout=self._pace.stale_after,
                shutdown_on_listener_failure=True,
                log_aggregation_interval=NOW,
            )
        )

    async def finish_within(self, grace: timedelta) -> None:
        self._manager.shutdown.set()
        await asyncio.wait({self.running}, timeout=grace.total_seconds())

    async def close(self) -> None:
        """Interrupt what still runs and hand it back; raises what ended the session, if anything.

        Whoever is cancelled here waits all the same: a job that is neither run nor handed back
        would wait for the others to take this worker for dead.
        """
        self._is_closing = True
        self._manager.shutdown.set()
        for work in self._work:
            work.cancel()
        await _to_the_end(self.running)
        if not self._link.lost.is_set():
            await self._link.requeue(self._worker, after=NOW, failures=0)
        self.running.result()

    async def _run(self, handler: Handler, job: PickedJob) -> None:
        """Run one job in a task of its own, for the library deletes the job of a cancelled one."""
        if self._is_closing:
            await self._link.requeue(self._worker, job.id, after=NOW, failures=0)
            return
        work = asyncio.ensure_future(handler((job.payload or b"").decode()))
        self._work.add(work)
        try:
            await asyncio.wait({work})
        finally:
            self._work.discard(work)
        await self._settle(work, job)

    async def _settle(self, work: asyncio.Future[None], job: PickedJob) -> None:
        if work.cancelled() and self._is_closing:
            await self._link.requeue(self._worker, job.id, after=NOW, failures=0)
        elif error := asyncio.CancelledError() if work.cancelled() else work.exception():
            delay = self._pace.retry_delay(job.attempts)
            _log.warning(
                "job.failed",
                step=job.entrypoint,
                id=(job.payload or b"").decode(),
                attempts=job.attempts + 1,
                again_in=delay.total_seconds(),
                exc_info=error,
            )
            await self._link.requeue(self._worker, job.id, after=delay, failures=1)


async def _first(*events: asyncio.Event, task: asyncio.Task[None]) -> None:
    """Wait until one of the events is set or the task is done."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait({task, *waits}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _to_the_end(task: asyncio.Task[None]) -> None:
    """Wait for `task` even when cancelled meanwhile; the cancellation comes afterwards."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
