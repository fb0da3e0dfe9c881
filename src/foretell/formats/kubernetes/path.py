"""Steps into a value: found by pointer or by name, replaced or taken out of a copy."""

from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]
MISSING: Any = object()


def pointer_paths(value: Any, pointer: str) -> Iterator[Path]:
    """Where a JSON pointer (RFC 6901) leads; a step `*` leads to every member."""
    if pointer in ("", "/"):
        return
    steps = [
        step.replace("~1", "/").replace("~0", "~") for step in pointer.removeprefix("/").split("/")
    ]
    yield from _follow(value, steps, ())


def _follow(value: Any, steps: list[str], path: Path) -> Iterator[Path]:
    if not steps:
        yield path
        return
    step, rest = steps[0], steps[1:]
    for key, item in _members(value):
        if step == "*" or step == str(key):
            yield from _follow(item, rest, (*path, key))


def named_paths(value: Any, names: frozenset[str], path: Path = ()) -> Iterator[Path]:
    """Where a field has one of `names`, the outermost of nested ones."""
    for key, item in _members(value):
        if key in names:
            yield (*path, key)
        else:
            yield from named_paths(item, names, (*path, key))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def get(value: Any, path: Path) -> Any:
    """What is there, or MISSING."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def replaced(value: Any, changes: dict[Path, Any]) -> Any:
    """A copy with `changes` put in where something is already; MISSING takes it out."""
    ours: dict[str | int, dict[Path, Any]] = {}
    for path, new in changes.items():
        if not path:
            return new
        ours.setdefault(path[0], {})[path[1:]] = new
    made = [
        (key, replaced(item, ours[key]) if key in ours else item) for key, item in _members(value)
    ]
    kept = [(key, item) for key, item in made if item is not MISSING]
    if isinstance(value, dict):
        return dict(kept)
    return [item for _, item in kept] if isinstance(value, list) else value


def different(one: Any, other: Any, path: Path = ()) -> Iterator[Path]:
    """The innermost places where two values differ; lists of other lengths differ as a whole."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from different(one.get(key, MISSING), other.get(key, MISSING), (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from different(left, right, (*path, at))
    elif type(one) is not type(other) or one != other:
        yield path


def dotted(path: Path) -> str:
    """`spec.template.metadata.annotations[checksum/config]`, as people write a field."""
    text = ""
    for step in path:
        if isinstance(step, int) or not step.replace("_", "").replace("-", "").isalnum():
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
