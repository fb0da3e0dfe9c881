"""Values -> canonical text: the same value gives the same bytes, and Kubernetes reads it back.

The layout is kubectl's (keys sorted, lists not indented under their key, nothing folded, text of
several lines as a literal block). What any YAML reader could take for something else is quoted,
and so is what a reviewer could not see: direction marks, zero-width and control characters.
"""

import re
from typing import Any

from foretell.formats.yaml.scalar import resolve

_PLAIN = re.compile(
    r"(?!---|\.\.\.)(?:[A-Za-z0-9_/.$(+~^;\\<\u00a1-\U0010ffff]|-(?=[^ ]))"
    r"(?:[^ :#\n\t]|:(?=[^ \n])| (?=[^#])|(?<! )#)*"
)
_OTHER_READERS = re.compile(
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"  # YAML 1.1 counts to 60
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"  # and has dates
    r"|<<|[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)|0[oO][0-9]+"
)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_ESCAPED = re.compile(r'["\\]|[^ -~]')
_LONGEST_SIMPLE_KEY = 128
_LONGEST_PLAIN = 4096  # matching takes memory for every character


def dump(value: Any) -> str:
    """The canonical text of one document, ending in a newline."""
    return Writer().text(value)


class Writer:
    """Writes many documents, remembering how each scalar is written."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def text(self, value: Any) -> str:
        """The canonical text of `value`, ending in a newline."""
        lines: list[str] = []
        if type(value) is dict and value:
            self._mapping(value, lines, "", "")
        elif type(value) is list and value:
            self._sequence(value, lines, "", "")
        else:
            lines.append(self._scalar(value, ""))
        lines.append("")
        return "\n".join(lines)

    def _mapping(self, value: dict[str, Any], lines: list[str], pad: str, lead: str) -> None:
        for key in sorted(value):
            item = value[key]
            head = lead + self._key(key, pad)
            lead = pad
            if type(item) is dict and item:
                lines.append(head)
                self._mapping(item, lines, pad + "  ", pad + "  ")
            elif type(item) is list and item:
                lines.append(head)
                self._sequence(item, lines, pad, pad)
            else:
                lines.append(f"{head} {self._scalar(item, pad)}")

    def _sequence(self, value: list[Any], lines: list[str], pad: str, lead: str) -> None:
        for item in value:
            head = lead + "- "
            lead = pad
            if type(item) is dict and item:
                self._mapping(item, lines, pad + "  ", head)
            elif type(item) is list and item:
                self._sequence(item, lines, pad + "  ", head)
            else:
                lines.append(head + self._scalar(item, pad))

    def _key(self, key: str, pad: str) -> str:
        if len(key) > _LONGEST_SIMPLE_KEY:
            return f"? {self._quoted(key)}\n{pad}:"
        return self._quoted(key) + ":"

    def _scalar(self, value: Any, pad: str) -> str:
        if type(value) is str:
            if "\n" in value and _is_block(value):
                return _block(value, pad + "  ")
            return self._quoted(value)
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, dict | list):
            return "{}" if isinstance(value, dict) else "[]"
        return repr(value)

    def _quoted(self, text: str) -> str:
        written = self._written.get(text)
        if written is None:
            written = self._written[text] = quoted(text)
        return written


def quoted(text: str) -> str:
    """One line: plain where nobody could misread it, else quoted."""
    if not (text.isascii() or text.isprintable()) or not text.isprintable():
        return _double(text)
    if len(text) > _LONGEST_PLAIN or not _PLAIN.fullmatch(text):
        return "'" + text.replace("'", "''") + "'" if text and "'" not in text else _double(text)
    if type(resolve(text)) is not str or _OTHER_READERS.fullmatch(text):
        return _double(text)
    return text


def _double(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def _is_block(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "").isprintable() and text.strip(" \n") != ""


def _block(text: str, pad: str) -> str:
    """A literal block; the indentation is named where the first character would hide it."""
    indicator = "2" if text[0] in " \n\t" else ""
    body = text.rstrip("\n")
    chomp = {0: "-", 1: ""}.get(len(text) - len(body), "+")
    lines = [pad + line if line else "" for line in body.split("\n")]
    blank = [""] * (len(text) - len(body) - 1)
    return "\n".join([f"|{indicator}{chomp}", *lines, *blank])
