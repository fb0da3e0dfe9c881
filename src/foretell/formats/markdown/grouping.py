"""What differs, once: distinct diffs, and the targets that they apply to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.result import Action, ResourceChange
from foretell.domain.rollup import TargetRollup

DESTRUCTIVE = frozenset({Action.DELETE, Action.REPLACE})


@dataclass(frozen=True, slots=True)
class DiffGroup:
    """One distinct diff, of one object or of a kind without objects, and where it applies."""

    title: str
    diff: str
    destroys: bool
    targets: tuple[TargetRollup, ...]


def group_diffs(targets: Sequence[TargetRollup]) -> list[DiffGroup]:
    """Each distinct diff once, those that remove something first, else in the targets' order.

    The unit is the object, not the target: one edit that reaches 50 clusters is read once, even
    where another object differs in each of them.
    """
    groups: dict[tuple[str, str, bool], list[TargetRollup]] = {}
    for row in targets:
        for section in _sections(row):
            groups.setdefault(section, []).append(row)
    found = [DiffGroup(*section, tuple(rows)) for section, rows in groups.items()]
    return sorted(found, key=lambda group: not group.destroys)


def _sections(row: TargetRollup) -> Iterator[tuple[str, str, bool]]:
    for result in row.results:
        for change in result.resources:
            if change.diff:
                yield (tagged(change), change.diff, change.action in DESTRUCTIVE)
        if result.diff and not result.resources:
            yield (result.kind or "Manifest", result.diff, False)


def tagged(change: ResourceChange) -> str:
    """`Deployment/payments/payment-api (hook: pre-upgrade)`."""
    return f"{change.title} ({', '.join(change.tags)})" if change.tags else change.title


def destructive_first(changes: Sequence[ResourceChange]) -> list[ResourceChange]:
    """What removes something first, the rest in its order."""
    return sorted(changes, key=lambda change: change.action not in DESTRUCTIVE)


def place(row: TargetRollup) -> str:
    """`production / us-east-1`, as it came: escape it for where it goes."""
    return f"{row.target.environment_name} / {row.target.resource_name}"


def distinct_places(targets: Sequence[TargetRollup]) -> list[str]:
    """The place of each, told apart by the identifier where two would have the same."""
    places = [place(row) for row in targets]
    count = Counter(places)
    return [
        f"{name} ({row.target.resource_identifier})" if count[name] > 1 else name
        for name, row in zip(places, targets, strict=True)
    ]
