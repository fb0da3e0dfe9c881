"""What the ignore rules hide, and that it was hidden."""

from dataclasses import dataclass
from typing import Any

from foretell.formats.kubernetes.identity import Identity
from foretell.formats.kubernetes.options import IgnoreRule
from foretell.formats.kubernetes.path import (
    MISSING,
    Path,
    different,
    get,
    named_paths,
    pointer_paths,
    replaced,
)

SUPPRESSED = "<suppressed>"

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """Both sides without the differences that rules hide; `hidden` when there were any."""

    before: Value
    after: Value
    hidden: bool = False


def without_ignored(
    before: Value, after: Value, identity: Identity, rules: tuple[IgnoreRule, ...]
) -> Kept:
    """Only differences are hidden: what is equal on both sides stays to be seen."""
    hidden = False
    for rule in rules:
        if not rule.selects(identity):
            continue
        changes = _changes(before, after, rule)
        if changes:
            hidden = True
            before, after = replaced(before, changes), replaced(after, changes)
        if rule.edit is not None:
            left = list(different(before, after))
            before, after = rule.edit(before), rule.edit(after)
            hidden = hidden or len(left) > len(list(different(before, after)))
    return Kept(before, after, hidden)


def _changes(before: Value, after: Value, rule: IgnoreRule) -> dict[Path, Any]:
    names = frozenset(rule.names)
    paths: set[Path] = set()
    for side in (before, after):
        paths.update(path for pointer in rule.pointers for path in pointer_paths(side, pointer))
        paths.update(named_paths(side, names) if names else ())
    found: dict[Path, Any] = {}
    for path in sorted(paths, key=lambda path: (len(path), repr(path))):
        one, other = get(before, path), get(after, path)
        covered = any(path[:length] in found for length in range(len(path)))
        if not covered and next(different(one, other), None) is not None:
            found[path] = MISSING if one is MISSING or other is MISSING else SUPPRESSED
    return found
