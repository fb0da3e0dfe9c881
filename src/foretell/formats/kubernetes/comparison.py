"""Two renders -> what changes, object by object. The entry of this folder."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from foretell.domain.result import KEPT, Action, ResourceChange
from foretell.formats.kubernetes.changes import SUPPRESSED_TAG, Pair, Presenter, Shown
from foretell.formats.kubernetes.determinism import Unstable, unstable
from foretell.formats.kubernetes.generated import with_names
from foretell.formats.kubernetes.identity import Identity
from foretell.formats.kubernetes.normalise import (
    Normaliser,
    as_desired,
    is_hidden_by_server,
    is_secret,
)
from foretell.formats.kubernetes.options import CompareOptions, Rendered
from foretell.formats.kubernetes.pairing import renames
from foretell.formats.kubernetes.stream import Stream, read_streams
from foretell.formats.yaml import Writer

Value = dict[str, Any]
Objects = dict[Identity, Value]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a plan would change.

    `current` and `proposed` are masked, canonical text, documents by identity; what was put aside
    on both sides (non-deterministic, ignored) is a mark in both. `changes` are in the order of
    identities; without an entry an object is unchanged. `suppressed` counts objects with nothing
    but ignored differences, `kept` removed objects that stay in the cluster, `masked` the values
    that a name rule hid, `incomparable` Secrets whose values the server hid, so that nobody
    can say whether they changed. `empty`: neither side renders an object. `objects` is the proposed
    side as it is, secrets and all: for a keyed digest, and for nothing that is shown or stored.
    """

    current: str
    proposed: str
    changes: tuple[ResourceChange, ...]
    warnings: tuple[str, ...] = ()
    suppressed: int = 0
    kept: int = 0
    masked: int = 0
    incomparable: int = 0
    deletes_everything: bool = False
    empty: bool = False
    objects: tuple[Value, ...] = field(default=(), repr=False)

    @property
    def has_changes(self) -> bool | None:
        """Whether anything counts, a kept object included; None when nobody can say."""
        if any(change.action is not Action.NO_OP for change in self.changes):
            return True
        return None if self.incomparable else False

    @property
    def diff(self) -> str:
        """The diffs of all changes, one after the other."""
        return "".join(change.diff for change in self.changes)

    @property
    def additions(self) -> int:
        """Lines added, over all changes that count."""
        return sum(change.additions for change in self.changes)

    @property
    def deletions(self) -> int:
        """Lines removed, over all changes that count."""
        return sum(change.deletions for change in self.changes)

    def count(self, action: Action) -> int:
        """Objects with this action; a kept one is no delete."""
        return sum(change.action is action and KEPT not in change.tags for change in self.changes)


def compare(
    current: Rendered, proposed: Rendered, options: CompareOptions | None = None
) -> Comparison:
    """What changes from `current` to `proposed`, each of one or several streams of manifests.

    Raises InvalidRequest that names document, source and line when one cannot be read.
    """
    options = options or CompareOptions()
    before, after, *_ = sides = _sides(current, proposed, options)
    normaliser = Normaliser(options)
    volatile = unstable(before.once, before.again, normaliser)
    volatile |= unstable(after.once, after.again, normaliser)
    old = _settled(before.once, normaliser, volatile)
    new = _settled(after.once, normaliser, volatile)
    if options.live:
        old = {identity: as_desired(value, new.get(identity)) for identity, value in old.items()}
    presenter = Presenter(options, volatile)
    shown = [presenter.show(pair) for pair in _pairs(old, new)]
    warnings = [warning for side in sides for warning in side.once.warnings]
    hidden = _hidden_by_server(old, new)
    if hidden:
        warnings.append(f"values are hidden by the server and not compared: {', '.join(hidden)}")
    warnings += [*volatile.warnings(), *(warning for one in shown for warning in one.warnings)]
    summed = _summed(shown, warnings, empty=(not old, not new))
    objects = tuple(new[identity] for identity in sorted(new))
    return replace(summed, incomparable=len(hidden), objects=objects)


@dataclass(frozen=True, slots=True)
class _Side:
    once: Stream
    again: Stream | None = None


def _sides(current: Rendered, proposed: Rendered, options: CompareOptions) -> list[_Side]:
    """Both sides with their second renders, read together: scopes and equal texts are shared."""
    given = [
        (current, options.current_again, options.current_source),
        (proposed, options.proposed_again, options.proposed_source),
    ]
    sides = [(rendered, source) for rendered, _, source in given]
    sides += [
        (again, f"{source}, rendered again") for _, again, source in given if again is not None
    ]
    read = iter(with_names(read_streams(sides, options)))
    once = [next(read), next(read)]
    return [
        _Side(stream, None if again is None else next(read))
        for stream, (_, again, _) in zip(once, given, strict=True)
    ]


def _settled(stream: Stream, normaliser: Normaliser, volatile: Unstable) -> Objects:
    found: Objects = {}
    for manifest in stream.manifests:
        identity = volatile.names.get(manifest.identity, manifest.identity)
        found[identity] = volatile.settled(identity, normaliser.value(manifest))
    return found


def _hidden_by_server(old: Objects, new: Objects) -> list[str]:
    sides = (old, new)
    found = {
        identity
        for side in sides
        for identity, value in side.items()
        if is_secret(value) and is_hidden_by_server(value)
    }
    return [identity.title for identity in sorted(found)]


def _pairs(old: Objects, new: Objects) -> list[Pair]:
    """By identity and in its order; a renamed object is two pairs that name each other."""
    writer = Writer()
    becomes = renames(
        {one: writer.text(_nameless(old[one])) for one in old.keys() - new.keys()},
        {one: writer.text(_nameless(new[one])) for one in new.keys() - old.keys()},
    )
    was = {after: before for before, after in becomes.items()}
    return [
        Pair(
            one,
            old.get(was.get(one, one)),
            new.get(one),
            was=was.get(one),
            becomes=becomes.get(one),
        )
        for one in sorted(old.keys() | new.keys())
    ]


def _nameless(value: Value) -> Value:
    hidden = ("name", "namespace")
    metadata = {key: item for key, item in value["metadata"].items() if key not in hidden}
    return value | {"metadata": metadata}


def _summed(shown: list[Shown], warnings: list[str], empty: tuple[bool, bool]) -> Comparison:
    changes = tuple(one.change for one in shown if one.change is not None)
    kept = sum(KEPT in change.tags for change in changes)
    deleted = sum(change.action is Action.DELETE for change in changes) - kept
    return Comparison(
        current=_joined(one.before for one in shown),
        proposed=_joined(one.after for one in shown),
        changes=changes,
        warnings=tuple(warnings),
        suppressed=sum(
            change.action is Action.NO_OP and SUPPRESSED_TAG in change.tags for change in changes
        ),
        kept=kept,
        masked=sum(one.masked for one in shown),
        deletes_everything=empty == (False, True) and deleted > 0,
        empty=all(empty),
    )


def _joined(texts: Iterable[str]) -> str:
    return "---\n".join(text for text in texts if text)
