"""Two texts into a unified diff, its line counts and its blocks.

Format: GNU diffutils manual, "Detailed Description of Unified Format".
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.diff.lines import split_lines
from foretell.domain.diff.matching import DEFAULT, DiffLimits, Run, equal_runs
from foretell.domain.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class TextDiff:
    """`text` is "" when the texts are equal; `additions` and `deletions` count lines.

    `approximate`: a smaller diff may exist (the text still applies), or the texts are over the cap:
    then `text` is a stub without hunks and the counts are what the lines at least differ by.
    """

    text: str
    additions: int
    deletions: int
    approximate: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of both sides, as line indices: equal line by line, or one replaces the other.

    An empty range on one side is a pure insertion or deletion.
    """

    equal: bool
    current: range
    proposed: range


def unified_diff(
    current: str,
    proposed: str,
    *,
    current_name: str = "current",
    proposed_name: str = "proposed",
    context: int = 3,
    limits: DiffLimits = DEFAULT,
) -> TextDiff:
    """The unified diff that turns `current` into `proposed`, with as few changed lines as possible.

    Raises InvalidRequest for a negative `context`.
    """
    if context < 0:
        raise InvalidRequest(f"the number of context lines must be 0 or more, not {context}")
    if current == proposed:
        return TextDiff("", 0, 0, False)
    header = f"--- {_on_one_line(current_name)}\n+++ {_on_one_line(proposed_name)}\n"
    old, new = split_lines(current), split_lines(proposed)
    if too_large := _too_large(current, proposed, limits):
        return _stub(header + too_large, old, new)
    runs, approximate = equal_runs(old, new, limits)
    kept = sum(length for _, _, length in runs)
    groups = _grouped(_blocks(runs), context)
    text = header + "".join(_hunk(group, old, new) for group in groups)
    return TextDiff(text, len(new) - kept, len(old) - kept, approximate)


def changed_blocks(
    current_lines: Sequence[str], proposed_lines: Sequence[str], limits: DiffLimits = DEFAULT
) -> Iterator[Block]:
    """Both sides from the first line to the last, equal and replaced stretches by turns.

    The same blocks that `unified_diff` shows, for renderers that put the sides next to each other.
    Of `limits` only the search counts: the caller has the lines in memory already.
    """
    runs, _ = equal_runs(current_lines, proposed_lines, limits)
    return _blocks(runs)


# The pieces of one diff, from both texts.


def _blocks(runs: Sequence[Run]) -> Iterator[Block]:
    i, j = 0, 0
    for next_i, next_j, length in runs:
        if (i, j) != (next_i, next_j):
            yield Block(False, range(i, next_i), range(j, next_j))
        i, j = next_i + length, next_j + length
        if length:
            yield Block(True, range(next_i, i), range(next_j, j))


def _grouped(blocks: Iterator[Block], context: int) -> Iterator[list[Block]]:
    """The blocks of one hunk each: a gap of more than twice the context parts two hunks."""
    group: list[Block] = []
    for block in blocks:
        if not block.equal or (group and len(block.current) <= 2 * context):
            group.append(block)
            continue
        if _has_change(group):
            yield [*group, _first_lines(block, context)]
        group = [_last_lines(block, context)]
    if _has_change(group):
        if group[-1].equal:
            group[-1] = _first_lines(group[-1], context)
        yield group


def _has_change(group: Sequence[Block]) -> bool:
    return any(not block.equal for block in group)


def _first_lines(block: Block, count: int) -> Block:
    return Block(block.equal, block.current[:count], block.proposed[:count])


def _last_lines(block: Block, count: int) -> Block:
    skipped = max(0, len(block.current) - count)
    return Block(block.equal, block.current[skipped:], block.proposed[skipped:])


def _hunk(group: Sequence[Block], old: Sequence[str], new: Sequence[str]) -> str:
    first, last = group[0], group[-1]
    current = _span(first.current.start, last.current.stop)
    rows = [f"@@ -{current} +{_span(first.proposed.start, last.proposed.stop)} @@\n"]
    for block in group:
        if block.equal:
            rows += [f" {old[i]}\n" for i in block.current]
        else:
            rows += [f"-{old[i]}\n" for i in block.current]
            rows += [f"+{new[j]}\n" for j in block.proposed]
    return "".join(rows)


def _span(start: int, stop: int) -> str:
    match stop - start:
        case 0:  # the line before which there is nothing to show
            return f"{start},0"
        case 1:
            return f"{start + 1}"
        case count:
            return f"{start + 1},{count}"


def _on_one_line(name: str) -> str:
    return name.replace("\n", "\\n")


# The stub.


def _too_large(current: str, proposed: str, limits: DiffLimits) -> str:
    """Why there will be no diff; "" when there will."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in (current, proposed))
    lines = current.count("\n") + proposed.count("\n")
    if size <= limits.max_bytes and lines <= limits.max_lines:
        return ""
    return (
        f"The texts differ and are too large to compare line by line: {size} bytes and {lines}"
        f" lines together, the limits are {limits.max_bytes} bytes and {limits.max_lines} lines.\n"
    )


def _stub(text: str, old: Sequence[str], new: Sequence[str]) -> TextDiff:
    """Counts by content alone: never more than a diff has, and never none, for the texts differ."""
    here, there = Counter(old), Counter(new)
    additions, deletions = (there - here).total(), (here - there).total()
    if additions == deletions == 0:  # the same lines in another order
        additions = deletions = 1
    return TextDiff(text, additions, deletions, True)
