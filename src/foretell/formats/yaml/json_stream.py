"""JSON documents, one or several in a row, as Kubernetes' decoder reads them."""

import json
import re
from typing import Any

from foretell.formats.yaml.building import Fault, Limits
from foretell.formats.yaml.scalar import bounded, whole

_BLANK = re.compile(r"[ \t\n\r]*")
_SURROGATES = re.compile("[\ud800-\udfff]")


def json_documents(text: str, start: int, limits: Limits) -> list[tuple[Any, int]] | None:
    """Value and line (from 0) of each; None when the first is no JSON, and so may be YAML."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )
    found: list[tuple[Any, int]] = []
    line, counted = 0, 0
    while start < len(text):
        line, counted = line + text.count("\n", counted, start), start
        try:
            value, end = decoder.raw_decode(text, start)
        except RecursionError:
            raise Fault(line, f"is nested deeper than {limits.depth} levels") from None
        except json.JSONDecodeError as error:
            if not found:
                return None
            raise Fault(error.lineno - 1, f"is no JSON: {error.msg}", ahead=len(found)) from None
        except _Repeated as error:
            raise Fault(line, str(error), ahead=len(found)) from None
        found.append((_clean(value, limits.depth, line, limits), line))
        blank = _BLANK.match(text, end)
        start = blank.end() if blank else end
    return found


class _Repeated(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Repeated(f"the key {twice!r} is there twice in one object")
    return found


def _integer(text: str) -> int | float:
    return whole(float(text)) if len(text) > 20 else bounded(int(text))


def _float(text: str) -> int | float:
    return whole(float(text))


def _constant(name: str) -> None:
    raise json.JSONDecodeError(f"{name} is no JSON number", "", 0)


def _clean(value: Any, depth: int, line: int, limits: Limits) -> Any:
    """Depth checked, and lone surrogates replaced as Go replaces them."""
    if depth < 0:
        raise Fault(line, f"is nested deeper than {limits.depth} levels")
    if isinstance(value, dict):
        return {
            _SURROGATES.sub("\ufffd", key): _clean(item, depth - 1, line, limits)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_clean(item, depth - 1, line, limits) for item in value]
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise Fault(line, "has a number that is too large for JSON")
    return value
