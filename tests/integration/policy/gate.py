"""A whole plan judged by a real engine on a real database, its steps called one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from foretell.domain.context import DispatchContext
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    JsonObject,
    Plan,
    PlanRequest,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.result import Done, Kind, KindResult, Outcome
from foretell.domain.summary import PlanReport
from foretell.domain.target import AgentSpec, Deployment, Environment, Policy, PolicyRule, Resource
from foretell.engine.submit import Submission, submit
from foretell.inventory.matching import CelSelectors
from foretell.inventory.secrets import References
from foretell.kit.clock import RandomIds, SystemClock
from foretell.ports import Agent, PlanLimits, Step, Store, Validator, Workspace
from foretell.worker.tasks import Tasks

WORKSPACE = Workspace(WorkspaceId("a1111111-0000-4000-8000-000000000000"), "shop", "Shop")
LIMITS = PlanLimits(deployment_per_minute=10**6, workspace_per_minute=10**6)
KINDS = ("manifest", "cr", "values")


class ScriptedAgent(Agent):
    """Answers what the planned version's config says for its target: `{kind: has_changes}`.

    A text instead of has_changes is what is proposed.
    """

    type = "scripted"

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        side = context.side
        kinds: Mapping[str, bool | str | None] = side.version.config["kinds"][
            side.resource["identifier"]
        ]
        return Done(tuple(_result(kind, changed) for kind, changed in kinds.items()))


def _result(kind: str, changed: bool | str | None) -> KindResult:
    if isinstance(changed, str):
        return KindResult(Kind(kind), "", changed, True)
    before, after = "kind: A\n", "kind: B\n" if changed else "kind: A\n"
    return KindResult(Kind(kind), before, after, changed, diff="-A\n+B\n" if changed else None)


class OneAgent:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def find(self, type: str) -> Agent | None:
        return self._agent if type == self._agent.type else None

    def types(self) -> Sequence[str]:
        return [self._agent.type]

    def problems(self) -> Mapping[str, str]:
        return {}


@dataclass
class Gate:
    """One deployment whose targets and rules a test gives."""

    store: Store
    dsn: str
    validator: Validator
    clock: SystemClock = field(default_factory=SystemClock)
    ids: RandomIds = field(default_factory=RandomIds)

    async def write(self, targets: Sequence[str], *policies: Policy) -> None:
        """An inventory with these resources, all of them targets, and nothing else."""
        items = [
            Deployment(DeploymentId(_id(1)), "web", "Web"),
            Environment(EnvironmentId(_id(2)), "production"),
            AgentSpec(AgentId(_id(3)), "agent", "scripted"),
            *(
                Resource(ResourceId(_id(10 + number)), name, name)
                for number, name in enumerate(targets)
            ),
            *policies,
        ]
        async with self.store.begin() as tx:
            await tx.put_workspace(WORKSPACE)
            await tx.put_items(WORKSPACE.id, items)

    async def plan(self, config: Mapping[str, Any], *, resources: str = "") -> PlanReport:
        """The report of a plan of a version with that config, once it is completed."""
        plan = await self.submit(config, resources)
        tasks = self.tasks()
        await tasks.fan_out(plan.id)
        for step in (Step.INVOKE, Step.VALIDATE):
            for invocation in await self.computing(plan):
                await tasks.by_step()[step](invocation)
        await tasks.settle(plan.id)
        async with self.store.begin() as tx:
            report = await tx.report(plan.id)
        assert report is not None
        return report

    async def submit(self, config: Mapping[str, Any], resources: str = "") -> Plan:
        request = PlanRequest("v2", config=config, resource_selector=resources)
        wanted = Submission(WORKSPACE.id, DeploymentId(_id(1)), request)
        return await submit(self.store, CelSelectors(), self.clock, self.ids, LIMITS, wanted)

    def tasks(self) -> Tasks:
        return Tasks(
            self.store,
            OneAgent(ScriptedAgent()),
            self.validator,
            [],
            CelSelectors(),
            References({}, []),
            self.clock,
            self.ids,
        )

    async def computing(self, plan: Plan) -> list[str]:
        """The invocations that are not settled."""
        rows = await self.rows(
            "SELECT id::text FROM deployment_plan_target_result "
            "WHERE plan_id::text = %s AND status = 'computing' AND id = invocation_id",
            plan.id,
        )
        return [str(row[0]) for row in rows]

    async def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
            return await (await connection.execute(query.encode(), values)).fetchall()


def _id(number: int) -> str:
    return f"a0000000-0000-4000-8000-{number:012d}"


def policy(name: str, *rules: PolicyRule, selector: str = "") -> Policy:
    number = sum(name.encode())
    return Policy(_id(1_000_000 + number), name, selector, rules)
