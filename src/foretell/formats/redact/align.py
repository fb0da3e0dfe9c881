"""Which element of one list is which of another, so that one insertion is one insertion."""

from collections.abc import Iterator
from typing import Any, Final

from foretell.formats.exact_json import canonical, same

Pairing = list[tuple[int | None, int | None]]

_IDENTITIES: Final = ("id", "name", "key", "sid", "Sid", "device_name", "cidr_block", "port")


def align(before: list[Any], after: list[Any]) -> Pairing:
    """Pairs (index before, index after), None for an element of one side only.

    Equal elements pair in order; of the rest, objects with the same identity member; what is
    then left between two anchors pairs by position, as an element that was altered.
    """
    if not before or not after:
        return [*((i, None) for i in range(len(before))), *((None, j) for j in range(len(after)))]
    if len(before) == len(after) == 1:
        return [(0, 0)]
    partner = _equal_partners(before, after)
    _pair_by_identity(before, after, partner)
    _pair_by_position(before, after, partner)
    return _in_order(len(before), len(after), partner)


def _equal_partners(before: list[Any], after: list[Any]) -> dict[int, int]:
    """Index after -> index before, for equal elements: first come, first served."""
    places: dict[str, list[int]] = {}
    for i in reversed(range(len(before))):
        places.setdefault(canonical(before[i]), []).append(i)
    partner: dict[int, int] = {}
    for j, item in enumerate(after):
        free = places.get(canonical(item))
        if free:
            partner[j] = free.pop()
    return partner


def _pair_by_identity(before: list[Any], after: list[Any], partner: dict[int, int]) -> None:
    taken = set(partner.values())
    known = {
        identity: i
        for i in reversed(range(len(before)))
        if i not in taken and (identity := _identity(before[i])) is not None
    }
    for j, item in enumerate(after):
        identity = None if j in partner else _identity(item)
        if identity is not None and identity in known:
            partner[j] = known.pop(identity)


def _identity(item: Any) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    return next(
        ((key, canonical(item[key])) for key in _IDENTITIES if item.get(key) not in (None, "")),
        None,
    )


def _pair_by_position(before: list[Any], after: list[Any], partner: dict[int, int]) -> None:
    """Leftovers of equal number are alterations; else nothing says which was inserted."""
    taken = set(partner.values())
    left = [i for i in range(len(before)) if i not in taken]
    right = [j for j in range(len(after)) if j not in partner]
    if len(left) == len(right):
        partner.update(
            (j, i) for i, j in zip(left, right, strict=True) if _alike(before[i], after[j])
        )


def _alike(one: Any, other: Any) -> bool:
    """Of one shape, and for objects with something in common."""
    if isinstance(one, dict) and isinstance(other, dict):
        return any(key in other and same(value, other[key]) for key, value in one.items())
    return False


def _in_order(left: int, right: int, partner: dict[int, int]) -> Pairing:
    """By place after; what is gone stands where it stood before."""
    gone = iter(sorted(set(range(left)) - set(partner.values())))
    return list(_merged(gone, right, partner))


def _merged(
    gone: Iterator[int], right: int, partner: dict[int, int]
) -> Iterator[tuple[int | None, int | None]]:
    waiting = next(gone, None)
    for j in range(right):
        i = partner.get(j)
        while waiting is not None and i is not None and waiting < i:
            yield waiting, None
            waiting = next(gone, None)
        yield i, j
    while waiting is not None:
        yield waiting, None
        waiting = next(gone, None)
