"""What the engine writes into the store and reads back, where the domain has no word for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from foretell.domain.context import AgentRef, Deployed, DispatchContext, Source
from foretell.domain.override import PlanOverride
from foretell.domain.plan import (
    DeploymentId,
    EnvironmentId,
    InvocationId,
    JsonObject,
    PlanId,
    ResourceId,
    TargetId,
    WorkspaceId,
)
from foretell.domain.result import (
    Status,
)
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    Inventory,
    Policy,
    Resource,
    Target,
)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A tenant: nothing of one is ever visible from another."""

    id: WorkspaceId
    slug: str
    name: str


@dataclass(frozen=True, slots=True)
class PlanBasis:
    """What a plan is fanned out from, as one consistent reading.

    `base` is the other side's inventory where a plan compares two revisions of it; otherwise the
    current side is what was recorded per target, by environment and resource id.
    """

    deployment: Deployment
    inventory: Inventory
    source: Source | None = None
    base: Inventory | None = None
    base_source: Source | None = None
    deployed: Mapping[tuple[EnvironmentId, ResourceId], Deployed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedInvocation:
    """An anchor row to write. Without a context nobody is asked, and `status` is final."""

    id: InvocationId
    agent: AgentRef
    timeout: timedelta
    context: DispatchContext | None
    status: Status = Status.COMPUTING
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PlannedTarget:
    """A target row to write, with its anchor rows. `change` is "", "new" or "removed"."""

    id: TargetId
    target: Target
    invocations: tuple[PlannedInvocation, ...]
    change: str = ""


@dataclass(frozen=True, slots=True)
class PlanUsage:
    """How much is being asked for right now, for the limits of RFC 0004's question 1."""

    deployment_last_minute: int
    deployment_computing: int
    workspace_last_minute: int
    workspace_computing: int


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """How much may be asked for, and how long an answer may take and is kept.

    The defaults are product decisions on RFC 0004's open questions 1 and 6: a plan a developer
    waits for, and reviews of pull requests that take days.
    """

    deployment_per_minute: int = 30
    deployment_computing: int = 10
    workspace_per_minute: int = 120
    workspace_computing: int = 50
    deadline: timedelta = timedelta(minutes=30)
    retention: timedelta = timedelta(hours=1)
    github_retention: timedelta = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class OverrideRecord:
    """An override as it is kept for the audit: longer than the plan, and never changed.

    `token_id`: whose token was shown. `subject` tells the deployment, the version and what was
    denied where, for those who read it when the plan is gone.
    """

    id: str
    workspace_id: WorkspaceId
    deployment_id: DeploymentId
    plan_id: PlanId
    token_id: str
    given: PlanOverride
    subject: JsonObject


@dataclass(frozen=True, slots=True)
class Settled:
    """How an invocation ended without an answer of its own."""

    status: Status
    reason: str = ""
    message: str = ""


class InventoryKind(StrEnum):
    """The parts of an inventory, by the word that REST and files use."""

    DEPLOYMENT = "deployments"
    ENVIRONMENT = "environments"
    RESOURCE = "resources"
    AGENT = "job-agents"
    POLICY = "policies"


InventoryItem = Deployment | Environment | Resource | AgentSpec | Policy


class Role(StrEnum):
    """What a token may do in its workspace: each includes the one before."""

    VIEWER = "viewer"
    PLANNER = "planner"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token at rest: its SHA-256, never itself.

    `workspace_id` None: the instance's admin. `expires_at` None: until revoked.
    """

    id: str
    name: str
    role: Role
    digest: str
    workspace_id: WorkspaceId | None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
