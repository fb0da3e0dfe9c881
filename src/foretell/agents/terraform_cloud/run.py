"""A run as the API shows it, and what its status means for a run that only plans."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

MARK: Final = "foretell"
"""The first word of a run's message; after it the invocation that the run belongs to."""


class Stage(Enum):
    """Where a plan-only run stands. A word that nobody knows is not final."""

    QUEUED = auto()
    PLANNING = auto()
    WAITS_FOR_A_DECISION = auto()
    FINISHED = auto()
    SOFT_FAILED = auto()
    ERRORED = auto()
    CANCELLED = auto()
    NOT_PLAN_ONLY = auto()


_STAGES: Final[Mapping[Stage, tuple[str, ...]]] = {
    Stage.QUEUED: (
        *("pending", "fetching", "fetching_completed", "pre_plan_running", "pre_plan_completed"),
        *("queuing", "plan_queued"),
    ),
    Stage.PLANNING: (
        *("planning", "planned", "post_plan_running", "post_plan_completed"),
        *("tf_policy_checked", "tf_policy_override", "cost_estimating", "cost_estimated"),
        *("policy_checking", "policy_checked"),
    ),
    Stage.WAITS_FOR_A_DECISION: (
        *("pre_plan_awaiting_decision", "post_plan_awaiting_decision", "policy_override"),
    ),
    Stage.FINISHED: ("planned_and_finished",),
    Stage.SOFT_FAILED: ("policy_soft_failed",),
    Stage.ERRORED: ("errored",),
    Stage.CANCELLED: ("canceled", "force_canceled", "discarded"),
    Stage.NOT_PLAN_ONLY: (
        *("planned_and_saved", "confirmed", "pre_apply_running", "pre_apply_completed"),
        *("queuing_apply", "apply_queued", "applying", "post_apply_running"),
        *("post_apply_completed", "applied"),
    ),
}
_BY_STATUS: Final = {status: stage for stage, all_ in _STAGES.items() for status in all_}
FINAL: Final = frozenset({Stage.FINISHED, Stage.SOFT_FAILED, Stage.ERRORED, Stage.CANCELLED})
ENDED: Final = frozenset(
    {status for status, stage in _BY_STATUS.items() if stage in FINAL} | {"applied"}
)
"""Statuses of runs that there is nothing left to stop of."""
OPEN: Final = tuple(sorted(set(_BY_STATUS) - ENDED))


@dataclass(frozen=True, slots=True)
class PlanView:
    """A run's plan; `status` "" where only its id is known. Counts that are not there are not 0."""

    id: str
    status: str = ""
    log_url: str = ""
    has_changes: bool | None = None
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as one answer of the API showed it."""

    id: str
    status: str
    message: str
    plan_only: bool
    cancelable: bool
    discardable: bool
    plan: PlanView | None
    workspace: str
    configuration: str
    created_at: str
    policy_checks: bool
    task_stages: bool
    policy_evaluations: bool

    @property
    def stage(self) -> Stage:
        """What the status means; unknown words are between the queue and the end."""
        return _BY_STATUS.get(self.status, Stage.PLANNING)

    @property
    def ended(self) -> bool:
        """Whether there is nothing left to stop."""
        return self.status in ENDED


def marker(invocation_id: str) -> str:
    """How the message of each run of an invocation begins."""
    return f"{MARK} {invocation_id}:"


def owner(message: str) -> str | None:
    """The invocation that a run's message names, or None: it is none of ours."""
    first, _, rest = message.partition(" ")
    name, colon, _ = rest.partition(":")
    return name if first == MARK and colon and name and " " not in name else None


def read_run(data: Any, included: Any = ()) -> RunView:
    """`data` of a run's document, with its plan where that was included."""
    attributes, relations = _map(data, "attributes"), _map(data, "relationships")
    actions = _map(attributes, "actions")
    plan_id = _related(relations, "plan")
    return RunView(
        id=str(_of(data, "id")),
        status=str(_of(attributes, "status")),
        message=str(_of(attributes, "message")),
        plan_only=attributes.get("plan-only") is not False,
        cancelable=actions.get("is-cancelable") is True,
        discardable=actions.get("is-discardable") is True,
        plan=_included_plan(plan_id, included) if plan_id else None,
        workspace=_related(relations, "workspace"),
        configuration=_related(relations, "configuration-version"),
        created_at=str(_of(attributes, "created-at")),
        policy_checks=bool(_map(relations, "policy-checks").get("data")),
        task_stages=bool(_map(relations, "task-stages").get("data")),
        policy_evaluations=bool(_map(relations, "tf-policy-evaluations").get("data")),
    )


def _included_plan(plan_id: str, included: Any) -> PlanView:
    found = (
        each
        for each in (included if isinstance(included, list) else ())
        if isinstance(each, Mapping) and (each.get("type"), each.get("id")) == ("plans", plan_id)
    )
    return read_plan(plan_id, next(found, {}))


def read_plan(plan_id: str, data: Any) -> PlanView:
    """`data` of a plan's document; of an empty one only the id is known."""
    attributes = _map(data, "attributes")
    changes = attributes.get("has-changes")
    return PlanView(
        id=plan_id,
        status=str(_of(attributes, "status")),
        log_url=str(_of(attributes, "log-read-url")),
        has_changes=changes if isinstance(changes, bool) else None,
        counts=tuple(_counts(attributes)),
    )


_COUNTS: Final = {
    "create": "resource-additions",
    "update": "resource-changes",
    "delete": "resource-destructions",
    "import": "resource-imports",
}


def _counts(attributes: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for word, name in _COUNTS.items():
        number = attributes.get(name)
        if isinstance(number, int) and not isinstance(number, bool):
            yield word, number


def _related(relations: Mapping[str, Any], name: str) -> str:
    return str(_of(_map(_map(relations, name), "data"), "id"))


def _map(holder: Any, name: str) -> Mapping[str, Any]:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _of(holder: Any, name: str) -> Any:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return "" if value is None else value
