"""A fake Argo CD in memory with a repository, and an agent that asks it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.context import DispatchContext
from foretell.domain.plan import InvocationId
from foretell.domain.result import Done, KindResult
from foretell.kit.renders import SharedRenders
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import (
    ADMIN,
    Chart,
    Content,
    FakeArgoCD,
    RenderInputs,
    Repository,
    Request,
    an_application,
)
from foretell.testing.clock import ManualClock
from foretell.testing.contracts.agent import ask

TOKEN = "canary-argo-4f1c"
URL = "https://git.example.test/shop.git"
ADDRESS = "https://argo.example.test"
Make = Callable[[RenderInputs], list[dict[str, Any]]]


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def a_chart(inputs: RenderInputs) -> list[dict[str, Any]]:
    """One object called as the release, that says which commit it is of."""
    return [config_map(inputs.name, commit=inputs.revision[:7], **inputs.values)]


@dataclass
class World:
    """`clock` is the agent's and the server's."""

    argocd: FakeArgoCD
    tools: AgentTools
    agent: ArgoCdAgent
    clock: ManualClock
    config: dict[str, Any]

    @property
    def repository(self) -> Repository:
        return self.argocd.repository(URL)

    def context(
        self, template: Any, *, tag: str = "head", invocation: str = "i-1", **config: Any
    ) -> DispatchContext:
        side = a_side({**self.config, "template": template, **config}, tag=tag)
        context = a_context("argo-cd", current=None, proposed=side)
        return replace(context, invocation_id=InvocationId(invocation))

    async def plan(self, template: Any, **more: Any) -> Done:
        done, _ = await ask(self.agent, self.context(template, **more))
        return done

    def another_agent(self, *, remembers: bool = True, **more: Any) -> ArgoCdAgent:
        """Of this process, or of another that remembers no render."""
        transport = httpx.ASGITransport(app=self.argocd.app)
        tools = self.tools if remembers else replace(self.tools, renders=SharedRenders())
        return ArgoCdAgent(tools, transport=transport, **more)

    @property
    def created(self) -> list[Request]:
        return [each for each in self.argocd.requests if each.method == "POST"]

    @property
    def temporary(self) -> list[str]:
        return [name for name in self.argocd.applications if "-plan-" in name]


@asynccontextmanager
async def a_world(
    *,
    accounts: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    wait_for: timedelta = timedelta(seconds=30),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[World]:
    clock = ManualClock()
    argocd = FakeArgoCD(accounts or {TOKEN: ADMIN}, clock=clock)
    async with agent_tools(settings, environ={"TOKEN": TOKEN, **(environ or {})}) as tools:
        tools = replace(tools, clock=clock)
        agent = ArgoCdAgent(tools, transport=httpx.ASGITransport(app=argocd.app), wait_for=wait_for)
        config = {"serverUrl": ADDRESS, "apiKey": {"env": "TOKEN"}}
        yield World(argocd, tools, agent, clock, config)
        await agent.close()


def a_source(path: str = "app", revision: str = "main", **more: Any) -> dict[str, Any]:
    return {"repoURL": URL, "path": path, "targetRevision": revision, **more}


async def deployed(
    world: World,
    before: Content,
    after: Content | None = None,
    *,
    name: str = "web",
    source: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """`web` is synced to `before`; the answer is a template for `after`, on the branch `head`."""
    world.repository.commit("main", {"app": before})
    world.repository.commit("head", {"app": after or before})
    await world.argocd.deploy(an_application(name, {**a_source(), **(source or {})}), **more)
    return an_application(name, {**a_source(revision="{{ version.tag }}"), **(source or {})})


def kinds(done: Done) -> dict[str, KindResult]:
    return {result.kind: result for result in done.results}


def manifest(done: Done) -> KindResult:
    return kinds(done)["manifest"]


def chart(make: Make = a_chart) -> Chart:
    return Chart(make)
