"""A comparison as an agent's answer: the result of one kind, and what to tell people beside it."""

from collections.abc import Sequence
from dataclasses import replace

from foretell.domain.digest import Key, keyed_digest
from foretell.domain.result import Action, Kind, KindResult, ResourceChange
from foretell.formats.kubernetes.comparison import Comparison

SCHEME = "k1"
"""Scheme of the content hash: HMAC over the proposed objects, by identity, as Kubernetes reads."""
NEW_TARGET = "new target"
"""Tag of an add where nothing is known of what is there."""


def kind_result(kind: Kind, comparison: Comparison, key: Key, *, new: bool = False) -> KindResult:
    """`new`: nothing is known of what is there, so that every add is tagged `new target`.

    The content hash is of what is proposed, masked values included: keyed, as they may be short.
    """
    changes = tuple(_tagged(kind, change, new=new) for change in comparison.changes)
    return KindResult(
        kind=kind,
        current=comparison.current,
        proposed=comparison.proposed,
        has_changes=comparison.has_changes,
        content_hash=keyed_digest(SCHEME, key.secret, *comparison.objects),
        plan_key_id=key.id,
        diff="".join(change.diff for change in changes),
        additions=sum(change.additions for change in changes),
        deletions=sum(change.deletions for change in changes),
        resources=changes,
        suppressed=comparison.suppressed,
    )


def remarks(comparison: Comparison, renderer: str) -> Sequence[str]:
    """The comparison's warnings, and what is remarkable about it; `renderer` as in "the chart"."""
    found = list(comparison.warnings)
    if comparison.suppressed:
        found.append(f"{_counted(comparison.suppressed, 'object')} with only suppressed changes")
    if comparison.masked:
        found.append(f"{_counted(comparison.masked, 'value')} masked by name")
    if comparison.empty:
        found.append(f"{renderer} renders no object on either side")
    if comparison.deletes_everything:
        found.append(f"{renderer} renders no object any more: everything is deleted")
    return found


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _tagged(kind: Kind, change: ResourceChange, *, new: bool) -> ResourceChange:
    is_new = new and change.action is Action.ADD
    tags = (*change.tags, NEW_TARGET) if is_new else change.tags
    return replace(change, result_kind=kind, tags=tags)
