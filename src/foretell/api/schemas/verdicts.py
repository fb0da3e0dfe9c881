"""Answers about rules: what they said, and who answers for it. Written as `documents` are."""

from typing import Any

from pydantic import ConfigDict

from foretell.api.schemas.document import Document, Id, Time
from foretell.domain.verdict import VerdictStatus


class DenialDocument(Document):
    message: str
    details: dict[str, Any]


class OverrideTermsDocument(Document):
    """How many distinct people with which role may override a denial."""

    role: str
    count: int


class OverrideDocument(Document):
    """One person's word."""

    by: str
    reason: str
    at: Time


class VerdictDocument(Document):
    """`blocks`: it fails the check. `overriddenBy` is empty while too few people overrode."""

    policy: str
    rule: str
    status: VerdictStatus
    mandatory: bool
    denials: list[DenialDocument]
    warnings: list[str]
    message: str | None
    blocks: bool
    overridable: OverrideTermsDocument | None
    overridden_by: list[str]
    overrides: list[OverrideDocument]


class PolicyInputDocument(Document):
    """A key for each kind beside these; a kind has `current proposed has_changes changes`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    agent_type: str
    deployment: dict[str, Any]
    environment: dict[str, Any]
    resource: dict[str, Any]
    proposed_version: dict[str, Any] | None
    current_version: dict[str, Any] | None


class OverriddenDocument(Document):
    """An override as it was recorded: `given` of `needed` people overrode by now."""

    id: Id
    policy: str
    rule: str
    target_id: Id | None
    by: str
    reason: str
    at: Time
    given: int
    needed: int
    blocks: bool


class OverrideEntryDocument(Document):
    """An entry of the audit; it outlives the plan, so it tells what was denied where."""

    id: Id
    deployment_id: Id
    plan_id: Id
    target_id: Id | None
    policy: str
    rule: str
    by: str
    token_id: Id
    reason: str
    at: Time
    subject: dict[str, Any]


class OverridePageDocument(Document):
    """Newest first; `next` is the `cursor` of the next page, null on the last."""

    overrides: list[OverrideEntryDocument]
    next: str | None
