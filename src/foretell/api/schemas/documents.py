"""Answers, as OpenAPI describes them.

Nothing is written through these: `formats/document` writes the plan, and a test reads what it
wrote back through here, so that the two can't drift apart.
"""

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from foretell.api.schemas.document import Document, Id, Time
from foretell.api.schemas.verdicts import VerdictDocument
from foretell.domain.plan import PlanReason, PlanStatus
from foretell.domain.result import Action, Status
from foretell.inventory.changes import ItemAction
from foretell.ports import InventoryKind


class PlaceDocument(Document):
    """One thing wrong with one place of the input."""

    where: str
    field: str
    message: str


class ProblemDocument(Document):
    """RFC 9457. `errors` name each wrong place; `id` is that of the server's log."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[PlaceDocument] = Field(default_factory=list)
    id: str = ""


class ResourceCountsDocument(Document):
    add: int
    modify: int
    delete: int
    kept: int


class LineCountsDocument(Document):
    additions: int
    deletions: int


class SummaryDocument(Document):
    """Each target is in exactly one of `changed` to `computing`."""

    total: int
    changed: int
    unchanged: int
    unknown: int
    errored: int
    unsupported: int
    computing: int
    resource_changes: ResourceCountsDocument
    line_changes: LineCountsDocument
    violations: int
    blocking: int
    overridden: int
    validation_errors: int
    suppressed: int
    suggested_target_selector: str | None


class ChangeDocument(Document):
    """One object's change; `no-op` is shown and not counted."""

    kind: str
    name: str
    namespace: str
    api_version: str
    action: Action
    additions: int
    deletions: int
    diff: str
    tags: list[str]
    result_kind: str
    result_id: Id


class DiffDocument(Document):
    """`raw` is null unless `diff=full` was asked for."""

    raw: str | None
    resources: list[ChangeDocument]


class AgentRefDocument(Document):
    id: str
    name: str
    type: str


class PhaseDocument(Document):
    name: str
    seconds: float


class ResultDocument(Document):
    """One kind's answer, without its two texts."""

    id: Id
    kind: str
    status: Status
    has_changes: bool | None
    content_hash: str
    plan_key_id: str | None
    additions: int
    deletions: int
    suppressed: int
    diff: str | None


class AgentDocument(Document):
    id: Id
    agent: AgentRefDocument
    status: Status
    reason: str | None
    message: str | None
    has_changes: bool | None
    phases: list[PhaseDocument]
    results: list[ResultDocument]
    validations: list[VerdictDocument]


class TargetDocument(Document):
    """One (environment, resource); `hasChanges` null means unknown, not no."""

    id: Id
    environment_id: Id
    environment_name: str
    resource_id: Id
    resource_name: str
    resource_identifier: str
    change: Literal["new", "removed"] | None
    status: Status
    reason: str | None
    message: str | None
    has_changes: bool | None
    diff: DiffDocument | None
    agents: list[AgentDocument]


class DeploymentRefDocument(Document):
    id: Id
    slug: str
    name: str


class VersionRefDocument(Document):
    tag: str


class PlanDocument(Document):
    """RFC 0004 "API"; `summary` is null and `targets` empty until the plan was fanned out."""

    id: Id
    status: PlanStatus
    reason: PlanReason | None
    message: str
    workspace: str
    deployment: DeploymentRefDocument
    version: VersionRefDocument
    created_at: Time
    completed_at: Time | None
    expires_at: Time
    summary: SummaryDocument | None
    targets: list[TargetDocument]


class EndDocument(Document):
    """The last event of a plan's stream."""

    id: Id
    status: PlanStatus
    reason: PlanReason | None
    summary: SummaryDocument | None


class GithubDocument(Document):
    owner: str
    repo: str
    sha: str
    pr_number: int | None


class PlanEntryDocument(Document):
    """A plan in a list."""

    id: Id
    status: PlanStatus
    reason: PlanReason | None
    version: VersionRefDocument
    github: GithubDocument | None
    created_at: Time
    completed_at: Time | None
    expires_at: Time


class PlanPageDocument(Document):
    """Newest first; `next` is the `cursor` of the next page, null on the last."""

    plans: list[PlanEntryDocument]
    next: str | None


class ChangeTextsDocument(Document):
    """One object's change with both its sides, redacted."""

    kind: str
    name: str
    namespace: str
    api_version: str
    action: Action
    before: str
    after: str
    diff: str


class ResultTextsDocument(Document):
    """One kind with its two texts, redacted."""

    id: Id
    kind: str
    status: Status
    has_changes: bool | None
    content_hash: str
    current: str
    proposed: str
    diff: str | None
    resources: list[ChangeTextsDocument]


class WorkspaceDocument(Document):
    id: Id
    slug: str
    name: str


class ItemDocument(Document):
    """An item as an inventory file has it, with its id."""

    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="allow")

    id: Id


class ItemChangeDocument(Document):
    """`fields`: the keys that differ, one level into maps; never a value."""

    kind: InventoryKind
    ref: str
    action: ItemAction
    fields: list[str]


class InventoryChangesDocument(Document):
    """What applying the inventory changes, or would change."""

    dry_run: bool
    changes: list[ItemChangeDocument]
    warnings: list[PlaceDocument]


class HealthDocument(Document):
    status: Literal["ok"]
