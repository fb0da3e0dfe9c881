"""Step 2: a plan becomes targets, and each target's agents become invocations, in one commit."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

import structlog

from foretell.domain.context import (
    AgentRef,
    DispatchContext,
    Scope,
    Side,
    Version,
    proposed_version,
)
from foretell.domain.errors import ForetellError, InvalidRequest
from foretell.domain.plan import (
    AgentId,
    InvocationId,
    Plan,
    PlanId,
    PlanReason,
    PlanStatus,
    TargetId,
)
from foretell.domain.result import Status
from foretell.domain.target import (
    AgentSpec,
    CompareSettings,
    Deployment,
    Inventory,
    Matches,
    Target,
    agents_for,
    select,
)
from foretell.engine.progress import progress_report
from foretell.ports import (
    Agents,
    Clock,
    Ids,
    Job,
    PlanBasis,
    PlannedInvocation,
    PlannedTarget,
    Selectors,
    Step,
    Store,
)

_log = structlog.get_logger()
NO_AGENT = AgentRef(AgentId(""), "", "")


async def fan_out(
    store: Store, agents: Agents, selectors: Selectors, clock: Clock, ids: Ids, plan_id: PlanId
) -> None:
    """Write every target with its frozen questions; a plan that was fanned out stays as it is.

    A target without an agent, or whose variables can't be resolved, is settled here. With
    nothing left open the next job is `settle`, else one `invoke` an invocation. A selector that
    makes no sense for what it is asked about fails the plan: asking again gives the same answer.
    """
    async with store.begin() as tx:
        plan = await tx.plan(plan_id, lock=True)
        if plan is None or plan.status is not PlanStatus.COMPUTING or plan.fanned_out_at:
            return
        planner = _Planner(plan, await tx.basis(plan), agents, selectors.matches(), ids)
        try:
            targets = tuple(planner.targets())
        except InvalidRequest as error:
            _log.warning("plan.failed", plan=plan.id, error=error.message)
            await tx.stop_plan(plan.fail(PlanReason.INTERNAL, clock.now(), error.message))
            return
        await tx.insert_targets(plan, targets, clock.now())
        waiting = [
            Job(Step.INVOKE, invocation.id)
            for target in targets
            for invocation in target.invocations
            if invocation.status is Status.COMPUTING
        ]
        shown = progress_report(plan, clock.now()) if waiting else []
        await tx.enqueue([*(waiting or [Job(Step.SETTLE, plan.id)]), *shown])


class _Planner:
    """The targets of one plan: the union of both sides, where there are two inventories."""

    def __init__(
        self, plan: Plan, basis: PlanBasis, agents: Agents, matches: Matches, ids: Ids
    ) -> None:
        self._plan = plan
        self._basis = basis
        self._agents = agents
        self._matches = matches
        self._ids = ids
        self._head = Scope(basis.deployment, matches, basis.source)

    def targets(self) -> Iterator[PlannedTarget]:
        head = self._select(self._basis.deployment, self._basis.inventory)
        base = self._base_targets()
        for key, target in head.items():
            change = "new" if self._basis.base is not None and key not in base else ""
            yield self._target(target, base.get(key), change)
        for key, target in base.items():
            if key not in head:
                yield self._target(None, target, "removed")

    def _select(
        self, deployment: Deployment | None, inventory: Inventory
    ) -> Mapping[tuple[str, str], Target]:
        if deployment is None:
            return {}
        found = select(
            deployment,
            inventory.environments,
            inventory.resources,
            self._plan.request,
            self._matches,
        )
        return {target.key: target for target in found}

    def _base_targets(self) -> Mapping[tuple[str, str], Target]:
        base = self._basis.base
        return self._select(self._base_deployment(), base) if base is not None else {}

    def _base_deployment(self) -> Deployment | None:
        deployments = self._basis.base.deployments if self._basis.base else ()
        slug = self._basis.deployment.slug
        return next((one for one in deployments if one.slug == slug), None)

    def _target(self, head: Target | None, base: Target | None, change: str) -> PlannedTarget:
        target = head or base
        assert target is not None, "a target is on one side at least"
        return PlannedTarget(
            id=TargetId(self._ids.new()),
            target=target,
            invocations=self._invocations(target, head, base),
            change=change,
        )

    def _invocations(
        self, target: Target, head: Target | None, base: Target | None
    ) -> tuple[PlannedInvocation, ...]:
        deployment, inventory = self._side_of(head)
        try:
            specs = agents_for(deployment, target, inventory.agents, self._matches)
        except InvalidRequest as error:
            return (self._nobody(Status.ERRORED, "rejected", error.message),)
        if not specs:
            return (self._nobody(Status.UNSUPPORTED, "", "no job agent matches"),)
        return tuple(self._invocation(spec, head, base) for spec in specs)

    def _side_of(self, head: Target | None) -> tuple[Deployment, Inventory]:
        base = self._base_deployment()
        if head is None and base is not None and self._basis.base is not None:
            return base, self._basis.base
        return self._basis.deployment, self._basis.inventory

    def _nobody(self, status: Status, reason: str, message: str) -> PlannedInvocation:
        id = InvocationId(self._ids.new())
        return PlannedInvocation(id, NO_AGENT, timedelta(0), None, status, reason, message)

    def _invocation(
        self, spec: AgentSpec, head: Target | None, base: Target | None
    ) -> PlannedInvocation:
        id = InvocationId(self._ids.new())
        ref = AgentRef(spec.id, spec.name, spec.type)
        timeout = self._timeout(spec)
        if unwanted := self._unwanted(spec):
            return PlannedInvocation(id, ref, timeout, None, Status.UNSUPPORTED, "", unwanted)
        try:
            context = DispatchContext(
                invocation_id=id,
                plan_id=self._plan.id,
                workspace_id=self._plan.workspace_id,
                agent=ref,
                proposed=self._proposed(spec, head),
                current=self._current(spec, head, base),
                head=self._plan.request.github,
                compare=self._compare(),
            )
        except ForetellError as error:
            return PlannedInvocation(
                id, ref, timeout, None, Status.ERRORED, "rejected", error.message
            )
        return PlannedInvocation(id, ref, timeout, context)

    def _compare(self) -> CompareSettings:
        """The base's where there is one: a change can't hide itself."""
        return (self._base_deployment() or self._basis.deployment).plan.compare

    def _unwanted(self, spec: AgentSpec) -> str:
        """Why this deployment is not planned by that agent, or ""."""
        enabled = self._basis.deployment.plan.enabled
        if enabled is False:
            return "plans are turned off for this deployment (plan.enabled: false)"
        agent = self._agents.find(spec.type)
        if enabled is None and agent is not None and agent.opt_in:
            return (
                f"plans of {spec.type} are opt-in: set plan.enabled: true for this deployment "
                "where they are wanted"
            )
        return ""

    def _timeout(self, spec: AgentSpec) -> timedelta:
        own = self._basis.deployment.plan.timeout
        agent = self._agents.find(spec.type)
        return own or (agent.timeout if agent else timedelta(0))

    def _proposed(self, spec: AgentSpec, head: Target | None) -> Side | None:
        if head is None:
            return None
        request = self._plan.request
        return self._head.freeze(
            head, spec, proposed_version(request), job_agent_config=request.job_agent_config
        )

    def _current(self, spec: AgentSpec, head: Target | None, base: Target | None) -> Side | None:
        if self._basis.base is not None:
            return self._base_side(spec, base) if base is not None else None
        if head is None:
            return None
        deployed = self._basis.deployed.get((head.environment.id, head.resource.id))
        if deployed is None:
            return None
        return self._head.freeze(head, spec, deployed.version, variables=deployed.variables)

    def _base_side(self, spec: AgentSpec, base: Target) -> Side | None:
        deployment = self._base_deployment()
        agents = self._basis.base.agents if self._basis.base else ()
        before = next((agent for agent in agents if agent.name == spec.name), None)
        if deployment is None or before is None:
            return None
        source = self._basis.base_source
        version = Version(source.revision if source else "")
        return Scope(deployment, self._matches, source).freeze(base, before, version)
