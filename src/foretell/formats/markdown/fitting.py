"""How diffs share what room there is: all whole, else the long ones cut, else the last left out.

Nothing is lost silently: a cut diff says how many lines are missing, and what is left out is
counted. Only what is shown is rendered, so that the time depends on the limit and not on the plan.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from foretell.formats.markdown.text import cut, fenced, words

SHARE = 1_000
"""The least that a diff is cut to, in characters: below it the last ones are left out whole."""

_AROUND = len("<details>\n<summary></summary>\n\n\n\n</details>")
_FENCE = len("```diff\n\n```")
_BETWEEN = len("\n\n")
_NOTE = len("\n\n*… 1,000,000,000 more lines*")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fold:
    """A diff that opens on a click; `title` is plain text, `note` is markup already."""

    title: str
    diff: str
    note: str = ""

    def around(self) -> int:
        """Characters of what is not the diff and its fence."""
        noted = len(self.note) + _BETWEEN if self.note else 0
        return _AROUND + len(words(self.title)) + noted

    def size(self) -> int:
        """Characters that it takes when it is whole, an empty line after it included."""
        return self.around() + _FENCE + len(self.diff) + _BETWEEN


def folded(fold: Fold, room: int | None = None) -> str:
    """`fold` as Markdown, in `room` characters where it is bounded; "" where nothing of it fits."""
    diff = fenced_part(fold.diff, None if room is None else room - fold.around())
    noted = [fold.note, ""] if fold.note else []
    # Up to the empty line all of it is HTML to the reader: a backslash there would be shown.
    opening = ["<details>", f"<summary>{words(fold.title)}</summary>", ""]
    return "\n".join([*opening, *noted, diff, "", "</details>"]) if diff else ""


def fenced_part(diff: str, room: int | None) -> str:
    """As many whole lines of `diff` as fit in `room` characters, in a fence, and how many do not.

    "" where not even that can be said.
    """
    if room is None:
        return fenced(diff, "diff")
    text = fenced(diff, "diff") if len(diff) <= room else ""
    if text and len(text) <= room:
        return text
    end = diff.rfind("\n", 0, max(room - _NOTE - _FENCE, 0)) + 1
    while True:
        missing = diff.count("\n", end) + (not diff.endswith("\n"))
        note = f"*… {missing:,} more {'line' if missing == 1 else 'lines'}*"
        text = f"{fenced(diff[:end], 'diff')}\n\n{note}" if end else note
        # A run of backticks makes the fence longer than it was counted.
        if len(text) <= room or not end:
            return text if len(text) <= room else ""
        end = diff.rfind("\n", 0, end // 2) + 1


def fair_share(sizes: Sequence[int], room: int) -> int:
    """The most that each may take so that all fit in `room`, what the small ones leave included."""
    left, waiting = room, len(sizes)
    for size in sorted(sizes):
        if size * waiting > left:
            return max(left // waiting, 0)
        left -= size
        waiting -= 1
    return max(sizes, default=0)


def fitted(head: str, folds: Sequence[Fold], limit: int) -> str:
    """`head`, and after it as much of `folds` as fits; it says how much does not."""
    room = limit - len(head) - len("\n")
    if not fits(folds, room):
        room -= len(left_out(len(folds))) + _BETWEEN
    parts = list(shared(folds, room, Fold.size, folded))
    missing = len(folds) - len(parts)
    notes = [left_out(missing)] if missing else []
    return cut("\n\n".join([head, *parts, *notes]) + "\n", limit)


def fits(folds: Sequence[Fold], room: int) -> bool:
    """Whether all of them fit whole."""
    return sum(len(one.diff) for one in folds) <= room and sum(map(Fold.size, folds)) <= room


def shared(
    parts: Sequence[T], room: int, size: Callable[[T], int], shown: Callable[[T, int], str]
) -> Iterator[str]:
    """`parts` as `shown` in their share of `room`, each with an empty line after it.

    Ends at the first for which there is no room.
    """
    near = list(islice(parts, max(room // _AROUND, 0) + 1))
    share = max(fair_share([size(one) for one in near], room), SHARE)
    for one in near:
        text = shown(one, min(share, room) - _BETWEEN)
        if not text:
            return
        room -= len(text) + _BETWEEN
        yield text


def in_room(
    head: str, lines: Mapping[int, str], room: int, total: int, more: Callable[[int], str]
) -> str:
    """`head` and the first of `lines` that fit, put in the order of their numbers.

    What of the `total` is missing is said by `more`; "" where not even `head` fits.
    """
    whole = "\n".join([head, *(lines[number] for number in sorted(lines))])
    if len(lines) == total and len(whole) <= room:
        return whole
    room -= len(head) + len(more(total)) + 1
    kept = []
    for number, line in lines.items():
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(number)
    if room < 0 and not kept:
        return ""
    shown = [lines[number] for number in sorted(kept)]
    return "\n".join([head, *shown, more(total - len(kept))])


def left_out(number: int) -> str:
    """`*3 diffs left out to fit the comment.*`"""
    return f"*{number:,} {'diff' if number == 1 else 'diffs'} left out to fit the comment.*"
