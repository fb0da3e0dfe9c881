"""Reading a finished plan of 1,000 targets over HTTP, beside the same bytes out of memory."""

import asyncio
import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import Line
from foretell.api import create_app
from foretell.auth.tokens import Grant, create_token
from foretell.domain.context import DispatchContext
from foretell.domain.diff import unified_diff
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    InvocationId,
    JsonObject,
    PlanRequest,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.result import Action, Done, Kind, KindResult, Outcome, ResourceChange
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.engine.fan_out import fan_out
from foretell.engine.invoke import invoke
from foretell.engine.settle import settle
from foretell.engine.submit import Submission, submit
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.kit.clock import RandomIds, SystemClock
from foretell.policy.absent import NoEngine
from foretell.ports import Agent, PlanLimits, Role, Workspace
from foretell.store.embedded import EmbeddedPostgres
from foretell.store.migrate import migrate_async
from foretell.store.postgres import PostgresStore, open_store

TARGETS = 1000
REQUESTS = 2000
CONNECTIONS = 8
GOAL = 3.0
"""Times the requests per second of the bytes alone: the rest is the token, the plan's row, the
ETag, and the way of the bytes out of the database."""

_CLOCK, _IDS = SystemClock(), RandomIds()
_BEFORE, _AFTER = "image: v1\nreplicas: 2\n", "image: v2\nreplicas: 2\n"


class Instant(Agent):
    """Answers at once with one changed object."""

    type = "instant"

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        diff = unified_diff(_BEFORE, _AFTER).text
        change = ResourceChange(
            "Deployment", "web", Action.MODIFY, "shop", "apps/v1", _BEFORE, _AFTER, diff, 1, 1
        )
        result = KindResult(Kind("manifest"), _BEFORE, _AFTER, True, diff=diff, resources=(change,))
        return Done((result,))


class OnlyInstant:
    """The Agents port over that agent."""

    def find(self, type: str) -> Agent | None:
        return Instant()

    def types(self) -> Sequence[str]:
        return [Instant.type]

    def problems(self) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True, slots=True)
class Load:
    """What one server did under the same load."""

    per_second: float
    p50_ms: float
    p99_ms: float
    body_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.per_second:,.0f} requests/s, p50 {self.p50_ms:.1f} ms, p99 {self.p99_ms:.1f} ms"
        )


def run() -> Iterator[Line]:
    """One line: how many times the rate of the bytes alone is ours."""
    with (
        tempfile.TemporaryDirectory(prefix="foretell-bench-") as data,
        tempfile.TemporaryDirectory(prefix="foretell-bench-") as folder,
    ):
        yield asyncio.run(_measure(Path(data), Path(folder) / "document.json"))


async def _measure(data: Path, file: Path) -> Line:
    async with EmbeddedPostgres(data, ephemeral=True) as dsn:
        path, token, document = await _finished_plan(dsn)
        file.write_bytes(document)
        headers = f"Authorization: Bearer {token}\r\n"
        with _server("memory", str(file)) as port:
            floor = await _load(port, path, headers)
        with _server("api", dsn) as port:
            ours = await _load(port, path, headers)
    note = f"{TARGETS} targets, {ours.body_bytes:,} bytes, {CONNECTIONS} connections: {ours}"
    return Line(
        "api-get-plan", floor.per_second / ours.per_second, GOAL, f"{note}\nfrom memory: {floor}"
    )


async def _finished_plan(dsn: str) -> tuple[str, str, bytes]:
    """The path of a completed plan, a token for it, and its bytes."""
    await migrate_async(dsn)
    store = await open_store(dsn)
    try:
        workspace = Workspace(WorkspaceId(_IDS.new()), "bench", "Bench")
        deployment = Deployment(DeploymentId(_IDS.new()), "web", "Web")
        async with store.begin() as tx:
            await tx.put_workspace(workspace)
            await tx.put_items(workspace.id, [deployment, *_places()])
        plan_id = await _completed(store, workspace, deployment)
        async with store.begin() as tx:
            document = await tx.document(plan_id)
        assert document is not None
        grant = Grant("bench", Role.VIEWER, workspace.id)
        token, _ = await create_token(store, _CLOCK, _IDS, grant)
    finally:
        await store.close()
    return f"/v1/workspaces/bench/deployments/web/plan/{plan_id}", token, document


def _places() -> list[Any]:
    resources = [
        Resource(ResourceId(_IDS.new()), f"cluster-{number:04d}", f"cluster-{number:04d}")
        for number in range(TARGETS)
    ]
    return [
        Environment(EnvironmentId(_IDS.new()), "production"),
        AgentSpec(AgentId(_IDS.new()), "instant", "instant"),
        *resources,
    ]


async def _completed(store: PostgresStore, workspace: Workspace, deployment: Deployment) -> Any:
    selectors, agents = CelSelectors(), OnlyInstant()
    wanted = Submission(workspace.id, deployment.id, PlanRequest("v2"))
    plan = await submit(store, selectors, _CLOCK, _IDS, PlanLimits(), wanted)
    await fan_out(store, agents, selectors, _CLOCK, _IDS, plan.id)
    async with store.begin() as tx:
        invocations = [one.id for row in await tx.targets(plan.id) for one in row.invocations]
    for invocation in invocations:
        await invoke(store, agents, _CLOCK, InvocationId(invocation))
    await settle(store, _CLOCK, plan.id)
    return plan.id


@contextmanager
def _server(kind: str, argument: str) -> Iterator[int]:
    """A server of its own process; its port."""
    command = [sys.executable, "-m", "bench.api", kind, argument]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield int(child.stdout.readline())
        finally:
            child.terminate()


async def _load(port: int, path: str, headers: str) -> Load:
    request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n{headers}\r\n".encode()
    await _ask(port, request, REQUESTS // 10 // CONNECTIONS, [])
    times: list[float] = []
    began = time.perf_counter()
    sizes = await asyncio.gather(
        *(_ask(port, request, REQUESTS // CONNECTIONS, times) for _ in range(CONNECTIONS))
    )
    took = time.perf_counter() - began
    cuts = statistics.quantiles(times, n=100)
    return Load(len(times) / took, cuts[49] * 1000, cuts[98] * 1000, sizes[0])


async def _ask(port: int, request: bytes, number: int, times: list[float]) -> int:
    """`number` requests on one connection; how long the body is. Raises unless all are 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    size = 0
    for _ in range(number):
        began = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(size)
        times.append(time.perf_counter() - began)
    writer.close()
    await writer.wait_closed()
    return size


@asynccontextmanager
async def _app(kind: str, argument: str) -> AsyncIterator[Any]:
    if kind == "memory":
        yield _from_memory(Path(argument).read_bytes())
        return
    store = await open_store(argument)
    try:
        yield create_app(
            store=store,
            selectors=CelSelectors(),
            validator=NoEngine(),
            clock=_CLOCK,
            ids=_IDS,
            limits=PlanLimits(),
            inventories=parse,
        )
    finally:
        await store.close()


def _from_memory(document: bytes) -> Any:
    length = str(len(document)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": document})

    return app


async def _serve(kind: str, argument: str) -> None:
    import structlog
    import uvicorn

    # The log lines are made, and written nowhere.
    nowhere = io.StringIO()
    nowhere.write = len  # type: ignore[method-assign,assignment]
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(nowhere))
    async with _app(kind, argument) as app:
        config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
        sockets = [config.bind_socket()]
        sockets[0].listen()
        print(sockets[0].getsockname()[1], flush=True)
        await uvicorn.Server(config).serve(sockets)


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:3]))
