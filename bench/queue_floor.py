"""The floor under the plan benchmark: bare queue jobs that do one INSERT each."""

import asyncio
import time

import psycopg
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job as PickedJob

from foretell.ports import Job, Step
from foretell.store.queue import enqueue
from foretell.store.queue.link import QueueDatabase


async def bare_jobs(dsn: str, n: int) -> float:
    """Seconds from enqueueing `n` jobs, in one statement, to the last of their INSERTs.

    The library alone on the two-connection driver, none of our worker, no transaction a job: the
    least that `n` jobs can cost on this database, which has the queue's tables and nothing queued.
    """
    everything_done = asyncio.Event()
    async with (
        QueueDatabase(dsn).open() as link,
        await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection,
    ):
        await connection.execute("CREATE TABLE bench_floor (id text, note text)")
        queries = link.queries()
        manager = QueueManager(queries, channel=queries.qbe.settings.channel)
        done = 0

        @manager.entrypoint(Step.INVOKE, accepts_context=False)
        async def insert(job: PickedJob) -> None:
            nonlocal done
            id_ = (job.payload or b"").decode()
            await connection.execute("INSERT INTO bench_floor VALUES (%s, 'x')", [id_])
            done += 1
            if done == n:
                everything_done.set()

        running = asyncio.create_task(manager.run())
        began = time.perf_counter()
        await enqueue(connection, [Job(Step.INVOKE, str(number)) for number in range(n)])
        await everything_done.wait()
        took = time.perf_counter() - began
        manager.shutdown.set()
        await running
        await connection.execute("DROP TABLE bench_floor")
    return took
