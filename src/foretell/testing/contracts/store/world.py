"""A small inventory and plans over it, from which the promises are told."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from foretell.domain.context import AgentRef, DispatchContext, Source, Version
from foretell.domain.context import Scope as FreezingScope
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    GithubRef,
    InvocationId,
    Plan,
    PlanId,
    PlanRequest,
    ResourceId,
    TargetId,
    WorkspaceId,
)
from foretell.domain.result import (
    Action,
    Done,
    Kind,
    KindResult,
    Phase,
    PolicySides,
    ResourceChange,
    Status,
)
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    Policy,
    PolicyRule,
    Resource,
    Target,
)
from foretell.ports import Job, PlannedInvocation, PlannedTarget, Step, Store, Workspace

NOW = datetime(2026, 5, 4, 12, 30, 0, 123456, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ODD = "a\x00b\ud800c\ue000d\ue0000041\u2028e\\u0000 é 😀"
"""Text that a database has a reason to refuse, and a store may not."""
ODD_JSON = {
    ODD: [ODD, None, True, 2**70, -(2**63), 1e300, 1e22, 0.1, -0.5, {}, [], "\ue000n1"],
    "z": 1,
    "a": {"nested": {"deeply": [1, 2.0, "3"]}},
}

Queued = Callable[[], Awaitable[Mapping[tuple[Step, str], timedelta]]]
"""The jobs that wait, each with the time it waits from now on, at the committed state."""


def new_id() -> str:
    return str(uuid4())


@dataclass(frozen=True)
class World:
    """A workspace with one deployment, two environments, two resources, and a store with them."""

    store: Store
    workspace: Workspace = field(
        default_factory=lambda: Workspace(WorkspaceId(new_id()), f"w-{new_id()}", "Team")
    )
    deployment: Deployment = field(
        default_factory=lambda: Deployment(DeploymentId(new_id()), f"api-{new_id()}", "API")
    )
    environments: tuple[Environment, ...] = field(
        default_factory=lambda: (
            Environment(EnvironmentId(new_id()), "staging"),
            Environment(EnvironmentId(new_id()), "Production"),
        )
    )
    resources: tuple[Resource, ...] = field(
        default_factory=lambda: (
            Resource(ResourceId(new_id()), "eu-west", "Ireland"),
            Resource(ResourceId(new_id()), "ap-south", "Mumbai"),
        )
    )
    agent: AgentSpec = field(
        default_factory=lambda: AgentSpec(AgentId(new_id()), "argo", "argo-cd", {"url": "u"})
    )

    async def write(self) -> "World":
        async with self.store.begin() as tx:
            await tx.put_workspace(self.workspace)
            await tx.put_items(
                self.workspace.id,
                [self.deployment, *self.environments, *self.resources, self.agent],
            )
        return self

    def new_plan(
        self, *, pr: int | None = None, at: datetime = NOW, request: PlanRequest | None = None
    ) -> Plan:
        github = GithubRef("org", "app", "abc123", pr) if pr is not None else None
        return Plan(
            id=PlanId(new_id()),
            workspace_id=self.workspace.id,
            deployment_id=self.deployment.id,
            request=request or PlanRequest("v2", github=github),
            created_at=at,
            deadline_at=at + 30 * MINUTE,
            expires_at=at + 60 * MINUTE,
        )

    async def computing(self, *, pr: int | None = None, at: datetime = NOW) -> Plan:
        """A plan that waits to be fanned out."""
        plan = self.new_plan(pr=pr, at=at)
        async with self.store.begin() as tx:
            await tx.insert_plan(plan)
        return plan

    def invocation(self, plan: Plan, target: Target, *, type: str = "argo-cd") -> PlannedInvocation:
        id = InvocationId(new_id())
        scope = FreezingScope(self.deployment, lambda *_: True, Source("repo", "sha"))
        side = scope.freeze(target, self.agent, Version("v2", config={"image": ODD}))
        agent = AgentRef(self.agent.id, type, type)
        context = DispatchContext(id, plan.id, plan.workspace_id, agent, side, None)
        return PlannedInvocation(id, agent, 5 * MINUTE, context)

    def planned(self, plan: Plan, *, agents: int = 1) -> tuple[PlannedTarget, ...]:
        """Four targets, written in no order that means anything."""
        targets = [Target(e, r) for e in self.environments for r in self.resources]
        return tuple(
            PlannedTarget(
                TargetId(new_id()),
                target,
                tuple(self.invocation(plan, target, type=f"agent-{n}") for n in range(agents)),
            )
            for target in targets
        )

    async def fanned_out(
        self, *, pr: int | None = None, agents: int = 1
    ) -> tuple[Plan, tuple[InvocationId, ...]]:
        """A plan whose invocations wait to be asked, and their ids."""
        plan = await self.computing(pr=pr)
        targets = self.planned(plan, agents=agents)
        ids = tuple(i.id for target in targets for i in target.invocations)
        async with self.store.begin() as tx:
            await tx.insert_targets(plan, targets, NOW)
            await tx.enqueue([Job(Step.INVOKE, id) for id in ids])
        return plan, ids

    async def answer(self, id: InvocationId, done: Done, *, settled: bool = True) -> bool:
        async with self.store.begin() as tx:
            invocation = await tx.start(id, NOW)
            return invocation is not None and await tx.save_done(
                invocation, done, NOW, settled=settled
            )

    async def plan(self, plan_id: PlanId) -> Plan:
        async with self.store.begin() as tx:
            plan = await tx.plan(plan_id)
        assert plan is not None
        return plan


CHANGE = ResourceChange(
    kind="Deployment",
    name="web",
    action=Action.MODIFY,
    namespace="shop",
    api_version="apps/v1",
    before=f"before {ODD}",
    after="after",
    diff="-a\n+b\n",
    additions=1,
    deletions=1,
    tags=("renamed to X", ODD),
    result_kind="manifest",
)
MANIFEST = KindResult(
    kind=Kind("manifest"),
    current=f"old\n{ODD}",
    proposed="new\n",
    has_changes=True,
    content_hash="h1:00",
    plan_key_id="k1",
    diff=f"-{ODD}\n+new\n",
    additions=1,
    deletions=2,
    resources=(CHANGE,),
    suppressed=3,
    policy=PolicySides(None, ODD_JSON),
)
HASHED = KindResult(Kind("cr"), "", "", None)
PLAIN = KindResult(Kind("plan"), "same", "same", False, diff="")
DONE = Done((MANIFEST, HASHED, PLAIN), message=ODD, phases=(Phase("render", 1.25), Phase("x", 0.1)))
SMALL = Done((PLAIN,))
POLICY = Policy(
    id=new_id(),
    name="replicas",
    rules=(PolicyRule("two", "package p\n", "at least two", mandatory=False),),
    overrides_role="admin",
    overrides_count=2,
)
OPEN = (Status.COMPUTING,)


class Promises:
    """What each part of the suite needs; `store` and `queued` are the implementation's to give."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError("override: a store on an empty, migrated database")

    @pytest.fixture
    def queued(self) -> Queued:
        raise NotImplementedError("override: reads the jobs that wait in that database")

    @pytest.fixture
    async def world(self, store: Store) -> World:
        return await World(store).write()
