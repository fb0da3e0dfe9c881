"""A small inventory on a real database, and the engine's steps called one by one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import psycopg

from foretell.domain.errors import ForetellError
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    Plan,
    PlanId,
    PlanRequest,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.rollup import InvocationState, TargetRollup
from foretell.domain.summary import PlanReport
from foretell.domain.target import AgentSpec, Deployment, Environment, Policy, PolicyRule, Resource
from foretell.engine.cancel import cancel
from foretell.engine.submit import Submission, submit
from foretell.inventory.matching import CelSelectors
from foretell.inventory.secrets import References
from foretell.kit.clock import RandomIds
from foretell.ports import Agent, PlanBasis, PlanLimits, Reporter, Step, Store, Validator, Workspace
from foretell.store.postgres import open_store
from foretell.testing.clock import ManualClock
from foretell.testing.scripted import FakeAgents, ScriptedAgent, ScriptedValidator
from foretell.worker.tasks import Tasks

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
_ids = RandomIds()


def new_id() -> str:
    return _ids.new()


@dataclass(frozen=True)
class Queued:
    """One job that waits, and for how long from the time it was asked for."""

    step: Step
    id: str
    after_seconds: float


@dataclass
class World:
    """One workspace with one deployment; everything that a test may replace is a field."""

    dsn: str
    store: Store
    agents: FakeAgents = field(default_factory=lambda: FakeAgents(ScriptedAgent()))
    validator: Validator = field(default_factory=ScriptedValidator)
    reporters: list[Reporter] = field(default_factory=list)
    limits: PlanLimits = field(default_factory=PlanLimits)
    clock: ManualClock = field(default_factory=ManualClock)
    workspace: Workspace = field(
        default_factory=lambda: Workspace(WorkspaceId(new_id()), "team", "Team")
    )
    deployment: Deployment = field(
        default_factory=lambda: Deployment(DeploymentId(new_id()), "web", "Web")
    )
    environments: list[Environment] = field(
        default_factory=lambda: [Environment(EnvironmentId(new_id()), "production")]
    )
    resources: list[Resource] = field(default_factory=lambda: some_resources(1))
    specs: list[AgentSpec] = field(
        default_factory=lambda: [AgentSpec(AgentId(new_id()), "agent", "scripted")]
    )
    policies: list[Policy] = field(default_factory=list)

    async def write(self) -> "World":
        """Put the inventory as it is now into the store."""
        items = [
            self.deployment,
            *self.environments,
            *self.resources,
            *self.specs,
            *self.policies,
        ]
        async with self.store.begin() as tx:
            await tx.put_workspace(self.workspace)
            await tx.put_items(self.workspace.id, items)
        return self

    @property
    def tasks(self) -> Tasks:
        return Tasks(
            self.store,
            self.agents,
            self.validator,
            self.reporters,
            CelSelectors(),
            References({}, None),
            self.clock,
            RandomIds(),
        )

    async def submit(
        self,
        request: PlanRequest | None = None,
        *,
        key: str | None = None,
        basis: PlanBasis | None = None,
    ) -> Plan:
        submission = Submission(
            self.workspace.id, self.deployment.id, request or PlanRequest("v2"), key, basis
        )
        return await submit(
            self.store, CelSelectors(), self.clock, RandomIds(), self.limits, submission
        )

    async def fanned_out(self, request: PlanRequest | None = None) -> Plan:
        """A new plan with its targets, whose invocations wait to be asked."""
        plan = await self.submit(request)
        await self.run(Step.FAN_OUT)
        return await self.plan(plan.id)

    async def cancel(self, plan: Plan) -> Plan | None:
        return await cancel(self.store, self.clock, plan.id)

    async def plan(self, plan_id: PlanId) -> Plan:
        async with self.store.begin() as tx:
            found = await tx.plan(plan_id)
        assert found is not None
        return found

    async def report(self, plan: Plan) -> PlanReport:
        async with self.store.begin() as tx:
            found = await tx.report(plan.id)
        assert found is not None
        return found

    async def targets(self, plan: Plan) -> Sequence[TargetRollup]:
        return (await self.report(plan)).targets

    async def invocations(self, plan: Plan) -> list[InvocationState]:
        return [i for row in await self.targets(plan) for i in row.target.invocations]

    async def the_invocation(self, plan: Plan) -> InvocationState:
        (only,) = await self.invocations(plan)
        return only

    async def queued(self) -> list[Queued]:
        """What waits, by step and id."""
        rows = await self.rows(
            "SELECT entrypoint, convert_from(payload, 'UTF8'), "
            "extract(epoch FROM execute_after - created)::float8 "
            "FROM pgqueuer WHERE status = 'queued' ORDER BY 1, 2"
        )
        return [Queued(Step(step), id, round(after, 1)) for step, id, after in rows]

    async def steps(self) -> list[Step]:
        return [job.step for job in await self.queued()]

    async def rows(self, statement: str) -> list[Any]:
        async with await psycopg.AsyncConnection.connect(self.dsn, autocommit=True) as connection:
            cursor = await connection.execute(statement.encode())
            return await cursor.fetchall()

    async def take(self, step: Step | None = None) -> list[Queued]:
        """Take the jobs out of the queue as a worker does, those of one step or all."""
        jobs = [job for job in await self.queued() if step in (None, job.step)]
        for job in jobs:
            await self.rows(
                f"DELETE FROM pgqueuer WHERE dedupe_key = '{job.step}:{job.id}' RETURNING id"
            )
        return jobs

    async def run(self, step: Step) -> int:
        """Run each job of the step that waits now, one after the other; how many that were."""
        jobs = await self.take(step)
        for job in jobs:
            await self.tasks.by_step()[job.step](job.id)
        return len(jobs)

    async def drain(self, *, rounds: int = 50) -> None:
        """Run jobs until none waits; when all are for later, that time passes first."""
        for _ in range(rounds):
            jobs = await self.queued()
            if not jobs:
                return
            soonest = min(job.after_seconds for job in jobs)
            self.clock.advance(timedelta(seconds=max(soonest, 0)))
            for job in await self.take():
                await self.tasks.by_step()[job.step](job.id)
        raise AssertionError(f"jobs wait after {rounds} rounds: {await self.queued()}")

    async def completed(self, request: PlanRequest | None = None) -> tuple[Plan, PlanReport]:
        """A new plan run to its end."""
        plan = await self.submit(request)
        await self.drain()
        return await self.plan(plan.id), await self.report(plan)

    async def live(self) -> frozenset[str]:
        async with self.store.begin() as tx:
            return frozenset(await tx.live_invocations())


def some_resources(count: int) -> list[Resource]:
    return [
        Resource(ResourceId(new_id()), f"r{n:02}", f"r{n:02}", metadata={"n": n})
        for n in range(count)
    ]


def a_policy(*rules: str, selector: str = "", mandatory: bool = True) -> Policy:
    made = tuple(PolicyRule(rule, "package x", mandatory=mandatory) for rule in rules)
    return Policy(new_id(), "gate", selector, made)


def with_agents(world: World, *agents: Agent) -> World:
    """The same world where these agents are installed, each of them in the inventory."""
    specs = [AgentSpec(AgentId(new_id()), agent.type, agent.type) for agent in agents]
    return replace(world, agents=FakeAgents(*agents), specs=specs)


@asynccontextmanager
async def open_world(dsn: str) -> AsyncIterator[World]:
    store = await open_store(dsn, size=5)
    try:
        yield World(dsn, store)
    finally:
        await store.close()


async def at_once(*steps: Any) -> list[Any]:
    """All of them at the same time; what each came to, its domain error too."""
    found = await asyncio.gather(*steps, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException) and not isinstance(one, ForetellError):
            raise one
    return found
