"""Destructive first: in a plan of thousands of changes, what is lost is read first."""

import re
from typing import Final

from foretell.formats.tfplan.plan import Change

_DIGITS: Final = re.compile(r"(\d+)")
_STEP: Final = re.compile(r'(?:[^.\[]|\["(?:[^"\\]|\\.)*"\]|\[\d+\])+')
_RANKS: Final = {
    ("delete",): 0,
    ("delete", "create"): 1,
    ("create", "delete"): 1,
    ("update",): 4,
    ("create",): 5,
    ("create", "forget"): 3,
    ("forget", "create"): 3,
    ("forget",): 6,
    ("no-op",): 7,
    ("read",): 8,
}
_UNKNOWN_RANK: Final = 2


def by_severity(change: Change) -> tuple[int, list[tuple[int, int, str]], str]:
    """Deletes, replacements, unknown actions, updates, creates, forgets, imports, moves, reads;
    within each by address, index 2 before index 10."""
    return _RANKS.get(change.actions, _UNKNOWN_RANK), natural(change.address), change.deposed


def natural(address: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in _DIGITS.split(address)
        if part
    ]


def steps(address: str) -> list[str]:
    """The dotted steps of an address; dots inside index keys do not part."""
    return _STEP.findall(address)


def grouped_moves(moves: list[Change]) -> dict[tuple[str, str], list[Change]]:
    """Moves by what they have in common: (old head, new head), the tail being the same."""
    groups: dict[tuple[str, str], list[Change]] = {}
    for move in moves:
        old, new = steps(move.previous_address), steps(move.address)
        while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
            old.pop()
            new.pop()
        groups.setdefault((".".join(old), ".".join(new)), []).append(move)
    return groups
