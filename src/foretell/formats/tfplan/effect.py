"""What a change does, as canonical JSON: equal text is equal effect.

Source: terraformplan "Canonical effect JSON". Key orders are fixed by that scheme; a leaf is
written out by hand because its order is not the sorted one.
"""

from collections.abc import Iterator
from typing import Any, Final

from foretell.formats.exact_json import canonical
from foretell.formats.redact.marks import normalised
from foretell.formats.tfplan.plan import Change

Path = tuple[str | int, ...]
_MISSING: Final = object()
_WHOLE: Final = frozenset({("create",), ("read",)})
_NOTHING: Final = frozenset({("delete",), ("forget",)})


def effect(change: Change) -> str:
    """The effect of one change: what it makes of what, moves and imports included."""
    members = [
        *_member("importing", change.importing),
        *(_member("previous_address", change.previous_address or None)),
    ]
    if change.actions in _WHOLE:
        members += _created(change)
    elif change.actions not in _NOTHING:
        leaves = ",".join(leaf for _, leaf in leaves_of(change))
        members += [f'"paths":[{leaves}]'] if leaves else []
    return "{" + ",".join(members) + "}"


def _created(change: Change) -> list[str]:
    return [
        *_member("after", change.after),
        *_member("after_unknown", normalised(change.after_unknown)),
        *_member("after_sensitive", normalised(change.after_sensitive)),
    ]


def _member(name: str, value: Any) -> list[str]:
    return [] if value is None else [f'"{name}":{canonical(value)}']


def leaves_of(change: Change) -> Iterator[tuple[Path, str]]:
    """(path, canonical leaf) of everything that differs between the sides of a change."""
    marks = change.before_sensitive, change.after_sensitive
    yield from _walk((), change.before, change.after, change.after_unknown, marks)


def _walk(
    path: Path, before: Any, after: Any, unknown: Any, sensitive: tuple[Any, Any]
) -> Iterator[tuple[Path, str]]:
    if unknown is True:
        # The old value is not bound: the new one may be anything.
        yield path, _leaf(path, None, None, True, sensitive)
        return
    steps = _steps(before, after, unknown)
    if steps is None:
        yield from _compared(path, before, after, unknown, sensitive)
        return
    for step in steps:
        yield from _walk(
            (*path, step),
            _at(before, step),
            _at(after, step),
            _mark_at(unknown, step),
            (_mark_at(sensitive[0], step), _mark_at(sensitive[1], step)),
        )


def _steps(before: Any, after: Any, unknown: Any) -> list[str] | range | None:
    match before, after:
        case dict(), dict() if before or after:
            extra = unknown if isinstance(unknown, dict) else {}
            return sorted(before.keys() | after.keys() | extra.keys())
        case list(), list() if before or after:
            extra_length = len(unknown) if isinstance(unknown, list) else 0
            return range(max(len(before), len(after), extra_length))
        case _:
            return None


def _compared(
    path: Path, before: Any, after: Any, unknown: Any, sensitive: tuple[Any, Any]
) -> Iterator[tuple[Path, str]]:
    unknown = normalised(unknown)
    presence_differs = (before is _MISSING) != (after is _MISSING)
    if (
        unknown is not None
        or presence_differs
        or _differ(before, after)
        or normalised(sensitive[0]) != normalised(sensitive[1])
    ):
        yield path, _leaf(path, before, after, unknown, sensitive)


def _differ(before: Any, after: Any) -> bool:
    """By text: `1` and `1.0` are two values here."""
    if isinstance(before, str) and isinstance(after, str):
        return before != after
    return _written(before) != _written(after)


def _written(value: Any) -> str:
    return "null" if value is _MISSING else canonical(value)


def _leaf(path: Path, before: Any, after: Any, unknown: Any, sensitive: tuple[Any, Any]) -> str:
    members = [
        f'"path":{canonical(list(path))}',
        f'"before":{_written(before)}',
        f'"after":{_written(after)}',
        *(['"before_absent":true'] if before is _MISSING else []),
        *(['"after_absent":true'] if after is _MISSING else []),
        *_member("unknown", unknown),
        *_member("before_sensitive", normalised(sensitive[0])),
        *_member("after_sensitive", normalised(sensitive[1])),
    ]
    return "{" + ",".join(members) + "}"


def _at(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step, _MISSING)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return _MISSING


def _mark_at(mark: Any, step: str | int) -> Any:
    """A boolean marker applies to everything below it."""
    if isinstance(mark, bool):
        return mark
    found = _at(mark, step)
    return None if found is _MISSING else found
