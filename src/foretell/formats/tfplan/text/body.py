"""The signed lines of one change: what is added, removed and altered, element by element."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

from foretell.formats.exact_json import embedded, same
from foretell.formats.redact.align import align
from foretell.formats.redact.redactor import ABSENT
from foretell.formats.tfplan.text.literal import (
    UNKNOWN,
    is_multiline,
    key,
    lines,
    scalar,
    visible,
)
from foretell.formats.tfplan.text.sides import FORCES, Attribute, Path, is_reformatted

_LISTED: Final = 5
_MAX_LINES: Final = 2000
"""Longer texts are not compared line by line: it takes time in the square of their length."""


def body(attributes: list[Attribute], *, fold: bool) -> Iterator[str]:
    """The changed attributes; unchanged ones as a count, computed-only ones folded on demand."""
    unchanged = sum(not attribute.differs for attribute in attributes)
    folded = [item.name for item in attributes if fold and item.name and item.is_computed_only]
    for attribute in attributes:
        if attribute.differs and attribute.name not in folded:
            yield from attribute_lines(attribute)
    if folded:
        yield f"  # {known_later(folded)}"
    if unchanged:
        yield f"  # ({plural(unchanged, 'unchanged attribute')} hidden)"


def known_later(names: list[str]) -> str:
    """`40 known after apply: a, b, c, d, e and 35 more`."""
    shown = ", ".join(key(name) for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{len(names)} known after apply: {shown}{more}"


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def attribute_lines(attribute: Attribute) -> Iterator[str]:
    """The attribute's lines; its notes stand at the end of the first."""
    prefix = f"{key(attribute.name)} = " if attribute.name else ""
    first, *rest = _compared(prefix, attribute.before, attribute.after, attribute.forced) or [
        f"~ {prefix}{scalar_or_size(attribute.after)}"
    ]
    inside = any(line.endswith(f"# {FORCES}") for line in rest)
    notes = [note for note in attribute.notes if not (note == FORCES and inside)]
    yield first + (f" # {', '.join(notes)}" if notes else "")
    yield from rest


def _compared(prefix: str, before: Any, after: Any, forced: tuple[Path, ...]) -> list[str]:
    if before is ABSENT or before is None:
        return [] if after is ABSENT or after is None else _signed("+", prefix, after)
    if after is ABSENT or after is None:
        return _signed("-", prefix, before)
    match before, after:
        case dict(), dict():
            return _nested(prefix, "{", _members(before, after, forced), "}")
        case list(), list():
            return _nested(prefix, "[", _elements(before, after, forced), "]")
        case str(), str() if before is not UNKNOWN and after is not UNKNOWN:
            return _texts(prefix, before, after)
        case _:
            if not isinstance(after, str) and same(before, after):
                return []
            return [f"~ {prefix}{scalar_or_size(before)} -> {scalar_or_size(after)}"]


def _texts(prefix: str, before: str, after: str) -> list[str]:
    old, new = embedded(before), embedded(after)
    if before == after:
        return []
    if old is not None and new is not None:
        if is_reformatted(before, after):
            return [f"~ {prefix}jsonencode(…)"]
        return [*_rewrapped(_compared(f"{prefix}jsonencode(", old, new, ()))]
    if is_multiline(before) and is_multiline(after):
        return [f"~ {prefix}<<-EOT", *_line_changes(before, after), "  EOT"]
    return [f"~ {prefix}{scalar(before)} -> {scalar(after)}"]


def _rewrapped(inner: list[str]) -> Iterator[str]:
    *head, last = inner
    yield from (*head, f"{last})")


def scalar_or_size(value: Any) -> str:
    match value:
        case dict() if value:
            return f"{{ {plural(len(value), 'member')} }}"
        case list() if value:
            return f"[ {plural(len(value), 'element')} ]"
        case dict() | list():
            return "{}" if isinstance(value, dict) else "[]"
        case _:
            return "null" if value is ABSENT else scalar(value)


def _signed(sign: str, prefix: str, value: Any) -> list[str]:
    return [f"{_margin(line)}{sign} {line.lstrip(' ')}" for line in lines(value, prefix)]


def _margin(line: str) -> str:
    """The sign stands beside what it is about, however deep."""
    return line[: len(line) - len(line.lstrip(" "))] * 2


def _nested(prefix: str, opening: str, inner: list[str], closing: str) -> list[str]:
    if not inner:
        return []
    return [f"~ {prefix}{opening}", *(f"    {line}" for line in inner), f"  {closing}"]


def _members(before: dict[str, Any], after: dict[str, Any], forced: tuple[Path, ...]) -> list[str]:
    found: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        found += _member(
            f"{key(name)} = ", before.get(name, ABSENT), after.get(name, ABSENT), name, forced
        )
    return found


def _member(prefix: str, before: Any, after: Any, step: Any, forced: tuple[Path, ...]) -> list[str]:
    below = tuple(path[1:] for path in forced if path[:1] == (step,))
    shown = _compared(prefix, before, after, below)
    if shown and () in below:
        shown[0] += f" # {FORCES}"
    return shown


def _elements(before: list[Any], after: list[Any], forced: tuple[Path, ...]) -> list[str]:
    found: list[str] = []
    still = 0
    pairs = align(before, after)
    for i, j in pairs:
        old = ABSENT if i is None else before[i]
        new = ABSENT if j is None else after[j]
        shown = _member("", old, new, i if j is None else j, forced)
        still += not shown
        found += shown
    if found and still:
        found.append(f"  # ({plural(still, 'unchanged element')} hidden)")
    kept = [i for i, j in pairs if i is not None and j is not None]
    if kept != sorted(kept):
        found.append(f"  # order of {len(kept)} elements changes")
    return found


def _line_changes(before: str, after: str) -> Iterator[str]:
    old, new = before.rstrip("\n").split("\n"), after.rstrip("\n").split("\n")
    if max(len(old), len(new)) > _MAX_LINES:
        yield f"    ~ ({len(old)} lines -> {len(new)} lines)"
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield f"      # ({plural(i2 - i1, 'unchanged line')} hidden)"
            continue
        yield from (f"    - {visible(line)}" for line in old[i1:i2])
        yield from (f"    + {visible(line)}" for line in new[j1:j2])
