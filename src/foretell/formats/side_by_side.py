"""Two texts next to each other, in a given number of columns.

Lines are paired as a person would pair them: within a changed stretch by their keys, for manifests
are mostly `key: value`. Nothing is cut off: a line too long for its column goes on below.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from foretell.domain.diff import Block, changed_blocks, split_lines

LEAST_WIDTH = 24
"""Columns below which nothing could be read; a narrower terminal wraps by itself."""

_TAB = 4
_BETWEEN = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """What one column shows: `text` fills it to `width`, `changed` is the part to emphasise."""

    text: str
    changed: range = range(0)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the screen; `mark` is of sdiff: ` ` equal, `|` changed, `<` and `>` one-sided."""

    left: Cell
    mark: str
    right: Cell

    @property
    def text(self) -> str:
        """The row without colours."""
        return f"{self.left.text} {self.mark} {self.right.text}".rstrip()


@dataclass(frozen=True, slots=True)
class Layout:
    """`width` columns for both sides; `context` equal lines around a change; `shown` makes what
    steers a terminal visible and may return more characters than it got."""

    width: int = 160
    context: int = 3
    numbered: bool = False
    shown: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


_Pair = tuple[_Line | None, _Line | None]


def side_by_side(before: str, after: str, layout: Layout) -> Iterator[Row]:
    """The rows of the changed stretches and their context, a row of `⋯` for what is left out.

    Nothing for equal texts. The changes are those of `unified_diff`.
    """
    old, new = split_lines(before), split_lines(after)
    column = _Column(layout, max(len(old), len(new)))
    for block in _shortened(list(changed_blocks(old, new)), layout.context):
        if isinstance(block, int):
            yield column.gap(block)
            continue
        for pair in _pairs(block, old, new):
            yield from column.rows(pair, equal=block.equal)


def _shortened(blocks: Sequence[Block], context: int) -> Iterator[Block | int]:
    """The blocks with their equal ones cut to the context; a number stands for lines left out."""
    if all(block.equal for block in blocks):
        return
    for at, block in enumerate(blocks):
        first = context if block.equal and at > 0 else 0
        last = context if block.equal and at < len(blocks) - 1 else 0
        length = len(block.current)
        if not block.equal or length <= first + last:
            yield block
            continue
        if first:
            yield replace(block, current=block.current[:first], proposed=block.proposed[:first])
        yield length - first - last
        if last:
            yield replace(block, current=block.current[-last:], proposed=block.proposed[-last:])


def _pairs(block: Block, old: Sequence[str], new: Sequence[str]) -> Iterator[_Pair]:
    left = [_Line(i + 1, old[i]) for i in block.current]
    right = [_Line(j + 1, new[j]) for j in block.proposed]
    if block.equal:
        yield from zip(left, right, strict=True)
        return
    keys = [_key(line.text) for line in left], [_key(line.text) for line in right]
    for part in changed_blocks(*keys):
        here = [left[i] for i in part.current], [right[j] for j in part.proposed]
        yield from zip_longest(*here)


def _key(line: str) -> str:
    """What a line is about: `  image` of `  image: web:1`; the whole of one without a key."""
    head, colon, _ = line.partition(":")
    return head if colon else line


class _Column:
    """Lays lines out in two columns of the same width."""

    def __init__(self, layout: Layout, lines: int) -> None:
        self._digits = len(str(lines)) if layout.numbered else 0
        self._lead = self._digits + 1 if self._digits else 0
        self._width = max((max(layout.width, LEAST_WIDTH) - _BETWEEN) // 2 - self._lead, 1)
        self._shown = layout.shown

    def gap(self, lines: int) -> Row:
        """What stands for equal lines that are not shown."""
        text = f"⋯ {lines} equal {'line' if lines == 1 else 'lines'}"
        cell = Cell(self._filled("", next(_wrapped(text, self._width))))
        return Row(cell, " ", cell)

    def rows(self, pair: _Pair, *, equal: bool) -> Iterator[Row]:
        """One line of each side, or of one side, on as many rows as the longer needs."""
        left, right = pair
        texts = [self._text(left), self._text(right)]
        mark = " " if equal else "<" if right is None else ">" if left is None else "|"
        spans = _emphasis(*texts) if mark == "|" else (range(0), range(0))
        left_cells = self._cells(left, texts[0], spans[0])
        right_cells = self._cells(right, texts[1], spans[1])
        empty = Cell(self._filled("", ""))
        for one, other in zip_longest(left_cells, right_cells, fillvalue=empty):
            yield Row(one, mark, other)

    def _text(self, line: _Line | None) -> str:
        text = "" if line is None else line.text.replace("\n", " ").expandtabs(_TAB)
        return self._shown(text)

    def _cells(self, line: _Line | None, text: str, changed: range) -> Iterator[Cell]:
        lead, start = "" if line is None else str(line.number), 0
        for piece in _wrapped(text, self._width):
            ends = (min(max(end - start, 0), len(piece)) for end in (changed.start, changed.stop))
            begin, end = (self._lead + end for end in ends)
            yield Cell(self._filled(lead, piece), range(begin, end))
            lead, start = "", start + len(piece)

    def _filled(self, number: str, text: str) -> str:
        lead = f"{number:>{self._digits}} " if self._digits else ""
        return lead + text + " " * (self._width - columns(text))


def _emphasis(one: str, other: str) -> tuple[range, range]:
    """What two lines do not have in common, between what they begin and what they end with."""
    start = _in_common(one, other)
    end = _in_common(one[start:][::-1], other[start:][::-1])
    return range(start, len(one) - end), range(start, len(other) - end)


def _in_common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Pieces of at most `width` columns; one at least."""
    start, used = 0, 0
    for at, character in enumerate(text):
        needed = columns(character)
        if used + needed > width and at > start:
            yield text[start:at]
            start, used = at, 0
        used += needed
    yield text[start:]


def columns(text: str) -> int:
    """How many columns a terminal takes for `text`: two for wide characters (Unicode Standard
    Annex #11), none for those that combine with the one before."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
