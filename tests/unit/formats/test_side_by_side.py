"""Two texts next to each other: everything is there, in its column, whatever its width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.formats.side_by_side import Layout, Row, columns, side_by_side

WIDE = Layout(width=80)


def rows(before: str, after: str, layout: Layout = WIDE) -> list[Row]:
    return list(side_by_side(before, after, layout))


def texts(before: str, after: str, layout: Layout = WIDE) -> list[str]:
    return [row.text for row in rows(before, after, layout)]


def test_equal_texts_have_no_rows() -> None:
    assert rows("a: 1\n", "a: 1\n") == []
    assert rows("", "") == []


def test_a_changed_line_stands_beside_what_it_was() -> None:
    assert texts("a: 1\nb: 2\n", "a: 1\nb: 3\n", Layout(width=27)) == [
        "a: 1           a: 1",
        "b: 2         | b: 3",
    ]


def test_lines_are_paired_by_their_keys_not_by_their_places() -> None:
    found = rows("image: web:1\nport: 1\n", "args: x\nimage: web:2\nport: 2\n")
    pairs = [(row.left.text.strip(), row.mark, row.right.text.strip()) for row in found]
    assert pairs == [
        ("", ">", "args: x"),
        ("image: web:1", "|", "image: web:2"),
        ("port: 1", "|", "port: 2"),
    ]


def test_only_what_two_paired_lines_do_not_share_is_emphasised() -> None:
    (row,) = rows("image: web:1.0\n", "image: web:2.0\n")
    left = row.left.text[row.left.changed.start : row.left.changed.stop]
    right = row.right.text[row.right.changed.start : row.right.changed.stop]
    assert (left, right) == ("1", "2")


def test_lines_far_from_a_change_are_left_out_and_counted() -> None:
    same = "".join(f"k{at}: x\n" for at in range(9))
    found = texts(f"{same}z: 1\n", f"{same}z: 2\n", Layout(width=60, context=2))
    assert found[0].startswith("⋯ 7 equal lines")
    assert [line.split()[0] for line in found[1:]] == ["k7:", "k8:", "z:"]


def test_without_context_only_changes_and_gaps_are_left() -> None:
    found = texts("a: 1\nb: 1\nc: 1\n", "a: 1\nb: 2\nc: 1\n", Layout(width=60, context=0))
    assert [line[:1] for line in found] == ["⋯", "b", "⋯"]


def test_a_missing_last_newline_is_a_change_that_is_seen() -> None:
    (row,) = rows("a: 1", "a: 1\n", Layout(width=120))
    assert "No newline at end of file" in row.left.text
    assert "newline" not in row.right.text


def test_line_numbers_are_off_unless_wanted() -> None:
    before, after = "a: 1\nb: 1\n", "a: 1\nx: 1\nb: 1\n"
    assert not any(line[:1].isdigit() for line in texts(before, after))
    numbered = rows(before, after, Layout(width=60, numbered=True))
    numbers = [(row.left.text[:1], row.right.text[:1]) for row in numbered]
    assert numbers == [("1", "1"), (" ", "2"), ("2", "3")]


def test_what_steers_a_terminal_goes_through_the_given_function() -> None:
    shown = Layout(width=60, shown=lambda text: text.replace("\x1b", "ESC"))
    (row,) = rows("a: \x1b[31m\n", "a: \x1b[32m\n", shown)
    assert "ESC[31m" in row.left.text
    assert "\x1b" not in row.text


def test_two_texts_that_are_shown_alike_are_still_a_change() -> None:
    shown = Layout(width=60, shown=lambda text: text.replace("\x07", "\\x07"))
    assert [row.mark for row in rows("a: \x07\n", "a: \\x07\n", shown)] == ["|"]


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("a\u200db", 2), ("ｱ", 1)]
)
def test_wide_and_combining_characters_take_the_columns_of_a_terminal(
    text: str, width: int
) -> None:
    assert columns(text) == width


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\t"), max_size=40)
TEXT = st.lists(LINE, max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(TEXT, TEXT, st.integers(24, 70), st.booleans())
def test_no_row_is_wider_than_the_terminal_and_all_marks_are_in_one_column(
    before: str, after: str, width: int, numbered: bool
) -> None:
    for row in side_by_side(before, after, Layout(width=width, numbered=numbered)):
        assert columns(row.text) <= width
        assert columns(row.left.text) == columns(row.right.text)


@given(TEXT, TEXT, st.integers(24, 70))
def test_nothing_is_cut_off(before: str, after: str, width: int) -> None:
    found = rows(before, after, Layout(width=width, context=10**6))
    if before != after:
        for side, text in (("left", before), ("right", after)):
            shown = "".join(getattr(row, side).text.replace(" ", "") for row in found)
            assert shown == text.replace("\n", "").replace(" ", "")
