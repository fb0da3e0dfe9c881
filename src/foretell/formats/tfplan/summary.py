"""A plan's verdict, counts and changes as JSON, for `tfplan show --output json` and reports."""

from typing import Any

from foretell.formats.tfplan.plan import Change, Plan
from foretell.formats.tfplan.text.order import by_severity
from foretell.formats.tfplan.text.tags import tags_of
from foretell.formats.tfplan.verdict import Verdict


def summary(plan: Plan, verdict: Verdict) -> dict[str, Any]:
    """Of a redacted plan: addresses, words and numbers; destructive changes first."""
    changes = sorted((change for change in plan.changes if change.acts), key=by_severity)
    outputs = sorted((item for item in plan.outputs if not item.is_no_op), key=by_severity)
    return {
        "verdict": verdict.word.value,
        "hasChanges": verdict.has_changes,
        "destructive": verdict.destructive,
        "incompleteBecause": list(verdict.incomplete_because),
        "counts": verdict.counts.as_json(),
        "changes": [_change(change) for change in (*changes, *outputs)],
        "deferred": [
            {"address": item.change.address, "reason": item.reason} for item in plan.deferred
        ],
        "actions": [item.address for item in plan.invocations],
        "checks": [
            {"address": item.address, "status": item.status, "messages": list(item.messages)}
            for item in plan.checks
        ],
        "driftCount": verdict.drift_count,
        "notes": list(verdict.notes),
        "formatVersion": plan.format_version,
        "programVersion": plan.program_version,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "address": change.address,
        "deposed": change.deposed or None,
        "actions": list(change.actions),
        "reason": change.reason or None,
        "tags": list(tags_of(change)),
    }
