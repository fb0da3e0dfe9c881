"""Which lines two texts share, in order: as many as possible, for a bounded price."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

# What one equal pair (a line here, its like there) costs in Python, in cells of rapidfuzz's matrix:
# measured 2 million pairs and 5 billion cells a second.
_CELLS_A_PAIR = 2500


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """What one diff may cost; the origin of each default is a measurement on one 2020s core.

    max_bytes: both texts together; above it there is a stub in place of the diff.
    max_lines: both texts together, likewise (16 MiB of empty lines are 16 million lines).
    max_cells: work of the exact search in cells of rapidfuzz's matrix, lines times lines
        without those at common ends and those that only one side has. 5 billion a second and one
        bit each: 2**30 are a quarter of a second and 128 MiB.
    block_lines: above `max_cells`, the most lines of a side that are searched as one: 8,192²
        cells are 15 ms and 8 MiB, and the total grows linearly with the lines.
    """

    max_bytes: int = 16 * 2**20
    max_lines: int = 2**20
    max_cells: int = 2**30
    block_lines: int = 2**13


DEFAULT = DiffLimits()

_Link = tuple[int, int, "_Link | None"]

# A run is a stretch of equal lines: its start here, its start there, its length.
Run = tuple[int, int, int]


def equal_runs(
    old: Sequence[str], new: Sequence[str], limits: DiffLimits
) -> tuple[list[Run], bool]:
    """The runs in order, none empty but the last, which ends both sides; whether approximate."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    ids: dict[str, int] = {}
    left = [ids.setdefault(line, len(ids)) for line in old[head : len(old) - tail]]
    right = [ids.setdefault(line, len(ids)) for line in new[head : len(new) - tail]]
    found = _exact(left, right, limits.max_cells)
    middle = _anchored(left, right, limits.block_lines) if found is None else found
    runs = _merged(
        [
            (0, 0, head),
            *((i + head, j + head, length) for i, j, length in middle),
            (len(old) - tail, len(new) - tail, tail),
        ]
    )
    _slide(runs, old, new)
    return [run for run in runs[:-1] if run[2]] + runs[-1:], found is None


def _exact(left: Sequence[int], right: Sequence[int], max_cells: int) -> list[Run] | None:
    """A longest common subsequence as runs, or None if finding one would cost too much."""
    here, there = Counter(left), Counter(right)
    # A line that the other side does not have is in no common subsequence.
    rows = [i for i, line in enumerate(left) if line in there]
    columns = [j for j, line in enumerate(right) if line in here]
    cells = len(rows) * len(columns)
    pairs = sum(count * there[line] for line, count in here.items())
    if min(cells, pairs * _CELLS_A_PAIR) > max_cells:
        return None
    if pairs * _CELLS_A_PAIR < cells:
        return [(i, j, 1) for i, j in _longest_chain(_candidates(left, right))]
    opcodes = Indel.opcodes([left[i] for i in rows], [right[j] for j in columns])
    return [
        (rows[code.src_start + k], columns[code.dest_start + k], 1)
        for code in opcodes
        if code.tag == "equal"
        for k in range(code.src_end - code.src_start)
    ]


def _candidates(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every equal pair, by the left side; the right one backwards, so no line is taken twice."""
    places: dict[int, list[int]] = {}
    for j in reversed(range(len(right))):
        places.setdefault(right[j], []).append(j)
    return ((i, j) for i, line in enumerate(left) for j in places.get(line, ()))


def _longest_chain(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs that rises on both sides (Hunt and Szymanski, 1977)."""
    ends: list[int] = []
    links: list[_Link] = []
    for i, j in pairs:
        at = bisect_left(ends, j)
        link = (i, j, links[at - 1] if at else None)
        if at == len(ends):
            ends.append(j)
            links.append(link)
        else:
            ends[at], links[at] = j, link
    return _unlinked(links[-1] if links else None)


def _unlinked(link: "_Link | None") -> list[tuple[int, int]]:
    chain = []
    while link:
        i, j, link = link
        chain.append((i, j))
    return chain[::-1]


def _anchored(left: Sequence[int], right: Sequence[int], block_lines: int) -> Iterator[Run]:
    """Runs found in linear work: lines that are once on each side are anchors, blocks between."""
    here, there = Counter(left), Counter(right)
    once = {line for line, count in here.items() if count == 1 == there[line]}
    anchors = _longest_chain(_candidates([x if x in once else -1 for x in left], right))
    i, j = 0, 0
    for stop_i, stop_j in [*anchors, (len(left), len(right))]:
        for at_i, at_j, length in _blockwise(left[i:stop_i], right[j:stop_j], block_lines):
            yield i + at_i, j + at_j, length
        yield stop_i, stop_j, int(stop_i < len(left))
        i, j = stop_i + 1, stop_j + 1


def _blockwise(left: Sequence[int], right: Sequence[int], block_lines: int) -> Iterator[Run]:
    """Runs of two stretches, cut into equally many blocks where they are long."""
    if set(left).isdisjoint(right):
        return
    count = -(-max(len(left), len(right)) // block_lines)
    for block in range(count):
        i, stop_i = (len(left) * edge // count for edge in (block, block + 1))
        j, stop_j = (len(right) * edge // count for edge in (block, block + 1))
        for at_i, at_j, length in _exact(left[i:stop_i], right[j:stop_j], block_lines**2) or ():
            yield i + at_i, j + at_j, length


def _merged(runs: Iterable[Run]) -> list[Run]:
    """The same lines in as few runs as possible."""
    merged: list[Run] = []
    for i, j, length in runs:
        if merged:
            last_i, last_j, last = merged[-1]
            if (last_i + last, last_j + last) == (i, j):
                merged[-1] = (last_i, last_j, last + length)
                continue
        merged.append((i, j, length))
    return merged


def _slide(runs: list[Run], old: Sequence[str], new: Sequence[str]) -> None:
    """Moves pure insertions and deletions to where people see them begin, among equal places."""
    for at in range(1, len(runs)):
        (i, j, up), (next_i, next_j, down) = runs[at - 1], runs[at]
        if i + up == next_i:
            shift = _best_shift(new, range(j + up, next_j), up, down)
        elif j + up == next_j:
            shift = _best_shift(old, range(i + up, next_i), up, down)
        else:
            continue
        runs[at - 1] = (i, j, up + shift)
        runs[at] = (next_i + shift, next_j + shift, down - shift)


def _best_shift(lines: Sequence[str], block: range, up: int, down: int) -> int:
    first, stop = block.start, block.stop
    low = next((k for k in range(up) if lines[first - 1 - k] != lines[stop - 1 - k]), up)
    high = next((k for k in range(down) if lines[first + k] != lines[stop + k]), down)
    return max(range(-low, high + 1), key=lambda shift: (_opening(lines[first + shift]), shift))


def _opening(line: str) -> int:
    """How much a line looks like the first of a stretch: a document mark, then little indent."""
    if line.startswith("---"):
        return 1
    indent = len(line) - len(line.lstrip(" "))
    return -indent if line.strip() else -1_000_000
