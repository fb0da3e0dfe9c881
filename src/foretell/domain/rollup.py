"""Kind -> agent -> target: the one place where states are folded (RFC 0013 "Aggregation").

Two questions, two functions. *How bad is it?* is `worst`; *are we done?* is `settled`. And
`any_changes` is an OR of three values, because "unknown" is not "no".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from foretell.domain.context import AgentRef
from foretell.domain.override import PlanOverride
from foretell.domain.plan import (
    EnvironmentId,
    InvocationId,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Kind, Phase, ResourceChange, Status
from foretell.domain.verdict import Verdict

_BADNESS = (Status.COMPLETED, Status.UNSUPPORTED, Status.COMPUTING, Status.ERRORED)


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of them: errored > computing > unsupported > completed; of none, completed."""
    return max(statuses, key=_BADNESS.index, default=Status.COMPLETED)


def settled(statuses: Iterable[Status]) -> bool:
    """Whether nothing is left to wait for."""
    return all(status is not Status.COMPUTING for status in statuses)


def any_changes(flags: Iterable[bool | None]) -> bool | None:
    """True if any is, else None if any is unknown, else False."""
    seen = set(flags)
    if True in seen:
        return True
    return None if None in seen else False


@dataclass(frozen=True, slots=True)
class KindState:
    """One kind's row without its two texts, which are read one at a time."""

    id: ResultId
    kind: Kind
    status: Status
    has_changes: bool | None
    content_hash: str = ""
    plan_key_id: str = ""
    diff: str | None = None
    additions: int = 0
    deletions: int = 0
    resources: tuple[ResourceChange, ...] = ()
    suppressed: int = 0


@dataclass(frozen=True, slots=True)
class InvocationState:
    """One invocation as its rows say; `results` is empty until it answered."""

    id: InvocationId
    agent: AgentRef
    status: Status
    reason: str = ""
    message: str = ""
    phases: tuple[Phase, ...] = ()
    results: tuple[KindState, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetState:
    """One target as its rows say. `change` tells a target that is new or being removed."""

    id: TargetId
    environment_id: EnvironmentId
    environment_name: str
    resource_id: ResourceId
    resource_name: str
    resource_identifier: str
    invocations: tuple[InvocationState, ...]
    change: str = ""


@dataclass(frozen=True, slots=True)
class AgentRollup:
    """One agent's share of a target: its status is made worse by any kind that is worse."""

    invocation: InvocationState
    status: Status
    has_changes: bool | None


@dataclass(frozen=True, slots=True)
class TargetRollup:
    """One target over its agents: what every table, check and page shows a row of."""

    target: TargetState
    agents: tuple[AgentRollup, ...]
    status: Status
    settled: bool
    has_changes: bool | None
    reason: str = ""
    message: str = ""

    @property
    def results(self) -> tuple[KindState, ...]:
        """All kinds of all agents, in the agents' order."""
        return tuple(result for agent in self.agents for result in agent.invocation.results)

    @property
    def resources(self) -> tuple[ResourceChange, ...]:
        """All object changes of all kinds."""
        return tuple(change for result in self.results for change in result.resources)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All rules' answers: violations belong to the invocation, not to a kind."""
        return tuple(verdict for agent in self.agents for verdict in agent.invocation.verdicts)

    @property
    def diff(self) -> str | None:
        """The kinds' diffs joined in order; None when there is none to show."""
        texts = [result.diff for result in self.results if result.diff]
        return "".join(texts) if texts else None


def roll_agent(invocation: InvocationState) -> AgentRollup:
    """One agent over its kinds; what did not complete knows only the changes that it saw."""
    flags = [result.has_changes for result in invocation.results]
    status = worst([invocation.status, *(result.status for result in invocation.results)])
    if status is not Status.COMPLETED or not flags:
        flags.append(None)
    return AgentRollup(invocation, status, any_changes(flags))


def roll_target(target: TargetState) -> TargetRollup:
    """One target over its agents; its reason and message are those of its worst agent.

    Nobody asked is nothing known: it does not say "no changes".
    """
    agents = tuple(roll_agent(invocation) for invocation in target.invocations)
    status = worst(agent.status for agent in agents)
    telling = next((agent.invocation for agent in agents if agent.status is status), None)
    return TargetRollup(
        target=target,
        agents=agents,
        status=status,
        settled=settled(agent.status for agent in agents),
        has_changes=any_changes(agent.has_changes for agent in agents) if agents else None,
        reason=telling.reason if telling else "",
        message=telling.message if telling else "",
    )


def overridden(
    targets: Sequence[TargetState], overrides: Sequence[PlanOverride]
) -> tuple[TargetState, ...]:
    """The targets with every verdict knowing who overrode it: before this, nobody did."""
    return tuple(_overridden(target, overrides) for target in targets) if overrides else (*targets,)


def _overridden(target: TargetState, overrides: Sequence[PlanOverride]) -> TargetState:
    def known(verdict: Verdict) -> Verdict:
        found = tuple(
            one.override
            for one in overrides
            if one.is_about(verdict.policy, verdict.rule, target.id)
        )
        return replace(verdict, overrides=found)

    invocations = tuple(
        replace(one, verdicts=tuple(map(known, one.verdicts))) for one in target.invocations
    )
    return replace(target, invocations=invocations)


def roll(targets: Sequence[TargetState]) -> tuple[TargetRollup, ...]:
    """All targets of a plan, by environment and resource: never by who finished first."""
    return tuple(roll_target(target) for target in sorted(targets, key=_row_order))


def _row_order(target: TargetState) -> tuple[str, str, str]:
    return (target.environment_name, target.resource_name, target.resource_identifier)
