"""The API over a real store, with a real worker beside it and an agent that tests hold back."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from foretell.api import create_app
from foretell.api.webhook import Webhook
from foretell.auth.tokens import Grant, create_token
from foretell.domain.context import DispatchContext
from foretell.domain.diff import unified_diff
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    JsonObject,
    PlanId,
    PlanStatus,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.result import Action, Done, Kind, KindResult, Outcome, ResourceChange
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.domain.verdict import Rule
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.inventory.secrets import References
from foretell.kit.clock import RandomIds, SystemClock
from foretell.policy.absent import NoEngine
from foretell.ports import Agent, InventoryItem, PlanLimits, Role, Workspace
from foretell.store.postgres import PostgresStore
from foretell.store.queue.link import QueueDatabase
from foretell.worker.queue import Pace, Queue
from foretell.worker.tasks import Tasks

PATIENCE = 20
REST = "port: 80\n"
"""What the two texts of the one changed object share."""
CANARY = "c4n4ry-s3cr3t-value"


class HeldAgent(Agent):
    """Answers at once, unless the test holds it back."""

    type = "held"

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.asked = asyncio.Event()
        self.contexts: list[DispatchContext] = []
        self.abandoned = asyncio.Event()

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        self.asked.set()
        self.contexts.append(context)
        await self.open.wait()
        side = context.side
        changes = side.resource["identifier"] != "same"
        image = side.version.tag if changes else "v1"
        before, after = f"image: v1\n{REST}", f"image: {image}\n{REST}"
        diff = unified_diff(before, after)
        change = ResourceChange(
            "Deployment", "web", Action.MODIFY, "shop", "apps/v1", before, after, diff.text, 1, 1
        )
        return Done(
            (
                KindResult(
                    Kind("manifest"),
                    before,
                    after,
                    changes,
                    "sha:1",
                    diff=diff.text,
                    additions=diff.additions,
                    deletions=diff.deletions,
                    resources=(change,) if changes else (),
                ),
            )
        )

    async def abandon(self, context: DispatchContext, state: JsonObject | None) -> None:
        self.abandoned.set()


class OneAgent:
    """The Agents port over that agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def find(self, type: str) -> Agent | None:
        return self._agent if type == self._agent.type else None

    def types(self) -> Sequence[str]:
        return [self._agent.type]

    def problems(self) -> Mapping[str, str]:
        return {}


class LyingClock(SystemClock):
    """The machine's clock, ahead by what a test says."""

    ahead = timedelta(0)

    def now(self) -> Any:
        return super().now() + self.ahead


@dataclass
class Site:
    """A running installation: two workspaces, the tokens of each role, a worker."""

    app: FastAPI
    store: PostgresStore
    agent: HeldAgent
    clock: LyingClock
    ids: RandomIds
    dsn: str
    tokens: dict[str, str] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)

    def client(self, who: str = "planner") -> httpx.AsyncClient:
        """A client with that token; "" shows none."""
        token = self.tokens.get(who)
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://foretell.test",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=PATIENCE,
        )

    async def submit(self, tag: str = "v2", **headers: str) -> dict[str, Any]:
        """A plan, as far as it has come in `Prefer`."""
        async with self.client() as client:
            answer = await client.post(PLAN, json={"tag": tag}, headers=headers)
        assert answer.status_code in (200, 202), answer.text
        document: dict[str, Any] = answer.json()
        return document

    async def settled(self, plan_id: str) -> None:
        """Wait until the plan is no longer computing."""
        async with asyncio.timeout(PATIENCE), self.store.watch(PlanId(plan_id)) as wakes:
            async for _ in wakes:
                async with self.store.begin() as tx:
                    plan = await tx.plan(PlanId(plan_id))
                if plan is None or plan.status is not PlanStatus.COMPUTING:
                    return


PLAN = "/v1/workspaces/shop/deployments/web/plan"
NOW = {"Prefer": "wait=0"}


def items(prefix: str) -> list[InventoryItem]:
    """One deployment with three targets in two environments."""

    def id(number: int) -> str:
        return f"{prefix}0000000-0000-4000-8000-{number:012d}"

    return [
        Deployment(DeploymentId(id(1)), "web", "Web", job_agent_config={"key": {"env": "KEY"}}),
        Environment(EnvironmentId(id(2)), "prod", 'resource.identifier != "lab"'),
        Environment(EnvironmentId(id(3)), "stage", 'resource.identifier == "lab"'),
        Resource(ResourceId(id(4)), "eu-1", "Europe"),
        Resource(ResourceId(id(5)), "same", "Same"),
        Resource(ResourceId(id(6)), "lab", "Lab"),
        AgentSpec(AgentId(id(7)), "held", "held", {"token": {"env": "TOKEN"}}),
    ]


class CheckingEngine(NoEngine):
    """Takes every rule but those that say BROKEN, which it refuses as an engine does."""

    async def check(self, rules: Sequence[Rule]) -> None:
        if any("BROKEN" in rule.rego for rule in rules):
            await super().check(rules)


async def make_site(
    store: PostgresStore,
    dsn: str,
    limits: PlanLimits | None = None,
    webhook: Webhook | None = None,
) -> Site:
    clock, ids, agent = LyingClock(), RandomIds(), HeldAgent()
    app = create_app(
        store=store,
        selectors=CelSelectors(),
        validator=CheckingEngine(),
        clock=clock,
        ids=ids,
        limits=limits or PlanLimits(),
        inventories=parse,
        webhook=webhook,
    )
    site = Site(app, store, agent, clock, ids, dsn)
    for prefix, slug in (("a", "shop"), ("b", "rival")):
        workspace = Workspace(
            WorkspaceId(f"{prefix}1111111-0000-4000-8000-000000000000"), slug, slug
        )
        site.workspaces[slug] = workspace
        async with store.begin() as tx:
            await tx.put_workspace(workspace)
            await tx.put_items(workspace.id, items(prefix))
    grants = {
        "root": Grant("root", Role.ADMIN, None),
        "rival": Grant("rival", Role.ADMIN, site.workspaces["rival"].id),
    } | {role.value: Grant(role.value, role, site.workspaces["shop"].id) for role in Role}
    for name, grant in grants.items():
        site.tokens[name], _ = await create_token(store, clock, ids, grant)
    return site


@asynccontextmanager
async def working(site: Site, **ports: Any) -> AsyncIterator[None]:
    """A worker beside the site, until the end of the block; `ports` are further ones of `Tasks`."""
    tasks = Tasks(
        site.store,
        OneAgent(site.agent),
        NoEngine(),
        [],
        CelSelectors(),
        References({}, []),
        site.clock,
        site.ids,
        **ports,
    )
    queue = Queue(QueueDatabase(site.dsn), tasks.by_step(), Pace())
    running = asyncio.create_task(queue.run())
    async with asyncio.timeout(PATIENCE):
        await queue.listening.wait()
    try:
        yield
    finally:
        site.agent.open.set()
        async with asyncio.timeout(PATIENCE):
            await queue.stop()
            await running


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The application on a port of this machine; its address."""
    config = uvicorn.Config(
        app, port=0, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    sockets = [config.bind_socket()]
    running = asyncio.create_task(server.serve(sockets))
    try:
        async with asyncio.timeout(PATIENCE):
            while not server.started:
                await asyncio.sleep(0)
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await running
