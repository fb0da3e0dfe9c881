"""Words and fences that stay what they are, whatever is in them.

Nothing of a plan can leave its place: no markup, no HTML, no link, nobody is mentioned, no issue is
referred to. Limits are in characters, as GitHub counts them.
"""

import re

TEXT_LIMIT = 500
"""Longest name or message in a comment, in characters: a longer one ends with an ellipsis."""

# What is markup anywhere, and what is only at the beginning of a line: a heading, a list.
_SPECIAL = re.compile(r"([\\`*_\[\]|~$]|^[-+#]|^\d+(?=[.)](?:\s|$)))")
# What GitHub links or announces whatever is before it: a person, an issue, an address.
_ALIVE = re.compile(r"(@|#|:(?=//)|\bwww(?=\.)|\bGH-(?=\d))", re.IGNORECASE)
# Controls, halves of characters, and what turns the direction of text around.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_RUNS = re.compile(r"`{3,}")


def cut(text: str, limit: int) -> str:
    """`text` on at most `limit` characters: whole lines, and it says that something is missing."""
    if len(text) <= limit:
        return text
    note = "\n… cut to fit\n"
    kept = text[: max(limit - len(note), 0)]
    return kept[: kept.rfind("\n") + 1] + note.lstrip("\n") if "\n" in kept else note[:limit]


def fenced(text: str, language: str = "") -> str:
    """`text` in a fence that nothing in it can close."""
    longest = max((len(run) for run in _RUNS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{shown(text).removesuffix(chr(10))}\n{fence}"


def code(text: str) -> str:
    """`text` as a code span inside a table cell; a backtick or a bar can't be in one.

    An escaped bar is no way out: with a backslash before it, it ends the cell all the same.
    """
    return f"`{flat(text).replace('`', chr(39)).replace('|', '¦')}`"


def inline(text: str) -> str:
    """`text` as plain words: no markup, no HTML, nobody is mentioned, nothing is linked."""
    return _SPECIAL.sub(_escaped, words(text))


def _escaped(found: re.Match[str]) -> str:
    # Of a numbered list it is the point after the number that can be escaped.
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def words(text: str) -> str:
    """`text` inside HTML of our own, where a backslash would be shown."""
    safe = flat(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _ALIVE.sub("\\1\u200b", safe)


def flat(text: str) -> str:
    """`text` on one line and bounded, for where there is no markup at all: a name, a title."""
    one_line = " ".join(shown(text).split())
    return one_line if len(one_line) <= TEXT_LIMIT else f"{one_line[: TEXT_LIMIT - 1]}…"


def shown(text: str) -> str:
    """`text` with what can't be seen made visible."""
    return _UNSHOWN.sub("\ufffd", text)
