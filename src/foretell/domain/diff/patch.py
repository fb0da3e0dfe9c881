"""A unified diff applied to the text that it was made from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.diff.lines import NO_NEWLINE, join_lines, split_lines
from foretell.domain.errors import InvalidRequest

_COUNT = "([0-9]{1,9})"
_HEAD = re.compile(rf"@@ -{_COUNT}(?:,{_COUNT})? \+{_COUNT}(?:,{_COUNT})? @@")
_SIDES = {" ": "both", "-": "old", "+": "new"}


def apply_unified(current: str, diff: str) -> str:
    """The text that a unified diff of one file makes of `current`; "" changes nothing.

    Raises InvalidRequest naming the line of the diff that is malformed or does not fit; no
    content is repeated in the message. A stub, as there is for texts over the cap, is malformed.
    """
    old, new, at = split_lines(current), list[str](), 0
    for hunk in _hunks(diff):
        stop = hunk.start + len(hunk.old)
        if not at <= hunk.start <= len(old) or old[hunk.start : stop] != hunk.old:
            raise _malformed(hunk.row, "begins a hunk that does not fit the text")
        new += old[at : hunk.start] + hunk.new
        at = stop
    return join_lines(new + old[at:])


@dataclass(frozen=True, slots=True)
class _Hunk:
    row: int
    start: int
    old: list[str]
    new: list[str]


def _hunks(diff: str) -> Iterator[_Hunk]:
    rows = diff.removesuffix("\n").split("\n")
    if rows == [""]:
        return
    for row, mark in enumerate(("--- ", "+++ ")):
        if row == len(rows) or not rows[row].startswith(mark):
            raise _malformed(row, f"should begin with {mark!r}")
    row = 2
    while row < len(rows):
        hunk, row = _hunk(rows, row)
        yield hunk


def _hunk(rows: Sequence[str], row: int) -> tuple[_Hunk, int]:
    """The hunk that begins at the row, and the row after it."""
    head = _HEAD.match(rows[row])
    if not head:
        raise _malformed(row, "should be '@@ -start,count +start,count @@'")
    start, old_count, _, new_count = (1 if part is None else int(part) for part in head.groups())
    hunk = _Hunk(row, start - (old_count > 0), [], [])
    at = row + 1
    # Counted, not guessed from the signs: a deleted "-- x" looks like the head of a file.
    while len(hunk.old) < old_count or len(hunk.new) < new_count:
        at = _add_row(hunk, rows, at)
    if (len(hunk.old), len(hunk.new)) != (old_count, new_count):
        raise _malformed(row, "begins a hunk with other lines than it counts")
    return hunk, at


def _add_row(hunk: _Hunk, rows: Sequence[str], at: int) -> int:
    """Adds the line at the row to its sides; the row after it."""
    side = _SIDES.get(rows[at][:1]) if at < len(rows) else None
    if side is None:
        raise _malformed(at, "should begin with ' ', '-' or '+'")
    unterminated = at + 1 < len(rows) and rows[at + 1].startswith("\\ ")
    line = rows[at][1:] + (NO_NEWLINE if unterminated else "")
    if side != "new":
        hunk.old.append(line)
    if side != "old":
        hunk.new.append(line)
    return at + 1 + unterminated


def _malformed(row: int, fault: str) -> InvalidRequest:
    return InvalidRequest(
        f"cannot apply the diff: its line {row + 1} {fault}; make the diff anew from this text"
    )
