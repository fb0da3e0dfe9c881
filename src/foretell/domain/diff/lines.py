"""A text as lines, and back."""

from collections.abc import Sequence

from foretell.domain.errors import InvalidRequest

NO_NEWLINE = "\n\\ No newline at end of file"


def split_lines(text: str) -> list[str]:
    """The lines without their "\\n"; a last line that has none carries `NO_NEWLINE` at its end.

    So it differs from the same line with one, and is shown as unified diffs show it.
    """
    lines = text.split("\n")
    if last := lines.pop():
        lines.append(last + NO_NEWLINE)
    return lines


def join_lines(lines: Sequence[str]) -> str:
    """The text of `split_lines`. Raises InvalidRequest if a line before the last has no end."""
    for number, line in enumerate(lines[:-1], 1):
        if "\n" in line:
            raise InvalidRequest(f"line {number} of {len(lines)} has no newline at its end")
    text = "".join(f"{line}\n" for line in lines)
    return text.removesuffix(f"{NO_NEWLINE}\n")
