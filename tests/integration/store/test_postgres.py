"""What is PostgreSQL's own in the store: one statement an operation, errors, and a lost server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foretell.domain.errors import Unavailable
from foretell.domain.plan import InvocationId, PlanRequest
from foretell.domain.result import Pending, Status
from foretell.ports import Job, Settled, Step
from foretell.store.embedded import EmbeddedPostgres
from foretell.store.migrate import migrate_async
from foretell.store.postgres import PostgresStore, open_store
from foretell.testing.contracts.store.world import DONE, NOW, SMALL, World

PATIENCE_SECONDS = 30.0
texts = st.text(st.characters(codec=None), max_size=8)
bodies = st.dictionaries(
    texts,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=5,
    ),
    max_size=3,
)


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    store = await open_store(database, size=3)
    yield store
    await store.close()


@pytest.fixture
async def world(store: PostgresStore) -> World:
    return await World(store).write()


async def test_any_request_and_any_state_come_back_from_the_database(world: World) -> None:
    _, (id, *_) = await world.fanned_out()
    requests: list[tuple[PlanRequest, dict[str, object]]] = []

    @settings(max_examples=60, suppress_health_check=list(HealthCheck))
    @given(texts, bodies, bodies)
    def collect(tag: str, body: dict[str, object], state: dict[str, object]) -> None:
        requests.append((PlanRequest(tag, config=body, resource_selector=tag), state))

    collect()
    async with world.store.begin() as tx:
        for request, state in requests:
            plan = world.new_plan(request=request)
            await tx.insert_plan(plan)
            assert await tx.plan(plan.id) == plan
            assert await tx.save_pending(id, Pending(state, timedelta(0), request.tag))
            found = await tx.start(id, NOW)
            assert found is not None
            assert (found.state, found.message) == (state, request.tag)


async def test_the_summary_can_be_read_without_the_document(world: World, database: str) -> None:
    plan, _ = await world.fanned_out()
    completed = (await world.plan(plan.id)).complete(NOW)
    async with world.store.begin() as tx:
        await tx.complete_plan(completed, b'{"summary":{"total":4},"targets":["x"]}')
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT status, result FROM deployment_plan").fetchall()
    assert rows == [("completed", {"total": 4})]


def _count(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that is sent from now on."""
    sent: list[str] = []
    send = psycopg.AsyncConnection.execute

    async def counted(connection: Any, query: bytes, *args: Any) -> Any:
        sent.append(query.decode().split(maxsplit=1)[0])
        return await send(connection, query, *args)

    monkeypatch.setattr(psycopg.AsyncConnection, "execute", counted)
    return sent


async def test_asking_is_one_statement_and_an_answer_three(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, (id, *_) = await world.fanned_out()
    sent = _count(monkeypatch)
    async with world.store.begin() as tx:
        invocation = await tx.start(id, NOW)
    assert sent == ["UPDATE"]
    sent.clear()
    assert invocation is not None
    async with world.store.begin() as tx:
        assert await tx.save_done(invocation, DONE, NOW, settled=True)
        await tx.enqueue([Job(Step.SETTLE, plan.id)])
    assert sent == ["BEGIN", "WITH", "--", "COMMIT"]


async def test_every_other_operation_is_one_statement(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, (first, second, *_) = await world.fanned_out()
    await world.answer(first, SMALL, settled=False)
    sent = _count(monkeypatch)
    async with world.store.begin() as tx:
        assert await tx.answered(first)
        assert await tx.save_verdicts(first, (), NOW)
        assert await tx.save_pending(second, Pending({}, timedelta(0)))
        assert await tx.save_settled(second, Settled(Status.ERRORED), NOW)
        assert await tx.open_invocations(plan.id) == 2
        await tx.targets(plan.id)
        await tx.basis(plan)
    assert len(sent) == 7 + len(["BEGIN", "COMMIT"])


async def test_a_fan_out_costs_the_same_statements_for_any_number_of_targets(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await world.computing()
    sent = _count(monkeypatch)
    async with world.store.begin() as tx:
        await tx.insert_targets(plan, world.planned(plan, agents=50), NOW)
        await tx.wake_open(plan.id)
    # Beside them two COPYs: the targets and the invocations.
    assert sent == ["BEGIN", "UPDATE", "SELECT", "--", "COMMIT"]


async def test_only_what_can_be_asked_again_does_not_wait_for_the_disk(world: World) -> None:
    _, (id, *_) = await world.fanned_out()

    async def waits(tx: Any) -> str:
        return str((await (await tx._connection.execute("SHOW synchronous_commit")).fetchone())[0])

    async with world.store.begin() as tx:
        assert await tx.save_pending(id, Pending({}, timedelta(0)))
        assert await waits(tx) == "off"
    async with world.store.begin() as tx:
        await tx.insert_plan(world.new_plan())
        assert await waits(tx) == "on"


async def test_an_exception_in_a_block_is_the_callers_own(world: World) -> None:
    with pytest.raises(KeyError):
        async with world.store.begin():
            raise KeyError("mine")


async def test_a_server_that_never_answers_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="the database does not answer"):
        await open_store(
            "postgresql://x@/x?host=/nowhere", size=1, wait_for=timedelta(milliseconds=200)
        )


async def test_of_lost_connections_one_caller_finds_out_for_all(database: str) -> None:
    store = await open_store(database, size=4)
    try:
        async with AsyncExitStack() as stack:
            for tx in [await stack.enter_async_context(store.begin()) for _ in range(4)]:
                await tx.workspaces()
        with psycopg.connect(database, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = 'foretell'"
            )
        with pytest.raises(Unavailable):
            async with store.begin() as tx:
                await tx.workspaces()
        assert store._checking is not None
        await store._checking
        for _ in range(4):
            async with store.begin() as tx:
                await tx.workspaces()
    finally:
        await store.close()


async def test_a_store_survives_its_server() -> None:
    with TemporaryDirectory(prefix="foretell-test-") as folder:
        server = EmbeddedPostgres(Path(folder), ephemeral=True)
        dsn = await server.start()
        await migrate_async(dsn)
        store = await open_store(dsn, size=2, wait_for=timedelta(seconds=20))
        world = await World(store).write()
        plan, (id, *rest) = await world.fanned_out()
        async with asyncio.timeout(PATIENCE_SECONDS), store.watch(plan.id) as wakes:
            await anext(wakes)
            await server.stop()
            with pytest.raises(Unavailable):
                async with store.begin() as tx:
                    await tx.plan(plan.id)
            await server.start()
            await _settle_all(world, [id, *rest])
            while (await _open(world, id)) is not None:
                await anext(wakes)
        await store.close()
        await server.stop()


async def _settle_all(world: World, ids: list[InvocationId]) -> None:
    for id in ids:
        while True:
            try:
                if not await world.answer(id, SMALL):
                    break
            except Unavailable:
                # The pool finds out by trying that a connection is dead; the next is a new one.
                continue
            break


async def _open(world: World, id: InvocationId) -> object:
    async with world.store.begin() as tx:
        return await tx.start(id, NOW)
