"""Values as a configuration would write them, safe to print."""

import re
from collections.abc import Iterator
from typing import Any, Final

from foretell.formats.exact_json import dumps, embedded, number_text
from foretell.formats.redact.redactor import HIDDEN_NOTE


class _Unknown(str):
    __slots__ = ()


UNKNOWN: Final = _Unknown("(known after apply)")
"""Stands in a value where the program does not know yet; told apart by identity."""

INDENT: Final = "  "
_BARE_KEY = re.compile(r"[A-Za-z_][\w-]*\Z")
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
"""Controls and what reorders text: a plan must not repaint the terminal or the page it is on."""


def visible(text: str) -> str:
    """The text with what cannot be seen, or moves other text, as escapes."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def scalar(value: Any) -> str:
    """A leaf on one line."""
    if value is UNKNOWN:
        return str(value)
    if isinstance(value, str):
        return value if HIDDEN_NOTE.fullmatch(value) else visible(dumps(value))
    return number_text(value)


def key(name: str) -> str:
    return name if _BARE_KEY.match(name) else scalar(str(name))


def is_multiline(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value.rstrip("\n")


def lines(value: Any, prefix: str = "") -> Iterator[str]:
    """The value on as many lines as it needs, `prefix` before the first; inner lines indented."""
    match value:
        case dict() if value:
            yield f"{prefix}{{"
            for name in sorted(value):
                yield from _indented(lines(value[name], f"{key(name)} = "))
            yield "}"
        case list() if value:
            yield f"{prefix}["
            for item in value:
                yield from _indented(_with_comma(lines(item)))
            yield "]"
        case dict() | list():
            yield prefix + ("{}" if isinstance(value, dict) else "[]")
        case str() if value is not UNKNOWN and (inner := embedded(value)) is not None:
            yield from _wrapped(prefix, inner)
        case str() if is_multiline(value):
            yield f"{prefix}<<-EOT"
            yield from (INDENT + visible(line) for line in value.rstrip("\n").split("\n"))
            yield "EOT"
        case _:
            yield prefix + scalar(value)


def _wrapped(prefix: str, inner: Any) -> Iterator[str]:
    first, *rest = lines(inner, f"{prefix}jsonencode(")
    *middle, last = [first, *rest]
    yield from (*middle, f"{last})")


def _indented(inner: Iterator[str]) -> Iterator[str]:
    return (INDENT + line for line in inner)


def _with_comma(inner: Iterator[str]) -> Iterator[str]:
    *head, last = inner
    yield from (*head, f"{last},")
