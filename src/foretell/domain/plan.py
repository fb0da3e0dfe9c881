"""What a plan is: one request and everything it led to. Its ids, its states and their moves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NewType

from foretell.domain.errors import IllegalTransition

WorkspaceId = NewType("WorkspaceId", str)
DeploymentId = NewType("DeploymentId", str)
EnvironmentId = NewType("EnvironmentId", str)
ResourceId = NewType("ResourceId", str)
AgentId = NewType("AgentId", str)
PlanId = NewType("PlanId", str)
TargetId = NewType("TargetId", str)
InvocationId = NewType("InvocationId", str)
ResultId = NewType("ResultId", str)

JsonObject = Mapping[str, Any]
"""A JSON object as it came: keys are text, values are what JSON knows."""


class PlanStatus(StrEnum):
    """RFC 0004: the caller polls until the status is no longer `computing`."""

    COMPUTING = "computing"
    COMPLETED = "completed"
    FAILED = "failed"


class PlanReason(StrEnum):
    """Why a plan failed. An errored target never fails a plan."""

    SUPERSEDED = "superseded"
    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class GithubRef:
    """Where the results are wanted, and for which head; `pr_number` is absent for a bare commit."""

    owner: str
    repo: str
    sha: str
    pr_number: int | None = None


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The body of RFC 0004 "API": a version that does not exist yet, and what to plan it for.

    `environment_selector` and `resource_selector` narrow the targets; "" means all of them.
    """

    tag: str
    name: str = ""
    config: JsonObject = field(default_factory=dict)
    job_agent_config: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    github: GithubRef | None = None
    environment_selector: str = ""
    resource_selector: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One request and where it stands.

    `fanned_out_at` is set in the commit that writes the targets: a plan is complete only if it
    was fanned out *and* every invocation is settled. `message` tells why it failed, where the
    reason alone does not. `overrides` counts those of its denials: with each of them the finished
    plan shows something else.
    """

    id: PlanId
    workspace_id: WorkspaceId
    deployment_id: DeploymentId
    request: PlanRequest
    created_at: datetime
    deadline_at: datetime
    expires_at: datetime
    status: PlanStatus = PlanStatus.COMPUTING
    reason: PlanReason | None = None
    fanned_out_at: datetime | None = None
    completed_at: datetime | None = None
    message: str = ""
    overrides: int = 0

    def complete(self, at: datetime) -> "Plan":
        """The plan as completed; raises IllegalTransition unless it was computing, fanned out."""
        if self.status is not PlanStatus.COMPUTING or self.fanned_out_at is None:
            raise IllegalTransition(f"plan {self.id} is {self.status} and cannot be completed")
        return replace(self, status=PlanStatus.COMPLETED, completed_at=at)

    def fail(self, reason: PlanReason, at: datetime, message: str = "") -> "Plan":
        """The plan as failed for `reason`; raises IllegalTransition unless it was computing."""
        if self.status is not PlanStatus.COMPUTING:
            raise IllegalTransition(f"plan {self.id} is {self.status} and cannot become {reason}")
        return replace(
            self, status=PlanStatus.FAILED, reason=reason, completed_at=at, message=message
        )


def supersedes_key(deployment_id: DeploymentId, request: PlanRequest) -> str | None:
    """The name under which a newer plan replaces an older one, or None: nothing is superseded.

    Only a pull request has a newest plan, and only for the same scope: a plan of one environment
    does not answer for a plan of all.
    """
    github = request.github
    if github is None or github.pr_number is None:
        return None
    scope = [request.environment_selector, request.resource_selector]
    parts = [deployment_id, github.owner.lower(), github.repo.lower(), github.pr_number, *scope]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
