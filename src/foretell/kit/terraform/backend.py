"""The configuration of a backend as the file that `init -backend-config` reads.

In HCL's own syntax and not in JSON: of a string in JSON, OpenTofu evaluates templates and
Terraform does not, so one text would mean two things.
"""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from foretell.domain.errors import AgentRejected

_NAME: Final = re.compile(r"[A-Za-z_][\w-]*")
_TEMPLATE: Final = re.compile(r"([$%])(?=\{)")


def backend_file(config: Mapping[str, Any]) -> str:
    """Every value taken literally, also `${x}`. Raises AgentRejected for a key that is no name."""
    wrong = [key for key in config if not _NAME.fullmatch(key)]
    if wrong:
        raise AgentRejected(f"backendConfig: {wrong[0][:80]!r} is no name of an argument")
    return "".join(f"{key} = {literal(value)}\n" for key, value in config.items())


def literal(value: Any) -> str:
    """A JSON-like value as an HCL expression (HCL native syntax specification, "Expressions")."""
    match value:
        case str():
            return _TEMPLATE.sub(r"\1\1", json.dumps(value, ensure_ascii=False))
        case Mapping():
            items = (f"{literal(str(key))} = {literal(each)}" for key, each in value.items())
            return f"{{ {', '.join(items)} }}"
        case list() | tuple():
            return f"[{', '.join(literal(each) for each in value)}]"
        case Decimal():
            return str(value)
        case _:
            return json.dumps(value)
