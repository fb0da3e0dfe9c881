"""What there is on the other side, and what a run goes through there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

FINAL = frozenset(
    (
        *("planned_and_finished", "policy_soft_failed", "errored", "applied"),
        *("canceled", "force_canceled", "discarded"),
    )
)
_BEFORE_THE_PLAN = frozenset(
    (
        *("pending", "fetching", "fetching_completed", "queuing", "plan_queued"),
        *("pre_plan_running", "pre_plan_completed", "pre_plan_awaiting_decision"),
    )
)
ONE_STATUS_A_LOOK = timedelta(0)


class Access(Enum):
    """What a token may do. Organization tokens manage, and neither make runs nor read plans."""

    ADMIN = "admin"
    PLAN = "plan"
    READ = "read"
    ORGANIZATION = "organization"


class Delivery(Enum):
    """How `json-output` gives the plan: to HCP Terraform 307, to terrapod 302, to OTF the body."""

    BODY = 200
    FOUND = 302
    TEMPORARY = 307


@dataclass
class Dialect:
    """Where other implementations of the API differ: OTF keeps no message of a run, and does not
    bring its plan along with it."""

    keeps_messages: bool = True
    includes_plans: bool = True


@dataclass
class Script:
    """What the runs of a workspace go through and come to.

    `statuses` follow each other at each look at the run, or every `each_for`; the last one stays.
    `not_ready` is how often plan output answers 204 first. `plan` None: there is no output (404);
    `too_old`: 422 for whole and redacted. `refuse_cancel`: how often cancel answers 409.
    """

    statuses: Sequence[str] = ("pending", "plan_queued", "planning", "planned_and_finished")
    each_for: timedelta = ONE_STATUS_A_LOOK
    plan: Any = None
    redacted: Any = None
    log: bytes = b""
    plan_status: str = ""
    counts: tuple[int, int, int, int] | None = None
    has_changes: bool | None = None
    delivery: Delivery = Delivery.TEMPORARY
    not_ready: int = 0
    too_old: bool = False
    expired_redirects: int = 0
    refuse_cancel: int = 0
    unpack_looks: int = 0
    unpack_error: str = ""
    policy_checks: Sequence[Mapping[str, Any]] = ()
    task_stages: Mapping[str, Any] | None = None


@dataclass
class Workspace:
    """One workspace. Nothing that a client may send changes it."""

    id: str
    name: str
    script: Script = field(default_factory=Script)
    execution_mode: str = "remote"
    working_directory: str = ""


@dataclass
class ConfigurationVersion:
    """An upload and what was asked of it."""

    id: str
    workspace: Workspace
    auto_queue_runs: bool
    speculative: bool
    status: str = "pending"
    content: bytes = b""
    looks_left: int = 0


@dataclass
class Run:
    """One run; where it stands depends on how often, or how late, it is looked at."""

    id: str
    workspace: Workspace
    configuration: ConfigurationVersion
    attributes: Mapping[str, Any]
    created_at: datetime
    token: str = field(repr=False)
    looks: int = 0
    ended_as: str = ""
    not_ready: int = 0
    refuse_cancel: int = 0
    expired_redirects: int = 0

    @property
    def plan_id(self) -> str:
        return self.id.replace("run-", "plan-", 1)

    @property
    def message(self) -> str:
        return str(self.attributes.get("message") or "")

    def status(self, now: datetime) -> str:
        """The status of the script's line where it is now, unless it was ended."""
        if self.ended_as:
            return self.ended_as
        script = self.workspace.script
        place = self.looks
        if script.each_for:
            place = int((now - self.created_at) / script.each_for)
        return script.statuses[min(place, len(script.statuses) - 1)]

    def is_final(self, now: datetime) -> bool:
        return self.status(now) in FINAL

    def plan_status(self, now: datetime) -> str:
        """As the run's status says, unless the script says otherwise of an ended one."""
        status = self.status(now)
        if status in _BEFORE_THE_PLAN:
            return "pending"
        if status == "planning":
            return "running"
        if self.ended_as:
            return "canceled"
        return self.workspace.script.plan_status or (
            "errored" if status == "errored" else "finished"
        )


@dataclass
class Organization:
    """A name and its workspaces by name."""

    name: str
    workspaces: dict[str, Workspace] = field(default_factory=dict)
