"""A report to its JSON document."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import Any

import orjson

from foretell.domain.override import OverrideTerms
from foretell.domain.result import ResourceChange
from foretell.domain.rollup import (
    AgentRollup,
    KindState,
    TargetRollup,
)
from foretell.domain.summary import PlanReport, Summary
from foretell.domain.verdict import Verdict

_HALF = re.compile("[\ud800-\udfff]")


class DiffMode(StrEnum):
    """How much of the diffs a caller wants (`?diff=`): `resources` leaves out the joined texts."""

    FULL = "full"
    RESOURCES = "resources"
    NONE = "none"


def encode_report(report: PlanReport, mode: DiffMode = DiffMode.FULL) -> bytes:
    """The document as UTF-8 JSON, byte for byte the same for the same report."""
    return encode(report_document(report, mode))


def encode(document: Any) -> bytes:
    """Plain values as UTF-8 JSON, whatever text is in them.

    Half a character (a surrogate, from a program that prints odd bytes) becomes U+FFFD.
    """
    try:
        return orjson.dumps(document)
    except TypeError:
        # The quick encoder refuses such text, and integers over 64 bits: both may come from
        # anywhere, and a plan that can't be written would never complete.
        text = json.dumps(_storable(document), ensure_ascii=False, separators=(",", ":"))
        return text.encode()


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_storable(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def report_document(report: PlanReport, mode: DiffMode = DiffMode.FULL) -> dict[str, Any]:
    """The document as plain values; `summary` is null and `targets` empty until fanned out."""
    return {
        "id": report.id,
        "status": report.status.value,
        "reason": report.reason.value if report.reason else None,
        "message": report.message,
        "workspace": report.workspace,
        "deployment": {
            "id": report.deployment_id,
            "slug": report.deployment_slug,
            "name": report.deployment_name,
        },
        "version": {"tag": report.tag},
        "createdAt": _time(report.created_at),
        "completedAt": _time(report.completed_at),
        "expiresAt": _time(report.expires_at),
        "summary": summary_document(report.summary) if report.summary else None,
        "targets": [target_document(target, mode) for target in report.targets],
    }


def _time(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def summary_document(summary: Summary) -> dict[str, Any]:
    """The summary's counts, as every report shows them."""
    counts = summary.resource_changes
    return {
        "total": summary.total,
        "changed": summary.changed,
        "unchanged": summary.unchanged,
        "unknown": summary.unknown,
        "errored": summary.errored,
        "unsupported": summary.unsupported,
        "computing": summary.computing,
        "resourceChanges": {
            "add": counts.add,
            "modify": counts.modify,
            "delete": counts.delete,
            "kept": counts.kept,
        },
        "lineChanges": {"additions": summary.additions, "deletions": summary.deletions},
        "violations": summary.violations,
        "blocking": summary.blocking,
        "overridden": summary.overridden,
        "validationErrors": summary.validation_errors,
        "suppressed": summary.suppressed,
        "suggestedTargetSelector": summary.suggested_target_selector,
    }


def target_document(row: TargetRollup, mode: DiffMode = DiffMode.FULL) -> dict[str, Any]:
    """One target, as the document and the event stream show it."""
    target = row.target
    return {
        "id": target.id,
        "environmentId": target.environment_id,
        "environmentName": target.environment_name,
        "resourceId": target.resource_id,
        "resourceName": target.resource_name,
        "resourceIdentifier": target.resource_identifier,
        "change": target.change or None,
        "status": row.status.value,
        "reason": row.reason or None,
        "message": row.message or None,
        "hasChanges": row.has_changes,
        "diff": _target_diff(row, mode),
        "agents": [_agent(agent, mode) for agent in row.agents],
    }


def _target_diff(row: TargetRollup, mode: DiffMode) -> dict[str, Any] | None:
    """Null where there is nothing to show: no change, or an agent that only compares hashes."""
    if mode is DiffMode.NONE or (row.diff is None and not row.resources):
        return None
    changes = [
        change_document(one) | {"resultId": result.id}
        for result in row.results
        for one in result.resources
    ]
    return {"raw": row.diff if mode is DiffMode.FULL else None, "resources": changes}


def change_document(change: ResourceChange, *, full: bool = False) -> dict[str, Any]:
    """One object's change, the same wherever it is shown; `full` adds the text of both sides."""
    document = {
        "kind": change.kind,
        "name": change.name,
        "namespace": change.namespace,
        "apiVersion": change.api_version,
        "action": change.action.value,
        "additions": change.additions,
        "deletions": change.deletions,
        "diff": change.diff,
        "tags": list(change.tags),
        "resultKind": change.result_kind,
    }
    return document | {"before": change.before, "after": change.after} if full else document


def _agent(row: AgentRollup, mode: DiffMode) -> dict[str, Any]:
    invocation = row.invocation
    agent = invocation.agent
    return {
        "id": invocation.id,
        "agent": {"id": agent.id, "name": agent.name, "type": agent.type},
        "status": row.status.value,
        "reason": invocation.reason or None,
        "message": invocation.message or None,
        "hasChanges": row.has_changes,
        "phases": [{"name": one.name, "seconds": one.seconds} for one in invocation.phases],
        "results": [_result(result, mode) for result in invocation.results],
        "validations": [_verdict(verdict) for verdict in invocation.verdicts],
    }


def _result(result: KindState, mode: DiffMode) -> dict[str, Any]:
    return {
        "id": result.id,
        "kind": result.kind,
        "status": result.status.value,
        "hasChanges": result.has_changes,
        "contentHash": result.content_hash,
        "planKeyId": result.plan_key_id or None,
        "additions": result.additions,
        "deletions": result.deletions,
        "suppressed": result.suppressed,
        "diff": result.diff if mode is DiffMode.FULL else None,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "policy": verdict.policy,
        "rule": verdict.rule,
        "status": verdict.status.value,
        "mandatory": verdict.mandatory,
        "denials": [{"message": d.message, "details": dict(d.details)} for d in verdict.denials],
        "warnings": list(verdict.warnings),
        "message": verdict.message or None,
        "blocks": verdict.blocks,
        "overridable": _terms(verdict.terms),
        "overriddenBy": list(verdict.overridden_by),
        "overrides": [
            {"by": one.by, "reason": one.reason, "at": _time(one.at)} for one in verdict.overrides
        ],
    }


def _terms(terms: OverrideTerms) -> dict[str, Any] | None:
    return {"role": terms.role, "count": terms.count} if terms.role else None
