"""Selectors: CEL over `deployment`, `environment`, `resource` and `jobAgent`, true or false.

A key that is absent is no match: the whole selector is false when its answer depends on such a key,
also with `!=` and `!`; that of a policy is true then, because a gate must not open by a typing
error. So `resource.metadata.tier != "prod"` leaves out what has no tier; to select
that too, say `!has(resource.metadata.tier) || resource.metadata.tier != "prod"`. (`a || b` is true
when one side is, whatever is absent in the other; `a && b` false likewise.)

Bounds, because the engine can't be interrupted, are in `foretell.inventory.select_text` and in
docs/reference/selectors.md.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from foretell.domain.errors import InvalidRequest
from foretell.inventory.select_text import (
    MAX_TEXT_BYTES,
    Cost,
    Path,
    bound_names,
    check_work,
    measure,
    needed,
    tokens,
)

if TYPE_CHECKING:
    import cel

KEYS: Final[Mapping[str, frozenset[str]]] = {
    "deployment": frozenset(("id", "slug", "name", "metadata")),
    "environment": frozenset(("id", "name", "metadata")),
    "resource": frozenset(("id", "identifier", "name", "kind", "version", "config", "metadata")),
    "jobAgent": frozenset(("id", "name", "type")),
}
"""What selectors are asked about: the `describe()` of each, in `domain/target.py`."""
VARIABLES: Final = frozenset(KEYS)
_TYPES: Final = {"bool", "bytes", "double", "duration", "int", "list", "map", "null_type"} | {
    *("string", "timestamp", "type", "uint")
}
_CONVERSIONS: Final = _TYPES - {"list", "map", "null_type"} | {"dyn"}
_TEXT: Final = {"contains", "endsWith", "matches", "size", "startsWith"}
_EXTENSIONS: Final = {"lowerAscii", "trim", "upperAscii"}
_TIME: Final = {"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear"} | {
    *("getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds")
}
_FUNCTIONS: Final = _CONVERSIONS | _TEXT | _EXTENSIONS | _TIME
_CEL_NAMES: Final = {"str": "string", "float": "double", "dict": "map", "NoneType": "null"}
_POSITION: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")


@dataclass(frozen=True, slots=True, eq=False)
class Selector:
    """Called with the four variables as maps, says whether they match; `absent`, where that
    depends on a key which is not there.

    Raises InvalidRequest when the question makes no sense for these values: types that can't be
    compared, an answer that is neither true nor false, too much to iterate over.
    """

    text: str
    references: frozenset[str]
    _program: "cel.Program | None"
    _paths: Mapping[str, Path]
    _cost: Cost

    def __call__(self, variables: Mapping[str, Any], *, absent: bool = False) -> bool:
        if self._program is None:
            return True
        for name in self.references - variables.keys():
            _wrong(self.text, f"there is no {name} to ask about here")
        asked = {name: path.of(variables[name]) for name, path in self._paths.items()}
        try:
            check_work(self._cost, asked)
        except InvalidRequest as error:
            _wrong(self.text, error.message)
        answer = _answer(self.text, self._program, asked)
        return absent if answer is None else answer


@lru_cache(maxsize=4096)
def compile_selector(text: str | None) -> Selector:
    """The selector, ready to be called; None and a blank text match everything.

    Raises InvalidRequest that names the line and column, when it does not parse, can't be true or
    false, uses a name that is unknown, or is over the bounds.
    """
    if text is None or not text.strip():
        return Selector("", frozenset(), None, {}, Cost())
    if len(text.encode()) > MAX_TEXT_BYTES:
        _wrong(text, f"it is longer than {MAX_TEXT_BYTES:,} bytes")
    try:
        found = tokens(text)
        cost = measure(text, found)
    except InvalidRequest as error:
        _wrong(text, error.message)
    program = _compiled(text)
    known = VARIABLES | bound_names(found) | _TYPES
    for name in sorted(set(program.variables()) - known):
        _wrong(text, f"{name!r} is unknown: there is {', '.join(sorted(VARIABLES))}")
    for name in program.functions():
        if name[0].isalpha() and name not in _FUNCTIONS:
            _wrong(text, f"there is no function {name!r}")
    paths = needed(found, VARIABLES)
    selector = Selector(text, frozenset(paths), program, paths, cost)
    _try(selector)
    return selector


def check_selector(text: str | None) -> None:
    """For a selector that somebody writes: also a key that no variable ever has is an error.

    It would never match, and nobody would be told. Raises InvalidRequest as `compile_selector`.
    """
    selector = compile_selector(text)
    for name, path in sorted(selector._paths.items()):
        for key in sorted(path.below.keys() - KEYS[name]):
            known = ", ".join(sorted(KEYS[name]))
            _wrong(selector.text, f"{name} has no {key!r}: there is {known}")


def references(text: str | None) -> frozenset[str]:
    """Which of the four variables the answer can depend on, to remember it by."""
    return compile_selector(text).references


def _try(selector: Selector) -> None:
    """Asked about nothing, a selector answers true, false or "no such key", or it never will.

    What depends on the values (a division, a comparison) is left for the values.
    """
    nothing: dict[str, Any] = {name: {} for name in VARIABLES}
    check_work(selector._cost, nothing)
    assert selector._program is not None
    try:
        _answer(selector.text, selector._program, nothing)
    except InvalidRequest as error:
        if not isinstance(error.__cause__, (TypeError, ArithmeticError)):
            raise


def _compiled(text: str) -> "cel.Program":
    # Imported late: the package brings its command line along, 0.2 s that few commands need.
    import cel

    try:
        return cel.compile(text)
    except ValueError as error:
        found = _POSITION.search(str(error))
        if found is None:
            _wrong(text, "it does not parse", error)
        line, column, reason = found.groups()
        reason = reason.split(" expecting {")[0]
        _wrong(text, f"line {line}, column {column}: does not parse: {reason}", error)


def _answer(text: str, program: "cel.Program", variables: Mapping[str, Any]) -> bool | None:
    """None for an absent key. Whatever else the engine raises is the selector's fault."""
    import cel

    try:
        answer = program.execute(cel.Context(dict(variables), _extensions()))
    except LookupError:
        return None
    except Exception as error:
        _wrong(text, " ".join(str(error).split(". ")[0].split()), error)
    except BaseException as error:
        # A panic in the engine arrives outside of Exception; a cancellation must pass.
        if type(error).__name__ != "PanicException":
            raise
        _wrong(text, "the engine can't evaluate it", error)
    if not isinstance(answer, bool):
        kind = type(answer).__name__
        _wrong(text, f"it gives {_CEL_NAMES.get(kind, kind)}, not true or false")
    return answer


@cache
def _extensions() -> dict[str, Any]:
    """Of cel-go's strings extension, what people write in selectors."""
    from cel import stdlib

    return {
        "lowerAscii": stdlib.lower_ascii,
        "upperAscii": stdlib.upper_ascii,
        "trim": stdlib.trim,
    }


def _wrong(text: str, reason: str, cause: BaseException | None = None) -> NoReturn:
    shown = text if len(text) <= 120 else f"{text[:117]}..."
    raise InvalidRequest(f"selector {shown!r}: {reason}") from cause
