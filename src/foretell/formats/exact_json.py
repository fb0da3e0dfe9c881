"""JSON whose numbers keep the text they were written with.

A plan's numbers are identities as often as quantities: 64-bit ids and decimals must neither pass
through a float nor be normalised, since plan hashes bind `1` and `1.0` apart.
"""

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, Final

from foretell.domain.errors import InvalidRequest

_MAX_DIGITS: Final = 4000
"""Below the interpreter's limit (4,300 digits) for turning text into an int and back."""
_MAX_DEPTH: Final = 150
_MINUS_ZERO = re.compile(r"-0(?![.\deE])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SORTED = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_GO_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


class Exact(Decimal):
    """A number that equals its value and remembers its text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> "Exact":
        try:
            number = super().__new__(cls, text)
        except InvalidOperation:
            raise InvalidRequest(
                "a number in the JSON has an exponent beyond all bounds; write it in plain digits"
            ) from None
        number.text = text
        return number


def loads(document: str | bytes, *, what: str = "the document") -> Any:
    """Parse JSON. Fractions and numbers an int cannot hold become `Exact`.

    Lone surrogates become U+FFFD, as in Go. Errors name line and column and never quote the text:
    `InvalidRequest` for anything that is not one JSON value in UTF-8 or UTF-16.
    """
    try:
        text = document if isinstance(document, str) else _decoded(document)
        value = _parsed(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidRequest(f"{what} is not JSON: {error.msg} at {place}") from None
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{what} is not text: byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise InvalidRequest(f"{what} is nested too deeply to be read") from None
    _refuse_depth(value, what)
    return _without_surrogates(value) if _SURROGATE_ESCAPE.search(text) else value


def embedded(text: str) -> Any:
    """The non-empty object or list that a string holds as JSON (a policy document), else None."""
    if text[:1] not in ("{", "[") or text.rstrip()[-1:] not in ("}", "]"):
        return None
    try:
        value = loads(text)
    except InvalidRequest:
        return None
    return value or None


def _refuse_depth(value: Any, what: str) -> None:
    """Every walk over the value recurses; a bound here saves each of them a guard."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise InvalidRequest(f"{what} is nested deeper than {_MAX_DEPTH} levels")


def _decoded(document: bytes) -> str:
    return document.decode(json.detect_encoding(document))


def _parsed(text: str) -> Any:
    plain = _MINUS_ZERO.search(text) is None
    try:
        return _decode(text, int if plain else _integer)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer beyond the interpreter's digit limit
        return _decode(text, _integer)


def _decode(text: str, parse_int: Callable[[str], Any]) -> Any:
    return json.loads(text, parse_float=Exact, parse_int=parse_int, parse_constant=_no_constant)


def _integer(text: str) -> int | Exact:
    return Exact(text) if len(text) > _MAX_DIGITS or text == "-0" else int(text)


def _no_constant(name: str) -> Any:
    raise json.JSONDecodeError(f"{name} is no JSON value", "", 0)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


def dumps(value: Any, *, indent: int | None = None) -> str:
    """JSON text with every number as it was read; keys in their order, no ASCII escaping."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    except (TypeError, ValueError):
        return _encoded(value, sort=False)


def canonical(value: Any) -> str:
    """Sorted keys, no whitespace, numbers as read, `<>&` and U+2028/9 escaped as Go does.

    For byte-exact hashes (terraformplan canonical effect JSON).
    """
    try:
        text = _SORTED.encode(value)
    except (TypeError, ValueError):
        text = _encoded(value, sort=True)
    # These characters can stand only inside strings of compact JSON.
    return text if text.isascii() and not _html(text) else text.translate(_GO_ESCAPES)


def _html(text: str) -> bool:
    return "<" in text or ">" in text or "&" in text


def _encoded(value: Any, *, sort: bool) -> str:
    """The encoder of the standard library cannot write a number's own text; this one can."""
    match value:
        case Exact():
            return value.text
        case dict():
            keys = sorted(value) if sort else value
            members = (f"{encode_basestring(k)}:{_encoded(value[k], sort=sort)}" for k in keys)
            return "{" + ",".join(members) + "}"
        case list() | tuple():
            return "[" + ",".join(_encoded(item, sort=sort) for item in value) + "]"
        case str():
            return encode_basestring(value)
        case _:
            return json.dumps(value)


def number_text(value: Any) -> str:
    """A number, boolean or null as JSON writes it."""
    return value.text if isinstance(value, Exact) else json.dumps(value)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values: `0.1` is `0.10`, `1` is `1.0`, and `true` is not `1`."""
    if one is other:
        return True
    match one, other:
        case str(), str():
            return bool(one == other)
        case bool(), _:
            return False
        case _, bool():
            return False
        case dict(), dict():
            return len(one) == len(other) and all(
                key in other and same(item, other[key]) for key, item in one.items()
            )
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case _:
            return bool(one == other)
