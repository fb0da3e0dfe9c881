"""Sensitivity marks: trees of `true`, member by member, that shadow a value.

Shapes are those of plan JSON (`before_sensitive`, `sensitive_values`): `true` hides everything
below, an object or list marks members, anything else marks nothing. "*" stands for every member;
marks made from schemas and from path rules use it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Mark = Any
Marks = tuple[Mark, ...]
"""Several trees over one value; what any of them hides is hidden."""

EVERY = "*"


def hidden(marks: Marks) -> bool:
    """Whether everything here and below is hidden."""
    return True in marks


def united(one: Marks, other: Marks) -> Marks:
    """Both, each tree once: most often the two sides are marked alike."""
    return (*one, *(mark for mark in other if mark not in one)) if one and other else one or other


def below(marks: Marks, step: str | int) -> Marks:
    """The marks of one member; only those that mark anything are kept."""
    if not marks:
        return marks
    if len(marks) == 1 and isinstance(marks[0], dict) and EVERY not in marks[0]:
        inner = marks[0].get(step)  # nearly all there is: one provider's own marks
        return (inner,) if inner else ()
    found = [inner for mark in marks if (inner := _member(mark, step))]
    found += [mark[EVERY] for mark in marks if isinstance(mark, dict) and EVERY in mark]
    return tuple(found)


def _member(mark: Mark, step: str | int) -> Mark:
    if isinstance(mark, dict):
        return mark.get(step) if isinstance(step, str) and step != EVERY else None
    if isinstance(mark, list):
        return mark[step] if isinstance(step, int) and step < len(mark) else None
    return True if mark is True else None


def normalised(mark: Any) -> Any:
    """A marker without what marks nothing: spellings of "not marked" are one.

    Objects keep only the members that mark; lists keep their length, for position's sake.
    """
    match mark:
        case True:
            return True
        case dict():
            kept = {key: inner for key, value in mark.items() if (inner := normalised(value))}
            return kept or None
        case list():
            items = [normalised(item) for item in mark]
            return items if any(item is not None for item in items) else None
        case _:
            return None


def from_schema(block: Mapping[str, Any]) -> Mark:
    """Marks of a block of `terraform providers schema -json` (`{attributes, block_types}`)."""
    marks = {
        name: mark
        for name, attribute in _members(block, "attributes")
        if (mark := _attribute_mark(attribute))
    }
    for name, nested in _members(block, "block_types"):
        inner = from_schema(nested.get("block") or {})
        if inner:
            marks[name] = inner if nested.get("nesting_mode") == "single" else {EVERY: inner}
    return marks


def _attribute_mark(attribute: Mapping[str, Any]) -> Mark:
    if attribute.get("sensitive") is True:
        return True
    nested = attribute.get("nested_type")
    if not isinstance(nested, Mapping):
        return None
    inner = from_schema(nested)
    return {EVERY: inner} if inner and nested.get("nesting_mode") != "single" else inner


def _members(block: Mapping[str, Any], key: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    members = block.get(key)
    if isinstance(members, Mapping):
        yield from ((k, v) for k, v in members.items() if isinstance(v, Mapping))


def from_path(path: str) -> tuple[str, Mark]:
    """A path rule `TYPE.attribute.*.member` as (resource type, mark); TYPE may be `*`.

    List elements are one `*`; `env[*].value` and `env.*.value` are the same.
    """
    kind, *steps = path.replace("[", ".").replace("]", "").split(".")
    mark: Mark = True
    for step in reversed(steps):
        mark = {step: mark}
    return kind, mark
