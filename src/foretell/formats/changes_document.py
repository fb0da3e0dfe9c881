"""A comparison of manifests as people and programs read it: its JSON, its counts, its notes.

`foretell diff` shows it; the shape of one change is that of every plan.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from foretell.domain.result import KEPT, Action, ResourceChange
from foretell.domain.summary import ResourceCounts, count_changes, count_words
from foretell.formats.document import change_document
from foretell.formats.kubernetes import Comparison

ACTION_WORDS = {
    Action.ADD: "added",
    Action.MODIFY: "modified",
    Action.DELETE: "deleted",
    Action.REPLACE: "replaced",
    Action.NO_OP: "no change",
}


def changes_document(comparison: Comparison, *, full: bool = False) -> dict[str, Any]:
    """`changes`, `summary` and `warnings`; with `full` each change has its `before` and `after`.

    Secret values are marks in all of them. Changes are in the order of group, kind, namespace and
    name; counts are those of a plan (a kept object is no delete, a no-op counts nowhere).
    """
    counts = count_changes(comparison.changes)
    additions, deletions = line_counts(comparison)
    return {
        "changes": [change_document(change, full=full) for change in comparison.changes],
        "summary": {
            "add": counts.add,
            "modify": counts.modify,
            "delete": counts.delete,
            "kept": counts.kept,
            "additions": additions,
            "deletions": deletions,
            "suppressed": comparison.suppressed,
        },
        "warnings": notes(comparison),
    }


def line_counts(comparison: Comparison) -> tuple[int, int]:
    """Lines added and removed over all changes."""
    changes = comparison.changes
    return sum(one.additions for one in changes), sum(one.deletions for one in changes)


def headline(comparison: Comparison) -> str:
    """`1 added, 2 modified (+12 -3 lines), 1 object with only suppressed changes`."""
    counts = count_changes(comparison.changes)
    parts = [_counted(comparison, counts)] if counts != ResourceCounts() else []
    if comparison.suppressed:
        noun = "object" if comparison.suppressed == 1 else "objects"
        parts.append(f"{comparison.suppressed} {noun} with only suppressed changes")
    return ", ".join(parts) or "No changes"


def _counted(comparison: Comparison, counts: ResourceCounts) -> str:
    additions, deletions = line_counts(comparison)
    return f"{count_words(counts)} (+{additions} -{deletions} lines)"


def notes(comparison: Comparison) -> list[str]:
    """What a reader must not miss, the worst first, then the comparison's own warnings."""
    found = []
    if comparison.deletes_everything:
        found.append("deletes everything: no object of the current side is left")
    elif comparison.empty:
        found.append("renders no objects: both sides are empty")
    elif comparison.changes and not comparison.current:
        found.append("everything is new: the current side has no object")
    if comparison.masked:
        noun = "value was" if comparison.masked == 1 else "values were"
        found.append(f"{comparison.masked} {noun} masked by name")
    return [*found, *comparison.warnings]


def labelled(changes: Sequence[ResourceChange]) -> list[tuple[str, ResourceChange]]:
    """Each change with its name for people, as the head of its diff says.

    `Deployment/payments/payment-api`; with its apiVersion where two groups have the same.
    """
    times = Counter(change.title for change in changes)
    return [
        (one.title + (f" ({one.api_version})" if times[one.title] > 1 else ""), one)
        for one in changes
    ]


def action_words(change: ResourceChange) -> str:
    """`deleted`, but `removed, kept in the cluster` for what stays there as an orphan, and what
    was put aside for an object without another change."""
    if change.action is Action.DELETE and KEPT in change.tags:
        return "removed, kept in the cluster"
    if change.action is Action.NO_OP and "suppressed" in change.tags:
        return "only suppressed changes"
    return ACTION_WORDS[change.action]
