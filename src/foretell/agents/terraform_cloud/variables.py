"""Values as HCL literals: a run's variable is an expression in a string.

Terraform evaluates what it is given, so that an unescaped `${…}` runs functions on the other side.
Checked against the real program in tests/real/test_run_variables.py.
"""

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from foretell.domain.errors import AgentRejected

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,255}")
_ESCAPE: Final = re.compile(r"\\(.)")
_NOT_OF_HCL: Final = {"b": r"\u0008", "f": r"\u000c"}
_DEEPEST: Final = 50


def run_variables(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """`attributes.variables` of a run, by name; AgentRejected names what no variable can be."""
    return [{"key": _name(key), "value": literal(values[key], key)} for key in sorted(values)]


def literal(value: Any, where: str = "value") -> str:
    """The HCL expression that evaluates to `value` (a JSON value or a Decimal), on one line.

    Texts come back in Unicode's form NFC: Terraform normalises every string.
    """
    return _literal(value, where, 0)


def _literal(value: Any, where: str, depth: int) -> str:
    if depth > _DEEPEST:
        raise AgentRejected(f"variable {where[:80]} is nested over {_DEEPEST} deep")
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value, where)
        case int() | float() | Decimal():
            return _number(value, where)
        case Mapping():
            members = (
                f"{quoted(key, where)} = {_literal(member, f'{where}.{key}', depth + 1)}"
                for key, member in value.items()
            )
            return "{ " + ", ".join(members) + " }" if value else "{}"
        case list() | tuple():
            items = (
                _literal(item, f"{where}[{place}]", depth + 1) for place, item in enumerate(value)
            )
            return "[" + ", ".join(items) + "]"
        case _:
            raise AgentRejected(f"variable {where} is no JSON value but {type(value).__name__}")


def quoted(text: str, where: str = "value") -> str:
    """A quoted template that holds no template: what JSON and HCL escape alike, and the rest.

    Not in ASCII: JSON's surrogate pairs are refused by HCL. `\\b` and `\\f` are no escapes of
    HCL; they are looked for escape by escape, an escaped backslash may stand before a plain b.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise AgentRejected(f"variable {where} holds half a character: it is no Unicode text")
    written = json.dumps(text, ensure_ascii=False)
    written = _ESCAPE.sub(lambda found: _NOT_OF_HCL.get(found[1], found[0]), written)
    return written.replace("${", "$${").replace("%{", "%%{")


def _number(value: float | Decimal, where: str) -> str:
    if not math.isfinite(value):
        raise AgentRejected(f"variable {where} is {value}: Terraform has no such number")
    return str(value)


def _name(key: str) -> str:
    if not _IDENTIFIER.fullmatch(key):
        raise AgentRejected(
            f"variable {key[:80]!r} can't be a Terraform variable: expected letters, digits, _ "
            "and -, a letter or _ first"
        )
    return key
