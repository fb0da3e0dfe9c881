"""Which deleted object and which added one are one object by another name.

Near-linear: equal content and names that differ in a hash are looked up, and similar objects are
found by the lines that few objects have, never by trying each with each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable

from foretell.formats.kubernetes.identity import Identity

_HASH_SUFFIX = re.compile(
    r"(.{2,}?)-(?:[2456789bcdfghkmt]{10}"  # kustomize
    r"|[0-9a-f]{5,64}|v[0-9]+(?:[.-][0-9]+)*|[0-9]+(?:[.-][0-9]+)+"  # digests, versions
    r"|[bcdfghjklmnpqrstvwxz2456789]{5,10})"  # generateName
)
_LONGEST_NAME = 253  # a DNS subdomain, RFC 1123: the longest the API server takes
_SIMILAR = 0.6
_COMMON_LINE = 12

Lines = dict[Identity, frozenset[str]]
Pairs = dict[Identity, Identity]


def renames(deleted: dict[Identity, str], added: dict[Identity, str]) -> Pairs:
    """Deleted -> added. Each argument has the text of its objects without name and namespace.

    Same group, kind and namespace, and: the same content, or the same name but for a hash or
    version at its end, or at least 60 % of the lines in common. The order of the input is no
    matter.
    """
    old, new = _grouped(deleted), _grouped(added)
    found: Pairs = {}
    for key in old.keys() & new.keys():
        found |= _matched(old[key], new[key])
    return found


def _grouped(texts: dict[Identity, str]) -> dict[Hashable, Lines]:
    groups: dict[Hashable, Lines] = defaultdict(dict)
    for identity in sorted(texts):
        groups[identity[:3]][identity] = _telling(texts[identity])
    return groups


def _telling(text: str) -> frozenset[str]:
    """The lines below the top level; `kind:`, `metadata:` and such are every object's."""
    return frozenset(line for line in text.split("\n") if line[:1] in (" ", "-") and line)


def _matched(old: Lines, new: Lines) -> Pairs:
    found = _alike(old, new, lambda _, lines: lines or None)
    found |= _alike(*_rest(old, new, found), lambda one, _: stem(one.name))
    return found | _similar(*_rest(old, new, found))


def _rest(old: Lines, new: Lines, found: Pairs) -> tuple[Lines, Lines]:
    taken = set(found.values())
    return (
        {one: lines for one, lines in old.items() if one not in found},
        {one: lines for one, lines in new.items() if one not in taken},
    )


def _alike(old: Lines, new: Lines, key: Callable[[Identity, frozenset[str]], Hashable]) -> Pairs:
    """Those with the same key, in the order of their names; the key None is no likeness."""
    waiting: dict[Hashable, list[Identity]] = defaultdict(list)
    for one, lines in reversed(new.items()):
        waiting[key(one, lines)].append(one)
    waiting.pop(None, None)
    found: Pairs = {}
    for one, lines in old.items():
        partners = waiting.get(key(one, lines))
        if partners:
            found[one] = partners.pop()
    return found


def stem(name: str) -> str | None:
    """The name without the hash or version at its end; None when it has neither."""
    match = _HASH_SUFFIX.fullmatch(name) if len(name) <= _LONGEST_NAME else None
    return (
        match.group(1) if match and any(char.isdigit() for char in name[match.end(1) :]) else None
    )


def _similar(old: Lines, new: Lines) -> Pairs:
    """The best partner first. A line that many objects have says nothing and costs much."""
    having: dict[str, list[Identity]] = defaultdict(list)
    for one, lines in old.items():
        for line in lines:
            having[line].append(one)
    rare = {line: owners for line, owners in having.items() if len(owners) <= _COMMON_LINE}
    scored = [pair for one, lines in new.items() for pair in _scored(one, lines, rare, old)]
    found: Pairs = {}
    taken: set[Identity] = set()
    for _, one, other in sorted(scored, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if one not in found and other not in taken:
            found[one] = other
            taken.add(other)
    return found


def _scored(
    other: Identity, lines: frozenset[str], rare: dict[str, list[Identity]], old: Lines
) -> Iterable[tuple[float, Identity, Identity]]:
    shared = Counter(one for line in lines for one in rare.get(line, ()))
    best = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:_COMMON_LINE]
    for one, _ in best:
        likeness = len(lines & old[one]) / max(len(lines), len(old[one]))
        if likeness >= _SIMILAR:
            yield likeness, one, other
