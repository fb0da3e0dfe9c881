"""What an agent answers: results by kind, or not yet, or not at all.

`Outcome` is a sum type, so that a case nobody thought of fails the type checker instead of
passing for "no changes" (an absent `completedAt` once meant three things).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NewType

from foretell.domain.context import DispatchContext
from foretell.domain.plan import InvocationId, JsonObject, PlanId, PlanReason, PlanStatus, TargetId

Kind = NewType("Kind", str)
"""The label of one diff inside an invocation (RFC 0013); agent-defined, "" is a legacy row."""


class Status(StrEnum):
    """Where an invocation stands, and what agents and targets roll up to."""

    COMPUTING = "computing"
    COMPLETED = "completed"
    ERRORED = "errored"
    UNSUPPORTED = "unsupported"


class Action(StrEnum):
    """What happens to one object. `no-op` is shown and not counted."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"
    REPLACE = "replace"
    NO_OP = "no-op"


KEPT = "kept"
"""Tag of a delete that leaves the object in the cluster: counted under `kept`, not `delete`."""


def object_title(kind: str, namespace: str, name: str) -> str:
    """`Deployment/payments/payment-api`, as RFC 0004 heads a diff."""
    return "/".join(part for part in (kind, namespace, name) if part)


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """One object's change (RFC 0004 `ResourceChange`). `before` and `after` are redacted text,
    empty for adds and deletes; `additions` and `deletions` count the lines of `diff`."""

    kind: str
    name: str
    action: Action
    namespace: str = ""
    api_version: str = ""
    before: str = ""
    after: str = ""
    diff: str = ""
    additions: int = 0
    deletions: int = 0
    tags: tuple[str, ...] = ()
    result_kind: str = ""

    @property
    def title(self) -> str:
        """What people call the object."""
        return object_title(self.kind, self.namespace, self.name)


@dataclass(frozen=True, slots=True)
class PolicySides:
    """What rules read of a kind whose texts are made for people: two redacted JSON values."""

    current: Any
    proposed: Any


@dataclass(frozen=True, slots=True)
class KindResult:
    """One kind's answer. `current` and `proposed` are redacted; what is stored is what is shown.

    `has_changes` None is unknown. `diff` None: the agent can compare, not show. `suppressed`
    counts objects with only hidden changes. `policy` None: rules read the two texts, parsed.
    """

    kind: Kind
    current: str
    proposed: str
    has_changes: bool | None
    content_hash: str = ""
    plan_key_id: str = ""
    diff: str | None = None
    additions: int = 0
    deletions: int = 0
    resources: tuple[ResourceChange, ...] = ()
    suppressed: int = 0
    policy: PolicySides | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Phase:
    """How long a part of the work took, for "where did the time go" after a timeout."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer: all kinds of an invocation complete together (RFC 0013).

    `failure`: there is a plan, and the other side will not let it be applied. The results are
    shown, the target is errored and says this.
    """

    results: tuple[KindResult, ...]
    message: str = ""
    phases: tuple[Phase, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """Not yet: ask again after `after` with `state`, any earlier one of which may be replayed."""

    state: JsonObject
    after: timedelta
    message: str = ""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """This agent cannot plan this; `message` says why, for the report."""

    message: str


Outcome = Done | Pending | Unsupported


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a sweep found of dead invocations on the other side, and what it could not remove."""

    removed: int = 0
    stuck: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One agent asked about one target: the unit of work, stored as the anchor row.

    `started_at` is when it was asked first; the deadline counts from there, so that a long queue
    does not eat it. `attempts` counts the times it was asked. `governed` says that the workspace
    has rules which may apply.
    """

    id: InvocationId
    plan_id: PlanId
    target_id: TargetId
    context: DispatchContext
    timeout: timedelta
    status: Status = Status.COMPUTING
    state: JsonObject | None = None
    started_at: datetime | None = None
    attempts: int = 0
    message: str = ""
    plan_status: PlanStatus = PlanStatus.COMPUTING
    plan_reason: PlanReason | None = None
    plan_deadline_at: datetime | None = None
    results: tuple[KindResult, ...] = ()
    governed: bool = field(default=False)

    def deadline_at(self, now: datetime) -> datetime:
        """When asking ends, its own or the plan's; `now` stands in for a first time of asking."""
        own = (self.started_at or now) + self.timeout
        return min(own, self.plan_deadline_at) if self.plan_deadline_at else own


def kinds_problem(results: Sequence[KindResult], reserved: frozenset[str]) -> str | None:
    """What is wrong with an agent's kinds, or None: they are non-empty, unique, not reserved."""
    if not results:
        return "the agent answered with no result"
    kinds = [result.kind for result in results]
    for kind in kinds:
        if not kind:
            return "the agent answered with a result that has no kind"
        if kind in reserved:
            return f"the agent used the reserved name {kind!r} as a kind"
        if kinds.count(kind) > 1:
            return f"the agent answered twice for kind {kind!r}"
    return None
