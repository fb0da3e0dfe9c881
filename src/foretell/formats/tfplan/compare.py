"""Whether one plan does exactly what another does; where not, without a single value."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.exact_json import canonical
from foretell.formats.redact.marks import normalised
from foretell.formats.redact.redactor import Redactor, Rules
from foretell.formats.tfplan.effect import Path, effect, leaves_of
from foretell.formats.tfplan.hash import bound
from foretell.formats.tfplan.plan import Change, Plan
from foretell.formats.tfplan.redacted import DEFAULT_RULES, redactor_of
from foretell.formats.tfplan.text.order import natural

ONLY_FIRST: Final = "only in the first"
ONLY_SECOND: Final = "only in the second"
ACTIONS: Final = "other actions"
VALUES: Final = "other values"


@dataclass(frozen=True, slots=True)
class Difference:
    """One address on which two plans part. `paths` say where in it, as `a.b[0]`; redacted."""

    address: str
    what: str
    paths: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" at {', '.join(self.paths)}" if self.paths else ""
        return f"{self.address}: {self.what}{where}"


def compare(first: Plan, second: Plan, rules: Rules = DEFAULT_RULES) -> tuple[Difference, ...]:
    """Every difference of what the plans do, by address; () if the second does what the first does.

    What `p2:` binds, and besides whether each is whole, what it defers and which actions it
    invokes. Addresses and paths go through the redaction of both plans. Needs unredacted plans.
    """
    if first.redacted or second.redacted or first.partial_form or second.partial_form:
        raise InvalidRequest("redacted plans cannot be compared: their values are gone")
    found = [
        *_of_changes(first, second),
        *_of_invocations(first, second),
        *_of_wholeness(first, second),
    ]
    if not found:
        return ()
    redactors = [redactor_of(plan, rules) for plan in (first, second)]
    return tuple(_redacted(item, redactors) for item in sorted(found, key=_place))


def _place(difference: Difference) -> list[tuple[int, int, str]]:
    return natural(difference.address)


def _of_changes(first: Plan, second: Plan) -> Iterator[Difference]:
    old, new = _by_identity(first), _by_identity(second)
    for identity in old.keys() | new.keys():
        yield from _of_pairs(identity[0], old.get(identity, []), new.get(identity, []))


def _by_identity(plan: Plan) -> dict[tuple[str, str], list[Change]]:
    """Several changes of one identity are no plan that a program writes, and must not vanish."""
    found: dict[tuple[str, str], list[Change]] = {}
    for change in bound(plan):
        found.setdefault((change.address, change.deposed), []).append(change)
    return found


def _of_pairs(address: str, old: list[Change], new: list[Change]) -> Iterator[Difference]:
    for one, other in zip(old, new, strict=False):
        if one.actions != other.actions:
            yield Difference(address, ACTIONS)
        elif effect(one) != effect(other):
            yield Difference(address, VALUES, tuple(_paths(one, other)))
    yield from (Difference(address, ONLY_FIRST) for _ in old[len(new) :])
    yield from (Difference(address, ONLY_SECOND) for _ in new[len(old) :])


def _paths(one: Change, other: Change) -> Iterator[str]:
    if canonical(one.importing) != canonical(other.importing):
        yield "(import)"
    if one.previous_address != other.previous_address:
        yield "(previous address)"
    yield from map(written, sorted(_leaf_paths(one, other), key=_sortable))


def _leaf_paths(one: Change, other: Change) -> set[Path]:
    if one.actions in (("create",), ("read",)):
        # Nothing stood before: what would be made of nothing is compared with itself.
        return {path for path, _ in leaves_of(_between(one, other))} | _unknown_paths(one, other)
    old, new = dict(leaves_of(one)), dict(leaves_of(other))
    return {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}


def _between(one: Change, other: Change) -> Change:
    return Change(
        address=one.address,
        actions=("update",),
        before=one.after,
        after=other.after,
        before_sensitive=one.after_sensitive,
        after_sensitive=other.after_sensitive,
    )


def _unknown_paths(one: Change, other: Change) -> set[Path]:
    marks = normalised(one.after_unknown), normalised(other.after_unknown)
    change = Change("", ("update",), before=marks[0] or {}, after=marks[1] or {})
    return {path for path, _ in leaves_of(change)}


def _of_invocations(first: Plan, second: Plan) -> Iterator[Difference]:
    for one, other, what in ((first, second, ONLY_FIRST), (second, first, ONLY_SECOND)):
        there = {canonical(item.effect) for item in _entries(other)}
        yield from (
            Difference(item.address, what)
            for item in _entries(one)
            if canonical(item.effect) not in there
        )


@dataclass(frozen=True, slots=True, repr=False)
class _Entry:
    address: str
    effect: Any


def _entries(plan: Plan) -> Iterator[_Entry]:
    for item in (*plan.invocations, *plan.deferred_invocations):
        yield _Entry(f"action {item.address}", item.effect)
    for deferred in plan.deferred:
        change = deferred.change
        yield _Entry(f"deferred {change.address}", [deferred.reason, effect(change)])


def _of_wholeness(first: Plan, second: Plan) -> Iterator[Difference]:
    for word, one, other in (
        ("errored", first.errored is True, second.errored is True),
        ("incomplete", first.complete is False, second.complete is False),
    ):
        if one != other:
            yield Difference("(the whole plan)", f"{word} {ONLY_FIRST if one else ONLY_SECOND}")


def written(path: Path) -> str:
    """`a.b[0]`; "(the whole value)" for the empty path."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "(the whole value)"


def _sortable(path: Path) -> list[tuple[int, int, str]]:
    return [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in path]


def _redacted(difference: Difference, redactors: list[Redactor]) -> Difference:
    address, paths = difference.address, difference.paths
    for redactor in redactors:
        address = redactor.address(address)
        paths = tuple(redactor.text(path) for path in paths)
    return Difference(address, difference.what, paths)
