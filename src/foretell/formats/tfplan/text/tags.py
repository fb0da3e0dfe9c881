"""What is worth knowing of a change besides its actions, in a few words each."""

from collections.abc import Iterator

from foretell.formats.tfplan.plan import Change
from foretell.formats.tfplan.text.literal import visible
from foretell.formats.tfplan.text.page import import_source
from foretell.formats.tfplan.text.sides import FORMATTING, SENSITIVITY, Attribute, attributes


def tags_of(change: Change) -> tuple[str, ...]:
    """The tags of a redacted change, in a fixed order."""
    return (*_of_actions(change), *_of_values(change))


def _of_actions(change: Change) -> Iterator[str]:
    if change.mode == "output":
        yield f"output {'+'.join(change.actions)}"
    elif not change.is_known:
        yield f"unknown action: {visible('+'.join(change.actions) or 'none')}"
    if change.actions == ("create", "delete"):
        yield "create before destroy"
    if "forget" in change.actions:
        yield "forget"
    yield from _of_origin(change)


def _of_origin(change: Change) -> Iterator[str]:
    if change.is_moved:
        yield f"moved from {visible(change.previous_address)}"
    if change.is_imported:
        yield f"imported from {import_source(change)}"
    if change.deposed:
        yield "deposed"
    if change.reason:
        yield change.reason


def _of_values(change: Change) -> Iterator[str]:
    if change.actions != ("update",):
        return
    changed = [item for item in attributes(change) if item.differs]
    if changed and all(_only(item, SENSITIVITY) for item in changed):
        yield "sensitivity only"
    if changed and all(_only(item, FORMATTING) for item in changed):
        yield "formatting only"


def _only(item: Attribute, note: str) -> bool:
    """Whether the note tells all that changes about the attribute."""
    if note == SENSITIVITY:
        return item.notes == (note,) and item.before == item.after
    return item.notes == (note,)
