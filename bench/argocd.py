"""Plans by Argo CD on the fake: beside the floor of its renders, and what is ours alone."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx

from bench import Line
from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.context import DispatchContext
from foretell.domain.plan import InvocationId
from foretell.domain.result import Pending
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import ADMIN, Chart, FakeArgoCD, RenderInputs, an_application

TOKEN = "token"
URL = "https://git.example.test/shop.git"
AT_ONCE = 40
CALLS_OF_A_TARGET = 5  # the original, both manifests, create, delete


def run() -> Iterable[Line]:
    yield asyncio.run(_slow(targets=500, render_for=timedelta(seconds=1)))
    yield from asyncio.run(_instant(targets=584))
    yield asyncio.run(_shared(sources=500, distinct=79))


@dataclass(frozen=True, slots=True)
class _Seconds:
    """By the clock, and of this process alone: others may be busy on the same machine."""

    passed: float
    busy: float


async def _timed(work: Awaitable[Any]) -> _Seconds:
    passed, busy = time.perf_counter(), time.process_time()
    await work
    return _Seconds(time.perf_counter() - passed, time.process_time() - busy)


@dataclass(frozen=True, slots=True)
class _World:
    argocd: FakeArgoCD
    agent: ArgoCdAgent

    async def deploy(self, name: str, path: str) -> DispatchContext:
        """`path` is synced at `main` and planned at `head`."""
        await self.argocd.deploy(an_application(name, _source(path, "main")))
        return self.context(name, path)

    def context(self, name: str, path: str, **helm: Any) -> DispatchContext:
        template = an_application(name, {**_source(path, "{{ version.tag }}"), "helm": helm})
        config = {"serverUrl": "http://argo.test", "apiKey": {"env": "TOKEN"}, "template": template}
        side = a_side({**config, "concurrency": AT_ONCE}, tag="head")
        context = a_context("argo-cd", current=None, proposed=side)
        return replace(context, invocation_id=InvocationId(name))

    async def planned(self, contexts: Iterable[DispatchContext]) -> "_Seconds":
        """Until all have their answer, each asked again as soon as it says so."""
        return await _timed(asyncio.gather(*(self._ask(context) for context in contexts)))

    async def _ask(self, context: DispatchContext) -> None:
        state: Any = None
        while isinstance(outcome := await self.agent.plan(context, state), Pending):
            state = outcome.state


@asynccontextmanager
async def _world() -> AsyncIterator[_World]:
    argocd = FakeArgoCD({TOKEN: ADMIN})
    for branch in ("main", "head"):
        argocd.repository(URL).commit(branch, {f"app-{n}": Chart(_objects) for n in range(600)})
    settings = {"argocdRendersPerSecond": 10_000}
    async with agent_tools(settings, environ={"TOKEN": TOKEN}) as tools:
        agent = ArgoCdAgent(tools, transport=httpx.ASGITransport(app=argocd.app))
        world = _World(argocd, agent)
        # A worker that is up has a child for templates and a connection.
        await world.planned([await world.deploy("warm", "app-599")])
        argocd.repo_server.made.clear()
        yield world
        await agent.close()


async def _slow(*, targets: int, render_for: timedelta) -> Line:
    """Each target is a render of its own; those of the originals are in the server's cache."""
    floor = targets / AT_ONCE * render_for.total_seconds()
    async with _world() as world:
        contexts = [await world.deploy(f"web-{n}", f"app-{n}") for n in range(targets)]
        world.argocd.faults.render_for = render_for
        seconds = await world.planned(contexts)
        peak = world.argocd.repo_server.peak
    note = (
        f"{targets} targets of {render_for.total_seconds():.0f} s, {peak} at a time: "
        f"{seconds.passed:.2f} s; floor {floor:.2f} s"
    )
    return Line("argocd.slow", seconds.passed / floor, 1.1, note)


async def _instant(*, targets: int) -> Iterable[Line]:
    """All that is not the other side: the same calls, bare, are taken off."""
    async with _world() as world:
        contexts = [await world.deploy(f"web-{n}", f"app-{n}") for n in range(targets)]
        seconds = await world.planned(contexts)
        calls = await _bare(world.argocd, targets)
    own = seconds.busy - calls.busy
    note = (
        f"{targets} targets: {seconds.busy:.2f} s of processor time ({seconds.passed:.2f} s), of "
        f"which {calls.busy:.2f} s are {targets} times {CALLS_OF_A_TARGET} calls of the fake "
        f"alone: {own:.2f} s are ours, {own / targets * 1000:.2f} ms a target"
    )
    return [
        Line("argocd.share", own / 3.0, 1.0, note),
        Line("argocd.target", own / targets * 1000 / 6.0, 1.0, note),
    ]


async def _bare(argocd: FakeArgoCD, targets: int) -> _Seconds:
    """The calls that each target needs, by httpx alone."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(app=argocd.app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://argo.test/api/v1/applications", headers=headers
    ) as client:
        return await _timed(
            asyncio.gather(*(_calls(client, f"web-{n}", f"app-{n}") for n in range(targets)))
        )


async def _calls(client: httpx.AsyncClient, name: str, path: str) -> None:
    temporary = f"{name}-plan-00000000"
    await client.get(f"/{name}")
    await client.get(f"/{name}/manifests")
    await client.post("", json=an_application(temporary, _source(path, "head")))
    await client.get(f"/{temporary}/manifests")
    await client.delete(f"/{temporary}?cascade=false")


async def _shared(*, sources: int, distinct: int) -> Line:
    """Sources of one release and few folders, as a plan of many clusters has them."""
    async with _world() as world:
        contexts = [
            world.context(f"web-{n}", f"app-{n % distinct}", releaseName="web")
            for n in range(sources)
        ]
        seconds = await world.planned(contexts)
        made = sum(world.argocd.repo_server.made.values())
    note = f"{sources} sources of {distinct} inputs: {made} renders in {seconds.passed:.2f} s"
    return Line("argocd.renders", made / distinct, 1.0, note)


def _source(path: str, revision: str) -> dict[str, Any]:
    return {"repoURL": URL, "path": path, "targetRevision": revision}


def _objects(inputs: RenderInputs) -> list[dict[str, Any]]:
    """A workload, its service and its settings; the image is the commit's."""
    labels = {"app.kubernetes.io/name": inputs.name}
    container = {
        "name": "web",
        "image": f"web:{inputs.revision[:7]}",
        "ports": [{"containerPort": 80}],
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": inputs.name, "labels": labels}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec},
        {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": labels}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}},
    ]
