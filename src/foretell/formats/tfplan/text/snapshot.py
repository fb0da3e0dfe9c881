"""A changed object as it is and as it would be: two texts whose line diff is the change."""

from collections.abc import Iterator

from foretell.formats.redact.redactor import ABSENT
from foretell.formats.tfplan.plan import FORGET_AND_CREATE, Change
from foretell.formats.tfplan.text.body import known_later
from foretell.formats.tfplan.text.literal import INDENT, key, lines, visible
from foretell.formats.tfplan.text.page import import_source
from foretell.formats.tfplan.text.sides import Attribute, attributes


def sides(change: Change) -> tuple[str, str]:
    """(before, after) of a redacted change, "" for a side on which there is no object.

    Notes of the plan (forces replacement, formatting only, the source of a move or import) stand
    in the text after, so that a change of which no value can be shown still makes a line differ.
    """
    if change.mode == "output":
        return _output_sides(change)
    if change.actions == ("forget",):
        return _forgotten(change)
    found = attributes(change)
    if change.is_no_op:
        return _still_sides(change)
    fold = change.is_replace or "create" in change.actions
    new = [] if change.actions == ("delete",) else [*_text(change, found, fold=fold)]
    is_new = change.before is None or change.actions in FORGET_AND_CREATE
    old = [] if is_new else [*_old_text(change, found, fold=fold)]
    return _joined(old), _joined(new)


def title(change: Change) -> str:
    """The address, with the key of a deposed object."""
    deposed = f" (deposed object {visible(change.deposed)})" if change.deposed else ""
    return visible(change.address) + deposed


def _forgotten(change: Change) -> tuple[str, str]:
    return (
        f"# {title(change)}\n",
        f"# {title(change)} removed from state, object is kept\n",
    )


def _still_sides(change: Change) -> tuple[str, str]:
    old = f"# {visible(change.previous_address)}\n" if change.is_moved else ""
    source = f" imported from {import_source(change)}" if change.is_imported else ""
    return old, f"# {title(change)}{source}\n"


def _old_text(change: Change, found: list[Attribute], *, fold: bool) -> Iterator[str]:
    yield f"# {visible(change.previous_address) if change.is_moved else title(change)}"
    yield _opening(change)
    for item in found:
        if not (fold and item.is_computed_only) and not _missing(item.before):
            yield from _member(item, item.before, ())
    yield "}"


def _text(change: Change, found: list[Attribute], *, fold: bool) -> Iterator[str]:
    source = f" imported from {import_source(change)}" if change.is_imported else ""
    yield f"# {title(change)}{source}"
    yield _opening(change)
    folded = [item.name for item in found if fold and item.name and item.is_computed_only]
    for item in found:
        if item.name not in folded and not (_missing(item.after) and not item.notes):
            yield from _member(item, item.after, item.notes)
    if folded:
        yield f"{INDENT}# {known_later(folded)}"
    yield "}"


def _opening(change: Change) -> str:
    kind = "data" if change.mode == "data" else "resource"
    return f'{kind} "{visible(change.type)}" "{visible(change.name)}" {{'


def _member(item: Attribute, value: object, notes: tuple[str, ...]) -> Iterator[str]:
    shown = None if value is ABSENT else value
    first, *rest = lines(shown, f"{key(item.name)} = " if item.name else "")
    yield INDENT + first + (f" # {', '.join(notes)}" if notes else "")
    yield from (INDENT + line for line in rest)


def _output_sides(change: Change) -> tuple[str, str]:
    (item,) = attributes(change)
    old = [] if change.actions == ("create",) else [*lines(item.before, f"{change.name} = ")]
    new = [] if change.actions == ("delete",) else [*lines(item.after, f"{change.name} = ")]
    if new and item.notes:
        new[0] += f" # {', '.join(item.notes)}"
    return _joined(map(visible, old)), _joined(map(visible, new))


def _missing(value: object) -> bool:
    return value is None or value is ABSENT


def _joined(found: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in found)
