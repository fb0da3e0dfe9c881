"""Fields that differ between two renders of the same input are no change of the plan.

Random passwords, certificates made on the fly, `now`: found by rendering twice, put aside on both
sides, and named together with what they restart.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from foretell.formats.kubernetes.identity import GroupKind, Identity
from foretell.formats.kubernetes.normalise import Normaliser
from foretell.formats.kubernetes.path import Path, different, dotted, replaced
from foretell.formats.kubernetes.stream import Manifest, Stream

UNSTABLE = "<differs on each render>"
_RANDOM_NAME = "<random>"
_RESTARTING: frozenset[GroupKind] = frozenset(
    {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")}
)


@dataclass(frozen=True, slots=True)
class Unstable:
    """What is not the same on each render: fields by object, and objects by another name."""

    fields: dict[Identity, frozenset[Path]] = field(default_factory=dict)
    names: dict[Identity, Identity] = field(default_factory=dict)
    fleeting: frozenset[Identity] = frozenset()

    def __or__(self, other: "Unstable") -> "Unstable":
        fields = dict(self.fields)
        for identity, paths in other.fields.items():
            fields[identity] = fields.get(identity, frozenset()) | paths
        return Unstable(fields, self.names | other.names, self.fleeting | other.fleeting)

    def settled(self, identity: Identity, value: dict[str, Any]) -> dict[str, Any]:
        """`value` with a mark in place of what differs on each render."""
        paths = self.fields.get(identity)
        return replaced(value, dict.fromkeys(paths, UNSTABLE)) if paths else value

    def tags(self, identity: Identity) -> list[str]:
        """`non-deterministic: <field>` for each."""
        paths = sorted(self.fields.get(identity, ()), key=dotted)
        return [f"non-deterministic: {dotted(path)}" for path in paths]

    def warnings(self) -> list[str]:
        """How many fields, what a sync restarts because of them, and what comes and goes."""
        gone = [f"{one.title} is not in each render" for one in sorted(self.fleeting)]
        count = sum(len(paths) for paths in self.fields.values())
        if not count:
            return gone
        restarted = sorted(
            identity.title for identity, paths in self.fields.items() if _restarts(identity, paths)
        )
        noun = "field differs" if count == 1 else "fields differ"
        restart = f"; a sync will restart {', '.join(restarted)}" if restarted else ""
        return [f"{count} {noun} on each render{restart}", *gone]


def _restarts(identity: Identity, paths: Iterable[Path]) -> bool:
    if identity[:2] not in _RESTARTING:
        return False
    return any(path[:2] == ("spec", "template") for path in paths)


def unstable(once: Stream, again: Stream | None, normaliser: Normaliser) -> Unstable:
    """What two renders of the same input do not agree on."""
    if again is None:
        return Unstable()
    first, second = once.by_identity(), again.by_identity()
    names = _renamed(first, second)
    fields: dict[Identity, frozenset[Path]] = {}
    for identity, manifest in first.items():
        twin = second.get(identity) or _twin(identity, names, second)
        if twin is None:
            continue
        paths = frozenset(different(normaliser.value(manifest), normaliser.value(twin)))
        if paths:
            fields[names.get(identity, identity)] = paths
    fleeting = frozenset(first.keys() ^ second.keys()) - names.keys()
    return Unstable(fields, names, fleeting)


def _twin(
    identity: Identity, names: dict[Identity, Identity], second: dict[Identity, Manifest]
) -> Manifest | None:
    settled = names.get(identity)
    if settled is None:
        return None
    return next(
        second[other] for other, name in names.items() if name == settled and other in second
    )


def _renamed(
    first: dict[Identity, Manifest], second: dict[Identity, Manifest]
) -> dict[Identity, Identity]:
    """Both random names of one object, mapped to one name: what they begin with in common."""
    only_first = sorted(first.keys() - second.keys())
    only_second = sorted(second.keys() - first.keys())
    names: dict[Identity, Identity] = {}
    for one, other in zip(only_first, only_second, strict=False):
        stem = _common_start(one.name, other.name)
        if one[:3] == other[:3] and len(stem) * 2 >= len(one.name):
            names[one] = names[other] = one._replace(name=stem + _RANDOM_NAME)
    return names


def _common_start(one: str, other: str) -> str:
    length = next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
    return one[:length]
