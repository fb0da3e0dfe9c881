"""Finds what jq path expressions select; runs in a sandbox child, so it imports jq and no more.

Not for import elsewhere: see `foretell.inventory.ignore`. No message tells a value, which may be a
secret's: jq quotes what it could not go into.
"""

import json
import re
from functools import lru_cache
from typing import Any

import jq  # type: ignore[import-not-found]

_MODULES = re.compile(r"\A(?:\s|#[^\n]*\n)*(?:module|import|include)\b")


class Refused(Exception):
    """The expression is wrong; the message is for its author."""


class NotApplicable(Exception):
    """The expression leads nowhere in this value, as `.spec.containers[]` in a ConfigMap."""


def selected(request: dict[str, Any]) -> list[list[str | int]] | None:
    """The paths in `value` that `expression` selects; without a `value`, whether it is jq at all.

    Paths and not the rest of the value, because jq keeps numbers as floats of 64 bits.
    """
    program = _program(request["expression"])
    if "value" not in request:
        return None
    value = request["value"]
    try:
        found = program.input_text(json.dumps(value)).all()
    except ValueError:
        raise NotApplicable from None
    if len(found) != 1:
        raise NotApplicable
    return [path for path in (_plain(path, value) for path in found[0]) if path is not None]


@lru_cache(maxsize=64)
def _program(expression: str) -> Any:
    if _MODULES.match(expression):
        raise Refused("modules are not available: no import, include or module")
    try:
        # By itself first: `.a) | (.b` is no expression, whatever it makes of what is around it.
        jq.compile(expression)
        return jq.compile(f"[path({expression}\n)]")
    except ValueError as error:
        raise Refused(str(error).partition("\n")[0].removeprefix("jq: error: ")) from None


def _plain(path: list[Any], value: Any) -> list[str | int] | None:
    """The path with places counted from the start; None where there is nothing."""
    steps: list[str | int] = []
    for step in path:
        if isinstance(step, dict):
            raise NotApplicable
        if isinstance(step, int) and step < 0 and isinstance(value, list):
            step += len(value)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
        steps.append(step)
    return steps
