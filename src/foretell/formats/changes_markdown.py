"""A comparison of manifests as Markdown for a comment: well formed within the platform's limit."""

from collections.abc import Iterator, Sequence

from foretell.domain.result import ResourceChange
from foretell.formats.changes_document import action_words, headline, labelled, notes
from foretell.formats.kubernetes import Comparison
from foretell.formats.markdown import (
    COMMENT_LIMIT,
    Fold,
    code,
    destructive_first,
    fitted,
    inline,
)

ROWS_SHOWN = 200
NOTES_SHOWN = 20
"""So that the table and the notes leave room for diffs; what is left out is counted."""


def changes_comment(comparison: Comparison, limit: int = COMMENT_LIMIT) -> str:
    """At most `limit` characters: the counts and notes first, then a table, then whole diffs."""
    named = labelled(destructive_first(comparison.changes))
    head = [f"**{inline(headline(comparison))}**", *_notes(notes(comparison))]
    if named:
        head.append("\n".join(_table(named)))
    folds = [Fold(f"{name}: {action_words(one)}", one.diff) for name, one in named if one.diff]
    return fitted("\n\n".join(head), folds, limit)


def _notes(found: Sequence[str]) -> Iterator[str]:
    lines = [f"- {inline(note)}" for note in found[:NOTES_SHOWN]]
    if len(found) > NOTES_SHOWN:
        lines.append(f"- and {len(found) - NOTES_SHOWN} more warnings")
    if lines:
        yield "\n".join(lines)


def _table(named: Sequence[tuple[str, ResourceChange]]) -> Iterator[str]:
    yield "| Object | Change | Lines | Notes |"
    yield "| --- | --- | --- | --- |"
    for name, one in named[:ROWS_SHOWN]:
        tags = ", ".join(inline(tag) for tag in one.tags) or "—"
        lines = f"+{one.additions} -{one.deletions}"
        yield f"| {code(name)} | {action_words(one)} | {lines} | {tags} |"
    if len(named) > ROWS_SHOWN:
        yield f"| and {len(named) - ROWS_SHOWN} more | | | |"
