"""The queue on a real PostgreSQL: nothing is lost, whoever dies or raises."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from pgqueuer.domain.types import HealthCheckId

from foretell.ports import Job, Step
from foretell.store.embedded import EmbeddedPostgres
from foretell.store.queue import enqueue, install_sql
from foretell.store.queue.link import QueueDatabase
from foretell.worker.queue import Handler, Pace, Queue

QUICK = Pace(
    stale_after=timedelta(seconds=1),
    retry_after=timedelta(milliseconds=50),
    grace=timedelta(milliseconds=200),
)
PATIENCE = 20
WORKER = Path(__file__).with_name("worker_process.py")


@pytest.fixture
def dsn(database: str) -> str:
    install(database)
    return database


def install(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('pgqueuer')").fetchone() == (None,):
            connection.execute(install_sql().encode())


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        yield connection


async def put(dsn: str, *jobs: Job) -> None:
    async with connected(dsn) as connection:
        await enqueue(connection, jobs)


async def rows(dsn: str, what: str = "entrypoint, convert_from(payload, 'UTF8')") -> list[Any]:
    async with connected(dsn) as connection:
        cursor = await connection.execute(f"SELECT {what} FROM pgqueuer ORDER BY id".encode())
        return await cursor.fetchall()


@asynccontextmanager
async def working(
    dsn: str, handlers: Mapping[Step, Handler], pace: Pace = QUICK
) -> AsyncIterator[Queue]:
    queue = Queue(QueueDatabase(dsn), handlers, pace)
    running = asyncio.create_task(queue.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await queue.listening.wait()
            yield queue
            await queue.stop()
    finally:
        running.cancel()
        await asyncio.wait({running})


async def test_what_is_sent_before_the_library_listens_is_heard(dsn: str) -> None:
    async with QueueDatabase(dsn).open() as link:
        queries = link.queries()
        await queries.notify_health_check(HealthCheckId(uuid4()))
        heard = asyncio.Event()
        async with link:
            await link.add_listener(queries.qbe.settings.channel, lambda _: heard.set())
            async with asyncio.timeout(PATIENCE):
                await heard.wait()


async def until_empty(dsn: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await rows(dsn):
            await asyncio.sleep(0.01)


class Calls:
    """A handler that notes its calls, and lets a test wait for the n-th."""

    def __init__(self, then: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.seen: list[str] = []
        self._then = then
        self._changed = asyncio.Condition()

    async def __call__(self, id_: str) -> None:
        self.seen.append(id_)
        async with self._changed:
            self._changed.notify_all()
        if self._then:
            await self._then(id_)

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.seen) >= count)


class TestEnqueue:
    async def test_a_rollback_leaves_neither_row_nor_job(self, dsn: str) -> None:
        async with connected(dsn) as connection:
            await connection.execute("CREATE TABLE state (n int)")
            await connection.commit()
            await connection.execute("INSERT INTO state VALUES (1)")
            await enqueue(connection, [Job(Step.SETTLE, "p")])
            await connection.rollback()
            cursor = await connection.execute("SELECT count(*) FROM state")
            assert await cursor.fetchone() == (0,)
        assert await rows(dsn) == []

    async def test_a_commit_brings_both(self, dsn: str) -> None:
        await put(dsn, Job(Step.SETTLE, "p"), Job(Step.INVOKE, "i"))
        assert sorted(await rows(dsn)) == [("invoke", "i"), ("settle", "p")]

    async def test_the_same_step_and_id_is_queued_once(self, dsn: str) -> None:
        await put(dsn, Job(Step.SETTLE, "p"), Job(Step.SETTLE, "p"), Job(Step.SETTLE, "q"))
        await put(dsn, Job(Step.SETTLE, "p"), Job(Step.REPORT, "p"))
        assert Counter(await rows(dsn)) == Counter(
            [("settle", "p"), ("settle", "q"), ("report", "p")]
        )

    @pytest.mark.parametrize("order", [(0, 60), (60, 0)])
    @pytest.mark.parametrize("together", [True, False])
    async def test_of_two_times_the_earlier_wins(
        self, dsn: str, order: Sequence[int], together: bool
    ) -> None:
        jobs = [Job(Step.SETTLE, "p", timedelta(minutes=minutes)) for minutes in order]
        for batch in [jobs] if together else [[job] for job in jobs]:
            await put(dsn, *batch)
        assert await rows(dsn, "execute_after <= now()") == [(True,)]

    async def test_a_thousand_jobs_are_one_statement(self, dsn: str) -> None:
        async with connected(dsn) as connection:
            statements: list[object] = []

            class Counting(psycopg.AsyncCursor[Any]):
                async def execute(self, query: Any, *args: Any, **more: Any) -> Any:
                    statements.append(query)
                    return await super().execute(query, *args, **more)

            connection.cursor_factory = Counting
            await enqueue(connection, [Job(Step.INVOKE, str(n)) for n in range(1000)])
            assert len(statements) == 1
            await connection.commit()
        assert len(await rows(dsn)) == 1000

    async def test_no_jobs_are_no_statement(self, dsn: str) -> None:
        async with connected(dsn) as connection:
            await enqueue(connection, [])
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE

    async def test_overlapping_batches_in_any_order_do_not_wait_for_each_other(
        self, dsn: str
    ) -> None:
        jobs = [Job(Step.INVOKE, str(n)) for n in range(200)]
        await asyncio.gather(*(put(dsn, *batch) for batch in [jobs, jobs[::-1]] * 4))
        assert len(await rows(dsn)) == 200

    async def test_a_job_asked_for_again_starts_after_that_commit(self, dsn: str) -> None:
        await put(dsn, Job(Step.SETTLE, "p"))
        async with connected(dsn) as connection:
            await enqueue(connection, [Job(Step.SETTLE, "p")])
            calls = Calls()
            async with working(dsn, {Step.SETTLE: calls, Step.INVOKE: calls}):
                await put(dsn, Job(Step.INVOKE, "other"))
                await calls.reach(1)
                assert calls.seen == ["other"]
                await connection.commit()
                await calls.reach(2)
        assert calls.seen == ["other", "p"]


class TestTraps:
    async def test_an_enqueue_made_while_the_step_runs_leads_to_one_more_run(
        self, dsn: str
    ) -> None:
        go_on = asyncio.Event()
        calls = Calls(lambda _: _wait(go_on))
        async with working(dsn, {Step.SETTLE: calls}):
            await put(dsn, Job(Step.SETTLE, "p"))
            await calls.reach(1)
            await put(dsn, Job(Step.SETTLE, "p"), Job(Step.SETTLE, "p"))
            await calls.reach(2)
            go_on.set()
            await until_empty(dsn)
        assert calls.seen == ["p", "p"]

    async def test_a_step_that_raises_is_tried_again_and_again(self, dsn: str) -> None:
        async def fail_thrice(_: str) -> None:
            if len(calls.seen) <= 3:
                raise ValueError("not yet")

        calls = Calls(fail_thrice)
        async with working(dsn, {Step.INVOKE: calls}):
            began = time.monotonic()
            await put(dsn, Job(Step.INVOKE, "i"))
            await until_empty(dsn)
        assert calls.seen == ["i"] * 4
        assert time.monotonic() - began >= 0.05 + 0.1 + 0.2

    async def test_a_step_that_was_asked_for_while_it_failed_runs_at_once_and_once(
        self, dsn: str
    ) -> None:
        async def fail_first(_: str) -> None:
            if len(calls.seen) == 1:
                await put(dsn, Job(Step.INVOKE, "i"))
                raise ValueError("not yet")

        calls = Calls(fail_first)
        pace = Pace(retry_after=timedelta(hours=1))
        async with working(dsn, {Step.INVOKE: calls}, pace):
            await put(dsn, Job(Step.INVOKE, "i"))
            await until_empty(dsn)
        assert calls.seen == ["i", "i"]

    async def test_a_step_that_cancels_itself_is_tried_again(self, dsn: str) -> None:
        async def cancel_first(_: str) -> None:
            if len(calls.seen) == 1:
                raise asyncio.CancelledError

        calls = Calls(cancel_first)
        async with working(dsn, {Step.INVOKE: calls}):
            await put(dsn, Job(Step.INVOKE, "i"))
            await until_empty(dsn)
        assert calls.seen == ["i", "i"]

    async def test_listening_does_not_hold_up_the_queries(self, dsn: str) -> None:
        calls = Calls()
        await put(dsn, *(Job(Step.INVOKE, str(n)) for n in range(500)))
        began = time.monotonic()
        async with working(dsn, {Step.INVOKE: calls}):
            await calls.reach(500)
        # One connection takes 24 seconds for these.
        assert time.monotonic() - began < 8
        assert sorted(calls.seen) == sorted(str(n) for n in range(500))


class TestLosingNothing:
    async def test_the_jobs_of_a_killed_worker_are_taken_over(self, dsn: str) -> None:
        await put(dsn, Job(Step.INVOKE, "i"))
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, str(WORKER), dsn), stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert (await child.stdout.readline()).strip() == b"i"
        child.kill()
        await child.communicate()
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            await calls.reach(1)
        assert calls.seen == ["i"]
        assert await rows(dsn) == []

    async def test_a_worker_that_is_alive_keeps_its_long_job(self, dsn: str) -> None:
        go_on = asyncio.Event()
        first, second = Calls(lambda _: _wait(go_on)), Calls()
        async with working(dsn, {Step.INVOKE: first}):
            await put(dsn, Job(Step.INVOKE, "i"))
            await first.reach(1)
            async with working(dsn, {Step.INVOKE: second}):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(second.reach(1), 2.5)
            go_on.set()
            await until_empty(dsn)
        assert second.seen == []

    async def test_stop_lets_a_running_step_finish(self, dsn: str) -> None:
        go_on = asyncio.Event()
        done: list[str] = []

        async def slow(id_: str) -> None:
            await go_on.wait()
            done.append(id_)

        calls = Calls(slow)
        async with working(dsn, {Step.INVOKE: calls}) as queue:
            await put(dsn, Job(Step.INVOKE, "i"))
            await calls.reach(1)
            asyncio.get_running_loop().call_later(0.05, go_on.set)
            await queue.stop()
        assert done == ["i"]
        assert await rows(dsn) == []

    async def test_stop_hands_back_what_does_not_finish_in_time(self, dsn: str) -> None:
        calls = Calls(lambda _: _wait(asyncio.Event()))
        async with working(dsn, {Step.INVOKE: calls}) as queue:
            await put(dsn, *(Job(Step.INVOKE, str(n)) for n in range(50)))
            await calls.reach(10)
            await queue.stop()
        left = await rows(dsn, "convert_from(payload, 'UTF8'), status::text, attempts")
        assert sorted(left) == sorted((str(n), "queued", 0) for n in range(50))
        again = Calls()
        async with working(dsn, {Step.INVOKE: again}):
            await again.reach(50)

    async def test_cancelling_the_worker_hands_back_too(self, dsn: str) -> None:
        calls = Calls(lambda _: _wait(asyncio.Event()))
        queue = Queue(QueueDatabase(dsn), {Step.INVOKE: calls}, QUICK)
        running = asyncio.create_task(queue.run())
        await put(dsn, Job(Step.INVOKE, "i"))
        await calls.reach(1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await rows(dsn, "entrypoint, status::text, dedupe_key") == [
            ("invoke", "queued", "invoke:i")
        ]

    @pytest.mark.parametrize("application", ["asking", "listening", "both"])
    async def test_a_lost_connection_is_made_again(self, dsn: str, application: str) -> None:
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            await put(dsn, Job(Step.INVOKE, "before"))
            await until_empty(dsn)
            await hang_up(dsn, application)
            await put(dsn, Job(Step.INVOKE, "after"))
            await calls.reach(2)
        assert calls.seen == ["before", "after"]

    async def test_work_survives_a_killed_and_restarted_server(self) -> None:
        with tempfile.TemporaryDirectory(prefix="fq-") as folder:
            server = EmbeddedPostgres(Path(folder))
            dsn = await server.start()
            install(dsn)
            release = asyncio.Event()
            calls = Calls(lambda _: _wait(release))
            async with working(dsn, {Step.INVOKE: calls}):
                await put(dsn, *(Job(Step.INVOKE, str(n)) for n in range(5)))
                await calls.reach(5)
                pid = (Path(folder) / "postgres/data/postmaster.pid").read_text().split()[0]
                os.kill(int(pid), signal.SIGKILL)
                again = EmbeddedPostgres(Path(folder))
                await again.start()
                await calls.reach(10)
                release.set()
                await until_empty(dsn)
            assert Counter(calls.seen) == Counter({str(n): 2 for n in range(5)})
            await again.stop()
            await server.stop()


async def hang_up(dsn: str, which: str) -> None:
    condition = {"asking": "query NOT LIKE 'LISTEN%%'", "listening": "query LIKE 'LISTEN%%'"}
    async with connected(dsn) as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            f"AND datname = current_database() AND {condition.get(which, 'true')}".encode()
        )


class TestPace:
    async def test_a_delay_is_kept_and_nobody_waits_for_the_next_poll(self, dsn: str) -> None:
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            began = time.monotonic()
            await put(dsn, Job(Step.INVOKE, "i", timedelta(milliseconds=700)))
            await calls.reach(1)
            took = time.monotonic() - began
        # The library looks by itself every 30 s; the bound leaves room for a busy machine.
        assert 0.7 <= took < 10

    async def test_a_new_job_starts_at_once(self, dsn: str) -> None:
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            began = time.monotonic()
            await put(dsn, Job(Step.INVOKE, "i"))
            await calls.reach(1)
        assert time.monotonic() - began < 10

    async def test_a_step_s_limit_holds_over_all_workers(self, dsn: str) -> None:
        now, most = 0, 0

        async def count(_: str) -> None:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.02)
            now -= 1

        pace = Pace(limits={Step.INVOKE: 3})
        handlers = {Step.INVOKE: count}
        await put(dsn, *(Job(Step.INVOKE, str(n)) for n in range(30)))
        async with working(dsn, handlers, pace), working(dsn, handlers, pace):
            await until_empty(dsn)
        assert most == 3

    async def test_a_worker_takes_no_more_than_its_concurrency(self, dsn: str) -> None:
        calls = Calls(lambda _: _wait(go_on))
        go_on = asyncio.Event()
        async with working(dsn, {Step.INVOKE: calls}, Pace(concurrency=4)):
            await put(dsn, *(Job(Step.INVOKE, str(n)) for n in range(30)))
            await calls.reach(4)
            statuses = await rows(dsn, "status::text")
            go_on.set()
            await until_empty(dsn)
        assert statuses.count(("picked",)) == 4

    def test_the_delay_before_a_retry_doubles_up_to_its_limit(self) -> None:
        pace = Pace(retry_after=timedelta(seconds=1), retry_at_most=timedelta(seconds=5))
        assert [pace.retry_delay(n).total_seconds() for n in (0, 1, 2, 3, 99)] == [1, 2, 4, 5, 5]


class TestTables:
    async def test_the_library_finds_its_tables_as_it_expects_them(self, dsn: str) -> None:
        async with QueueDatabase(dsn).open() as link:
            upgrade = await link.queries().plan_upgrade()
        assert upgrade.statements == ()

    async def test_our_two_rules_are_there(self, dsn: str) -> None:
        async with connected(dsn) as connection:
            cursor = await connection.execute(
                "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'foretell%' ORDER BY 1"
            )
            names = [name for (name,) in await cursor.fetchall()]
        assert names == ["foretell_give_key_back", "foretell_keep_no_log"]

    async def test_no_log_grows(self, dsn: str) -> None:
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            await put(dsn, Job(Step.INVOKE, "i"))
            await until_empty(dsn)
        async with connected(dsn) as connection:
            cursor = await connection.execute("SELECT count(*) FROM pgqueuer_log")
            assert await cursor.fetchone() == (0,)

    async def test_the_environment_renames_nothing(
        self, dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("CHANNEL", "FUNCTION", "PGQUEUER_QUEUE_TABLE", "PGQUEUER_PREFIX"):
            monkeypatch.setenv(name, "elsewhere")
        calls = Calls()
        async with working(dsn, {Step.INVOKE: calls}):
            await put(dsn, Job(Step.INVOKE, "i"))
            await calls.reach(1)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
