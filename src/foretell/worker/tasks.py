"""One task per step: an id comes out of the queue, and the step is called with its ports."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from foretell.domain.plan import (
    DeploymentId,
    InvocationId,
    Plan,
    PlanId,
    PlanRequest,
    WorkspaceId,
)
from foretell.engine.fan_out import fan_out
from foretell.engine.invoke import invoke
from foretell.engine.pull_request import Tools, pull_request
from foretell.engine.report import report
from foretell.engine.settle import settle
from foretell.engine.submit import Submission, submit
from foretell.engine.sweep import LEFTOVER_AGE, sweep
from foretell.engine.validate import validate
from foretell.ports import (
    Agents,
    Clock,
    Forge,
    Ids,
    PlanLimits,
    PullRequestRules,
    Reporter,
    Secrets,
    Selectors,
    Step,
    Store,
    Validator,
)

Task = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Tasks:
    """The steps, ready to be called by name; each may run twice or at the same time."""

    store: Store
    agents: Agents
    validator: Validator
    reporters: Sequence[Reporter]
    selectors: Selectors
    secrets: Secrets
    clock: Clock
    ids: Ids
    forge: Forge | None = None
    limits: PlanLimits = field(default_factory=PlanLimits)
    pull_requests: PullRequestRules = field(default_factory=PullRequestRules)
    plan_ttl: timedelta = LEFTOVER_AGE

    def by_step(self) -> Mapping[Step, Task]:
        """What the queue calls for each step's jobs."""
        return {
            Step.FAN_OUT: self.fan_out,
            Step.INVOKE: self.invoke,
            Step.VALIDATE: self.validate,
            Step.SETTLE: self.settle,
            Step.REPORT: self.report,
            Step.SWEEP: self.sweep,
            Step.PULL_REQUEST: self.pull_request,
        }

    async def fan_out(self, id: str) -> None:
        """See `engine/fan_out.py`."""
        await fan_out(self.store, self.agents, self.selectors, self.clock, self.ids, PlanId(id))

    async def invoke(self, id: str) -> None:
        """See `engine/invoke.py`."""
        await invoke(self.store, self.agents, self.clock, InvocationId(id))

    async def validate(self, id: str) -> None:
        """See `engine/validate.py`."""
        await validate(self.store, self.validator, self.selectors, self.clock, InvocationId(id))

    async def settle(self, id: str) -> None:
        """See `engine/settle.py`."""
        await settle(self.store, self.clock, PlanId(id))

    async def report(self, id: str) -> None:
        """See `engine/report.py`."""
        await report(self.store, self.reporters, PlanId(id))

    async def sweep(self, id: str = "") -> None:
        """See `engine/sweep.py`; a round needs no id."""
        await sweep(self.store, self.agents, self.secrets, self.clock, self.plan_ttl)

    async def pull_request(self, id: str) -> None:
        """See `engine/pull_request/follow.py`; the id is a subject."""
        tools = Tools(
            store=self.store,
            forge=self.forge,
            selectors=self.selectors,
            clock=self.clock,
            submits=self._submitted,
            rules=self.pull_requests,
            retention=self.limits.retention,
        )
        await pull_request(tools, id)

    async def _submitted(
        self, workspace: WorkspaceId, deployment: DeploymentId, request: PlanRequest, key: str
    ) -> Plan:
        wanted = Submission(workspace, deployment, request, key)
        return await submit(self.store, self.selectors, self.clock, self.ids, self.limits, wanted)
