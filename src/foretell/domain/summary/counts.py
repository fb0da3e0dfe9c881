"""Counts over a plan's targets, and what follows from them: a conclusion, an exit code."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from foretell.domain.plan import PlanId, PlanReason, PlanStatus
from foretell.domain.result import KEPT, Action, ResourceChange, Status
from foretell.domain.rollup import TargetRollup
from foretell.domain.verdict import Verdict, VerdictStatus

SELECTOR_LIMIT = 4096
"""Longest selector that the inventory takes, in bytes; a longer suggestion is not made."""


class Group(StrEnum):
    """Which of the summary's counts a target belongs to: exactly one."""

    COMPUTING = "computing"
    ERRORED = "errored"
    CHANGED = "changed"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"
    UNCHANGED = "unchanged"


class Conclusion(StrEnum):
    """GitHub's words for how a check ended."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ResourceCounts:
    """Object changes; a replacement is an add and a delete, a kept object is neither."""

    add: int = 0
    modify: int = 0
    delete: int = 0
    kept: int = 0

    def __add__(self, other: "ResourceCounts") -> "ResourceCounts":
        return ResourceCounts(
            self.add + other.add,
            self.modify + other.modify,
            self.delete + other.delete,
            self.kept + other.kept,
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all targets of a plan; each target is in exactly one group.

    `violations` counts denials of any rule; `blocking` those that fail the check, `overridden`
    those that would if nobody had answered for them, and `validation_errors` the rules that could
    not answer, which fail it too.
    """

    total: int = 0
    changed: int = 0
    unchanged: int = 0
    unknown: int = 0
    errored: int = 0
    unsupported: int = 0
    computing: int = 0
    resource_changes: ResourceCounts = ResourceCounts()
    additions: int = 0
    deletions: int = 0
    violations: int = 0
    blocking: int = 0
    overridden: int = 0
    validation_errors: int = 0
    suppressed: int = 0
    suggested_target_selector: str | None = None


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan as everybody sees it; `summary` is None until the plan was fanned out."""

    id: PlanId
    workspace: str
    deployment_id: str
    deployment_slug: str
    deployment_name: str
    tag: str
    status: PlanStatus
    created_at: datetime
    expires_at: datetime
    reason: PlanReason | None = None
    completed_at: datetime | None = None
    message: str = ""
    summary: Summary | None = None
    targets: tuple[TargetRollup, ...] = field(default=())


def group_of(target: TargetRollup) -> Group:
    """The first that fits, worst news first; a target still computing has no other group."""
    if not target.settled:
        return Group.COMPUTING
    if target.status is Status.ERRORED:
        return Group.ERRORED
    if target.has_changes is not None:
        return Group.CHANGED if target.has_changes else Group.UNCHANGED
    unknown = {agent.status for agent in target.agents if agent.has_changes is None}
    return Group.UNSUPPORTED if unknown == {Status.UNSUPPORTED} else Group.UNKNOWN


def count_changes(changes: Iterable[ResourceChange]) -> ResourceCounts:
    """How many objects are added, modified, deleted, or dropped but kept in the cluster."""
    total = ResourceCounts()
    for change in changes:
        total += _COUNTED[change.action] if KEPT not in change.tags else ResourceCounts(kept=1)
    return total


_COUNTED = {
    Action.ADD: ResourceCounts(add=1),
    Action.MODIFY: ResourceCounts(modify=1),
    Action.DELETE: ResourceCounts(delete=1),
    Action.REPLACE: ResourceCounts(add=1, delete=1),
    Action.NO_OP: ResourceCounts(),
}


def distinct_changes(targets: Sequence[TargetRollup]) -> ResourceCounts:
    """Distinct (resource, diff) pairs: one edit that reaches 50 clusters is one to review."""
    unique = {
        (change.kind, change.namespace, change.name, change.action, change.diff): change
        for target in targets
        for change in target.resources
    }
    return count_changes(unique.values())


def summarize(targets: Sequence[TargetRollup]) -> Summary:
    """The counts of a plan over its targets."""
    groups = [group_of(target) for target in targets]
    verdicts = [verdict for target in targets for verdict in target.verdicts]
    results = [result for target in targets for result in target.results]
    return Summary(
        total=len(targets),
        changed=groups.count(Group.CHANGED),
        unchanged=groups.count(Group.UNCHANGED),
        unknown=groups.count(Group.UNKNOWN),
        errored=groups.count(Group.ERRORED),
        unsupported=groups.count(Group.UNSUPPORTED),
        computing=groups.count(Group.COMPUTING),
        resource_changes=count_changes(c for target in targets for c in target.resources),
        additions=sum(result.additions for result in results),
        deletions=sum(result.deletions for result in results),
        violations=sum(map(_denials, verdicts)),
        blocking=sum(_denials(verdict) for verdict in verdicts if verdict.blocks),
        overridden=sum(_denials(verdict) for verdict in verdicts if verdict.overridden_by),
        validation_errors=sum(v.status is VerdictStatus.ERRORED for v in verdicts),
        suppressed=sum(result.suppressed for result in results),
        suggested_target_selector=suggest_selector(targets),
    )


def _denials(verdict: Verdict) -> int:
    """A rule that said no without a reason said no all the same."""
    return max(len(verdict.denials), 1) if verdict.status is VerdictStatus.DENIED else 0


def suggest_selector(targets: Sequence[TargetRollup]) -> str | None:
    """CEL that, of the plan's targets, matches exactly the affected ones; None when it cannot.

    Affected are the targets with changes. RFC 0001's `targetSelector` takes it as it is.
    `targets` are those of one plan, in the order of `roll`.
    """
    terms = [
        term
        for environment, rows in groupby(targets, key=lambda row: row.target.environment_name)
        if (term := _environment_term(environment, list(rows)))
    ]
    selector = " || ".join(terms) if terms else "false"
    return selector if _can_be_taken(selector) else None


def _can_be_taken(selector: str) -> bool:
    try:
        return len(selector.encode()) <= SELECTOR_LIMIT
    except UnicodeEncodeError:  # half a character, which no selector can name
        return False


def _environment_term(environment: str, rows: Sequence[TargetRollup]) -> str:
    affected = [row.target.resource_identifier for row in rows if row.has_changes]
    if not affected:
        return ""
    where = f"environment.name == {_text(environment)}"
    if len(affected) == len(rows):
        return where
    return f"({where} && resource.identifier in [{', '.join(map(_text, affected))}])"


def _text(value: str) -> str:
    # JSON would write an emoji as two halves, each of which CEL refuses.
    return json.dumps(value, ensure_ascii=False)


def conclude(status: PlanStatus, reason: PlanReason | None, summary: Summary | None) -> Conclusion:
    """How a check over these targets ends; only of a plan that is no longer computing.

    Failure (errored or violated) > neutral (anything that is not proven unchanged) > success.
    """
    if status is PlanStatus.FAILED:
        stopped = reason in (PlanReason.SUPERSEDED, PlanReason.CANCELLED)
        return Conclusion.CANCELLED if stopped else Conclusion.FAILURE
    if summary is None or summary.errored or summary.blocking or summary.validation_errors:
        return Conclusion.FAILURE
    if summary.total and summary.unsupported == summary.total:
        return Conclusion.SKIPPED
    proven = summary.total > 0 and summary.unchanged == summary.total
    return Conclusion.SUCCESS if proven else Conclusion.NEUTRAL


def exit_code(
    status: PlanStatus,
    summary: Summary | None,
    *,
    detailed: bool = False,
    allow_empty: bool = False,
) -> int:
    """What `foretell plan` ends with: the first that fits of 1, 3, 2, 0.

    1: an error, or no target matched unless `allow_empty`; 3: a mandatory rule said no; 2: changes
    or unknown, only when `detailed`; 0 otherwise.
    """
    if status is not PlanStatus.COMPLETED or summary is None:
        return 1
    if summary.errored or summary.validation_errors or summary.computing:
        return 1
    if not summary.total and not allow_empty:
        return 1
    if summary.blocking:
        return 3
    return 2 if detailed and (summary.changed or summary.unknown) else 0
