"""Before and after of a change, attribute by attribute, ready to be shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from foretell.formats.exact_json import embedded, same
from foretell.formats.redact.marks import normalised
from foretell.formats.redact.redactor import ABSENT
from foretell.formats.tfplan.plan import Change
from foretell.formats.tfplan.text.literal import UNKNOWN

Path = tuple[Any, ...]

FORCES: Final = "forces replacement"
SENSITIVITY: Final = "sensitivity changes"
FORMATTING: Final = "formatting changes only"


@dataclass(frozen=True, slots=True, repr=False)
class Attribute:
    """One attribute of both sides; `ABSENT` where a side has none. `notes` are for its line."""

    name: str
    before: Any
    after: Any
    notes: tuple[str, ...]
    forced: tuple[Path, ...] = ()

    @property
    def differs(self) -> bool:
        return bool(self.notes) or not _equal(self.before, self.after)

    @property
    def is_computed_only(self) -> bool:
        """All that is known is that it will be known, and it is not why the object is replaced."""
        return self.after is UNKNOWN and not self.notes


def attributes(change: Change) -> list[Attribute]:
    """The attributes of a change by name, without those that neither side has.

    A value that is no object (an output, a wholly hidden resource) is one attribute named "".
    """
    after = overlaid(change.after, change.after_unknown)
    before = change.before
    if not (isinstance(before, dict | None) and isinstance(after, dict | None)):
        return [_attribute(change, "", before, after)]
    if change.mode == "output":
        return [_attribute(change, "", before, after)]
    old, new = before or {}, after or {}
    return [
        _attribute(change, name, old.get(name, ABSENT), new.get(name, ABSENT))
        for name in sorted(old.keys() | new.keys())
        if not (_nothing(old.get(name)) and _nothing(new.get(name)))
    ]


def overlaid(after: Any, unknown: Any) -> Any:
    """The new value with `UNKNOWN` where it will be known after apply."""
    if unknown is True:
        return UNKNOWN
    match after, unknown:
        case ((dict() | None), dict()) if any(normalised(mark) for mark in unknown.values()):
            known = after or {}
            marked = {name: overlaid(known.get(name), mark) for name, mark in unknown.items()}
            return known | {name: value for name, value in marked.items() if value is not None}
        case list(), list():
            longer = max(len(after), len(unknown))
            return [overlaid(_nth(after, index), _nth(unknown, index)) for index in range(longer)]
        case _:
            return after


def _nth(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else None


def _attribute(change: Change, name: str, before: Any, after: Any) -> Attribute:
    forced = tuple(path[1:] for path in change.replace_paths if path[:1] == (name,))
    return Attribute(name, before, after, tuple(_notes(change, name, before, after)), forced)


def _notes(change: Change, name: str, before: Any, after: Any) -> Iterator[str]:
    if any(path[:1] == (name,) for path in change.replace_paths):
        yield FORCES
    if change.before is not None and change.after is not None:
        marks = _mark(change.before_sensitive, name), _mark(change.after_sensitive, name)
        if normalised(marks[0]) != normalised(marks[1]):
            yield SENSITIVITY
    if is_reformatted(before, after):
        yield FORMATTING


def _mark(marks: Any, name: str) -> Any:
    return marks.get(name) if isinstance(marks, dict) and name else marks


def is_reformatted(before: Any, after: Any) -> bool:
    """Two texts of one JSON value: key order or white space changes, nothing else."""
    if not (isinstance(before, str) and isinstance(after, str)) or before == after:
        return False
    old, new = embedded(before), embedded(after)
    return old is not None and new is not None and same(old, new)


def _nothing(value: Any) -> bool:
    return value is None or value is ABSENT


def _equal(before: Any, after: Any) -> bool:
    if before is ABSENT or after is ABSENT or before is UNKNOWN or after is UNKNOWN:
        return before is after
    return same(before, after)
