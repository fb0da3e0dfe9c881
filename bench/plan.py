"""A whole plan of many targets with an instant agent, beside as many bare queue jobs."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from bench import Line
from bench.queue_floor import bare_jobs
from foretell.auth.tokens import ensure_first_token
from foretell.domain.plan import AgentId, DeploymentId, EnvironmentId, ResourceId, WorkspaceId
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.ports import Workspace
from foretell.settings import Settings
from foretell.wiring import Backend, api_server, open_backend

TARGETS = 1000
ROUNDS = 3


def run() -> Iterable[Line]:
    """POST to completed in one `serve` process; the floor in the same run, on the same server."""
    yield asyncio.run(_measure())


async def _measure() -> Line:
    with tempfile.TemporaryDirectory(prefix="foretell-bench-") as folder:
        settings = Settings(data_dir=Path(folder), port=0)
        async with open_backend(settings) as backend:
            await _inventory(backend)
            async with _worked(backend) as client:
                before = await _commits(backend.dsn)
                ours = [await _one_plan(client) for _ in range(ROUNDS)]
                commits = (await _commits(backend.dsn) - before) / ROUNDS
                statements = await _statements(client)
            floors = [await bare_jobs(backend.dsn, TARGETS) for _ in range(ROUNDS)]
    mine, floor = min(ours), min(floors)
    note = (
        f"{TARGETS} targets: {mine:.2f} s, {TARGETS / mine:.0f} targets/s, "
        f"{statements / TARGETS:.1f} statements and {commits / TARGETS:.1f} commits a target; "
        f"floor {floor:.2f} s (best of {ROUNDS} each)"
    )
    return Line("plan-1000-targets", mine / floor, 4.0, note)


@asynccontextmanager
async def _worked(backend: Backend) -> AsyncIterator[httpx.AsyncClient]:
    """The backend as `foretell serve` runs it, and a client that may ask it."""
    token = await ensure_first_token(backend.store, backend.clock, backend.ids)
    queue = backend.queue()
    working = asyncio.create_task(queue.run())
    await queue.listening.wait()
    headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=30"}
    async with (
        api_server(backend) as address,
        httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client,
    ):
        yield client
    await queue.stop()
    await working


async def _inventory(backend: Backend) -> None:
    new = backend.ids.new
    workspace = Workspace(WorkspaceId(new()), "bench", "Bench")
    items = [
        Deployment(DeploymentId(new()), "api", "API"),
        Environment(EnvironmentId(new()), "production"),
        AgentSpec(AgentId(new()), "instant", "test-runner"),
        *(
            Resource(ResourceId(new()), f"cluster-{number}", f"cluster-{number}")
            for number in range(TARGETS)
        ),
    ]
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(workspace.id, items)


async def _one_plan(client: httpx.AsyncClient) -> float:
    began = time.perf_counter()
    answer = await client.post("/v1/workspaces/bench/deployments/api/plan", json={"tag": "v2"})
    took = time.perf_counter() - began
    summary = answer.json()["summary"]
    if answer.status_code != 200 or summary["changed"] != TARGETS:
        raise AssertionError(f"the plan did not complete: {answer.status_code} {summary}")
    return took


async def _statements(client: httpx.AsyncClient) -> int:
    """What this process, API and worker in one, sends for one more plan, BEGIN and COMMIT too."""
    import psycopg

    sent = 0
    execute = psycopg.AsyncCursor.execute

    def counted(*args: Any, **named: Any) -> Any:
        nonlocal sent
        sent += 1
        return execute(*args, **named)

    psycopg.AsyncCursor.execute = counted  # type: ignore[method-assign]
    try:
        await _one_plan(client)
    finally:
        psycopg.AsyncCursor.execute = execute  # type: ignore[method-assign]
    return sent


async def _commits(dsn: str) -> int:
    """Transactions committed in this database so far; PostgreSQL publishes them with a delay."""
    import psycopg

    await asyncio.sleep(1.2)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        cursor = await connection.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
        row = await cursor.fetchone()
    return int(row[0]) if row else 0
