"""Reads the text of a CEL selector: what it may cost, and which parts of its variables it needs.

The engine shows no syntax tree, can't be interrupted, and holds the interpreter: what could run for
long has to be refused before it runs. Tokens as in the CEL specification, "Syntax".
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from foretell.domain.errors import InvalidRequest

MAX_TEXT_BYTES: Final = 4096
MAX_ITEMS: Final = 1000
# Comparisons of single values over all iterations; ten million take about a second.
MAX_WORK: Final = 10_000_000
# `matches` compiles its pattern for each call: 100 ms for a mean one. Each `+` may copy all that
# was joined before it, `filter` and `map` copy their result for each item (75 ms for a thousand),
# and a chain of `map` may double its result each time.
_MOST: Final = {"comprehension": 8, "matches": 8, "+": 16, "map": 1}
_MACROS: Final = frozenset(("all", "exists", "exists_one", "existsOne", "filter", "map"))
_COSTLY: Final = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
_TOKEN: Final = re.compile(
    r"""
      (?P<skip> \s+ | //[^\n]* )
    | (?P<raw> (?:[rR][bB]?|[bB][rR]) (?: \"{3}.*?\"{3} | '{3}.*?'{3} | "[^"\n]*" | '[^'\n]*' ) )
    | (?P<text> [bB]? (?: \"{3}(?:\\.|[^\\])*?\"{3} | '{3}(?:\\.|[^\\])*?'{3}
                        | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' ) )
    | (?P<number> \d[\w.]* | \.\d\w* )
    | (?P<name> [A-Za-z_]\w* )
    | (?P<sign> == | != | <= | >= | && | \|\| | [^\w\s"'] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


@dataclass(slots=True)
class Path:
    """What is needed of a value: all of it, or only what is below some of its keys."""

    whole: bool = False
    below: dict[str, "Path"] = field(default_factory=dict)

    def of(self, value: Any) -> Any:
        """`value` without what isn't needed; an absent key stays absent."""
        if self.whole or not isinstance(value, Mapping):
            return plain(value)
        return {key: path.of(value[key]) for key, path in self.below.items() if key in value}


def plain(value: Any) -> Any:
    """As the engine takes it: real maps and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def place(text: str, at: int) -> str:
    """`line 2, column 5` of a position."""
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - (text.rfind(chr(10), 0, at) + 1) + 1}"


def tokens(text: str) -> list[Token]:
    """Raises InvalidRequest where no token begins."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InvalidRequest(f"{place(text, at)}: this quote is never closed")
        if match.lastgroup not in (None, "skip"):
            found.append(Token(str(match.lastgroup), match.group(), at))
        at = match.end()
    return found


@dataclass(slots=True)
class Cost:
    """`iterated`: costly operations inside comprehensions; `literals`: values in the text."""

    iterates: bool = False
    iterated: int = 0
    literals: int = 0


def measure(text: str, found: Sequence[Token]) -> Cost:
    """What the selector may cost; raises InvalidRequest that names the place it is refused for."""
    cost, counts = Cost(literals=len(found)), Counter[str]()
    open_brackets: list[bool] = []
    inside = 0
    for index, token in enumerate(found):
        macro, call = _is_macro(found, index), _is_call(found, index)
        if inside and (macro or token.text == "+" or (call and token.text == "matches")):
            _refuse(text, token, f"{token.text} inside a comprehension")
        counts.update(_counted(token, macro=macro, call=call))
        _check_counts(text, token, counts)
        cost.iterates |= macro
        cost.iterated += bool(inside) and (call or token.text in _COSTLY)
        if token.kind == "sign" and token.text in "([{":
            open_brackets.append(_is_macro(found, index - 1))
            inside += open_brackets[-1]
        elif token.kind == "sign" and token.text in ")]}" and open_brackets:
            inside -= open_brackets.pop()
    return cost


def _is_call(found: Sequence[Token], index: int) -> bool:
    following = found[index + 1].text if index + 1 < len(found) else ""
    return found[index].kind == "name" and following == "("


def _is_macro(found: Sequence[Token], index: int) -> bool:
    member = index > 0 and found[index - 1].text == "."
    return member and found[index].text in _MACROS and _is_call(found, index)


def _counted(token: Token, *, macro: bool, call: bool) -> Iterator[str]:
    if macro:
        yield "comprehension"
    if call or token.text == "+":
        yield token.text


def _check_counts(text: str, token: Token, counts: Mapping[str, int]) -> None:
    for name, most in _MOST.items():
        if counts[name] > most:
            _refuse(text, token, f"more than {most} of {name}")


def _refuse(text: str, token: Token, what: str) -> None:
    raise InvalidRequest(
        f"{place(text, token.at)}: {what} is not allowed: a selector can't be interrupted, "
        "so it must be cheap"
    )


def bound_names(found: Sequence[Token]) -> frozenset[str]:
    """Names that comprehensions bring: the first argument of each."""
    macros = (index for index in range(len(found) - 2) if _is_macro(found, index))
    return frozenset(found[index + 2].text for index in macros)


def needed(found: Sequence[Token], names: frozenset[str]) -> dict[str, Path]:
    """For each of `names` that occurs, what of it is needed."""
    paths: dict[str, Path] = {}
    for index, token in enumerate(found):
        member = index > 0 and found[index - 1].text == "."
        if token.kind == "name" and token.text in names and not member:
            path = paths.setdefault(token.text, Path())
            for key in _keys(found, index + 1):
                path = path.below.setdefault(key, Path())
            path.whole = True
    return paths


def _keys(found: Sequence[Token], index: int) -> Iterator[str]:
    """The keys that follow: `.name` that is no call, and `["name"]`."""
    while True:
        match [token.text for token in found[index : index + 3]]:
            case [".", name, *rest] if found[index + 1].kind == "name" and rest[:1] != ["("]:
                yield name
                index += 2
            case ["[", key, "]"] if found[index + 1].kind == "text" and _simple(key):
                yield key[1:-1]
                index += 3
            case _:
                return


def _simple(literal: str) -> bool:
    quote = literal[0]
    return quote in "\"'" and "\\" not in literal and literal[1:2] != quote


def check_work(cost: Cost, variables: Mapping[str, Any]) -> None:
    """Raises InvalidRequest when iterating over these values could take too long."""
    if not cost.iterates:
        return
    longest, size = _size(variables)
    if longest > MAX_ITEMS:
        raise InvalidRequest(
            f"it iterates over values with a list or map of {longest:,} items, "
            f"the limit is {MAX_ITEMS:,}"
        )
    longest, size = max(longest, cost.literals), size + cost.literals
    if cost.iterated * longest * size > MAX_WORK:
        raise InvalidRequest(
            "it may compare too many values: make the comprehension shorter, or select by metadata"
        )


def _size(value: Any) -> tuple[int, int]:
    """(items of the longest list or map, values in all; long strings count by their length)."""
    if isinstance(value, Mapping):
        items = [*value, *value.values()]
    elif isinstance(value, (list, tuple)):
        items = list(value)
    else:
        return 0, 1 + (len(value) // 64 if isinstance(value, (str, bytes)) else 0)
    sizes = [_size(item) for item in items]
    longest = max((inner for inner, _ in sizes), default=0)
    return max(longest, len(value)), 1 + sum(size for _, size in sizes)
