from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from foretell.domain.diff import (
    NO_NEWLINE,
    Block,
    DiffLimits,
    apply_unified,
    changed_blocks,
    join_lines,
    split_lines,
    unified_diff,
)
from foretell.domain.errors import InvalidRequest

# Few distinct lines, so that sides share many; and every character that str.splitlines() breaks at.
LINES = st.sampled_from(
    [
        "a", "b", "  c", "", " ", "---", "-- a", "++ b", "-", "+", "@@ -1 +1 @@", "\\ No newline",
        "a\r", "\r", "a\u2028b", "\x0b", "\x0c", "\x85", "\x1c", "\u2029", "\ud800", "\x00", "é",
    ]
)  # fmt: skip
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINES, max_size=14),
    st.sampled_from(["", "\n", "\n\n"]),
) | st.text(max_size=20)
CONTEXTS = st.sampled_from([0, 1, 3, 10**9])
# Nothing fits the budget of the exact search.
TINY = DiffLimits(max_cells=0, block_lines=2)
LIMITS = st.sampled_from([DiffLimits(), TINY])


def common_length(one: Sequence[str], two: Sequence[str]) -> int:
    """The length of a longest common subsequence, by the textbook."""
    row = [0] * (len(two) + 1)
    for line in one:
        above, row = row, [0]
        for j, other in enumerate(two):
            row.append(above[j] + 1 if line == other else max(above[j + 1], row[j]))
    return row[-1]


@given(TEXTS, TEXTS, CONTEXTS, LIMITS)
@example("", "a", 3, DiffLimits())
@example("a", "a\n", 3, DiffLimits())
@example("a\n", "", 0, DiffLimits())
@example("-- x\n", "++ x\n", 3, DiffLimits())
@example("a\nb\n", "b\na\n", 3, TINY)
def test_the_diff_applied_to_current_gives_proposed(
    current: str, proposed: str, context: int, limits: DiffLimits
) -> None:
    diff = unified_diff(current, proposed, context=context, limits=limits)

    assert apply_unified(current, diff.text) == proposed
    assert (diff.text == "") is (current == proposed)


@given(TEXTS, TEXTS)
def test_no_smaller_diff_exists(current: str, proposed: str) -> None:
    old, new = split_lines(current), split_lines(proposed)
    kept = common_length(old, new)

    diff = unified_diff(current, proposed)

    assert (diff.additions, diff.deletions) == (len(new) - kept, len(old) - kept)
    assert not diff.approximate


@pytest.mark.parametrize("seed", range(5))
def test_no_smaller_diff_exists_where_hardly_a_line_repeats(seed: int) -> None:
    """Few equal pairs on long sides take another way through the search than many."""
    random = Random(seed)
    old = [f"{random.randrange(20_000)}" for _ in range(6_000)]
    new = sorted(old, key=lambda line: int(line) // random.randrange(1, 40))

    blocks = changed_blocks(old, new)

    kept = sum(len(block.current) for block in blocks if block.equal)
    assert kept == LCSseq.similarity(old, new)


@given(TEXTS, TEXTS, CONTEXTS, LIMITS)
def test_the_counts_are_those_of_the_text(
    current: str, proposed: str, context: int, limits: DiffLimits
) -> None:
    diff = unified_diff(current, proposed, context=context, limits=limits)

    signs = [row[:1] for row in diff.text.split("\n")[2:]]
    assert (signs.count("+"), signs.count("-")) == (diff.additions, diff.deletions)


@given(TEXTS, TEXTS)
def test_swapping_the_sides_swaps_the_counts(current: str, proposed: str) -> None:
    there, back = unified_diff(current, proposed), unified_diff(proposed, current)

    assert (there.additions, there.deletions) == (back.deletions, back.additions)


@given(TEXTS, TEXTS, LIMITS)
def test_blocks_cover_both_sides_by_turns(current: str, proposed: str, limits: DiffLimits) -> None:
    old, new = split_lines(current), split_lines(proposed)

    blocks = list(changed_blocks(old, new, limits))

    assert [i for block in blocks for i in block.current] == list(range(len(old)))
    assert [j for block in blocks for j in block.proposed] == list(range(len(new)))
    assert all(one.equal is not two.equal for one, two in pairwise(blocks))
    for block in blocks:
        assert block.current or block.proposed
        here = [old[i] for i in block.current]
        assert not block.equal or here == [new[j] for j in block.proposed]


@given(TEXTS)
def test_a_text_survives_being_split(text: str) -> None:
    assert join_lines(split_lines(text)) == text


def test_a_diff_reads_as_git_writes_it() -> None:
    current = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk"
    proposed = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\n"

    diff = unified_diff(current, proposed, current_name="a/x", proposed_name="b/x", context=2)

    assert diff.text == (
        "--- a/x\n+++ b/x\n"
        "@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n"
        "@@ -9,3 +9,3 @@\n i\n j\n-k\n\\ No newline at end of file\n+k\n"
    )


@pytest.mark.parametrize(
    ("current", "proposed", "context", "head"),
    [
        ("", "a\n", 3, "@@ -0,0 +1 @@"),
        ("a\nb\n", "", 3, "@@ -1,2 +0,0 @@"),
        ("a\nb\n", "a\nx\nb\n", 0, "@@ -1,0 +2 @@"),
        ("a\nx\nb\n", "a\nb\n", 0, "@@ -2 +1,0 @@"),
    ],
)
def test_an_empty_side_is_placed_after_the_line_before_it(
    current: str, proposed: str, context: int, head: str
) -> None:
    assert unified_diff(current, proposed, context=context).text.split("\n")[2] == head


def test_a_gap_of_twice_the_context_joins_hunks_and_one_more_line_parts_them() -> None:
    def hunks(gap: int) -> int:
        kept = "".join(f"{line}\n" for line in range(gap))
        return unified_diff(f"a\n{kept}b\n", f"A\n{kept}B\n", context=3).text.count("@@ -")

    assert (hunks(6), hunks(7)) == (1, 2)


def test_an_inserted_document_begins_at_its_mark() -> None:
    one, two, three = ("---\nkind: A\n", "---\nkind: B\n", "---\nkind: A\nname: x\n")

    diff = unified_diff(one + three, one + two + three, context=0)

    assert diff.text.split("\n")[3:] == ["+---", "+kind: B", ""]


def test_an_inserted_list_item_is_not_cut_in_two() -> None:
    a, b, c = (f"  - name: {name}\n    value: 1\n" for name in "abc")

    diff = unified_diff(f"env:\n{a}{c}", f"env:\n{a}{b}{c}", context=0)

    assert diff.text.split("\n")[3:] == ["+  - name: b", "+    value: 1", ""]


def test_over_the_budget_the_diff_says_that_a_smaller_one_may_exist() -> None:
    old = "".join(f"{line % 7}\n" for line in range(100))
    new = "".join(f"{line % 5}\n" for line in range(100))

    assert unified_diff(old, new, limits=TINY).approximate
    assert not unified_diff(old, new).approximate


def test_over_the_budget_unique_lines_still_anchor_the_diff() -> None:
    lines = [f"{line}" if line % 3 else "same" for line in range(300)]
    new = ["first", *lines[:100], "second", *lines[110:]]

    blocks = changed_blocks(lines, new, TINY)

    assert [block for block in blocks if not block.equal] == [
        Block(False, range(0, 0), range(0, 1)),
        Block(False, range(100, 110), range(101, 102)),
    ]


@pytest.mark.parametrize("limits", [DiffLimits(max_bytes=10), DiffLimits(max_lines=4)])
def test_over_the_cap_a_stub_says_so_and_never_that_nothing_changed(limits: DiffLimits) -> None:
    diff = unified_diff("a\nb\nc\n", "a\nb\nd\ne\n", limits=limits)

    assert diff.text.startswith("--- current\n+++ proposed\nThe texts differ and are too large")
    assert (diff.additions, diff.deletions, diff.approximate) == (2, 1, True)


def test_over_the_cap_another_order_is_still_a_change() -> None:
    diff = unified_diff("a\nb\n", "b\na\n", limits=DiffLimits(max_bytes=1))

    assert diff.additions
    assert diff.deletions


def test_over_the_cap_equal_texts_are_equal() -> None:
    assert unified_diff("a\nb\n", "a\nb\n", limits=DiffLimits(max_bytes=1)).text == ""


def test_the_cap_counts_bytes_not_characters() -> None:
    limits = DiffLimits(max_bytes=4)

    assert not unified_diff("é", "è", limits=limits).approximate
    assert unified_diff("éa", "è", limits=limits).approximate


def test_a_stub_is_not_applied() -> None:
    stub = unified_diff("a\n", "b\n", limits=DiffLimits(max_bytes=1)).text

    with pytest.raises(InvalidRequest, match="line 3 should be '@@"):
        apply_unified("a\n", stub)


def test_a_negative_context_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="0 or more, not -1"):
        unified_diff("a", "b", context=-1)


def test_a_name_cannot_add_lines_to_the_diff() -> None:
    diff = unified_diff("a\n", "b\n", current_name="x\n+evil", proposed_name="y")

    assert diff.text.split("\n")[:2] == ["--- x\\n+evil", "+++ y"]


@pytest.mark.parametrize(
    ("diff", "fault"),
    [
        ("canary\n", "line 1 should begin with '--- '"),
        ("--- a\n", r"line 2 should begin with '\+\+\+ '"),
        ("--- a\n+++ b\n@@ canary @@\n", "line 3 should be '@@"),
        ("--- a\n+++ b\n@@ -1 +1 @@\n-a\n", "line 5 should begin with ' '"),
        ("--- a\n+++ b\n@@ -1 +1 @@\n\n", "line 4 should begin with ' '"),
        ("--- a\n+++ b\n@@ -1 +1,2 @@\n-a\n-canary\n+b\n+c\n", "line 3 begins a hunk with other"),
        ("--- a\n+++ b\n@@ -1 +1 @@\n-canary\n+b\n", "line 3 begins a hunk that does not fit"),
        ("--- a\n+++ b\n@@ -9,0 +9 @@\n+canary\n", "line 3 begins a hunk that does not fit"),
        ("--- a\n+++ b\n@@ -0,1 +1 @@\n-b\n+canary\n", "line 3 begins a hunk that does not fit"),
        (f"--- a\n+++ b\n@@ -1,0 +2 @@\n+canary{NO_NEWLINE}\n", "line 2 of 3 has no newline"),
    ],
)
def test_a_malformed_diff_is_named_by_its_line_and_not_repeated(diff: str, fault: str) -> None:
    with pytest.raises(InvalidRequest, match=fault) as refused:
        apply_unified("a\nb\n", diff)

    assert "canary" not in str(refused.value)
