"""The statements of `sql/*.sql`, by name."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)( alone)?\n", re.MULTILINE)
_COLUMNS = re.compile(r"^-- columns: (\w+)\n(.+?)\n\n", re.MULTILINE | re.DOTALL)
_CHANGES = re.compile(r"\b(INSERT|UPDATE|DELETE|COPY|pg_advisory_xact_lock)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """`in_transaction` False: alone or in a transaction, it is the same."""

    text: bytes
    in_transaction: bool


@cache
def queries() -> dict[str, Statement]:
    """Every statement below a `-- name: …` line; a name given twice is a ValueError.

    A statement that writes or locks needs a transaction, unless its name is followed by `alone`.
    Below `-- columns: NAME` stands a list of columns that any statement may name as `@NAME`.
    The text never changes while we run, so that a connection prepares each of them once.
    """
    found: dict[str, Statement] = {}
    folder = files("foretell.store").joinpath("sql")
    texts = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    columns = {f"@{name}": text for one in texts.values() for name, text in _COLUMNS.findall(one)}
    for file, content in sorted(texts.items()):
        _, *parts = _NAME.split(_COLUMNS.sub("", _with(columns, content)))
        for name, alone, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if name in found:
                raise ValueError(f"{file}: there are two statements named {name}")
            changes = _CHANGES.search(text) is not None
            found[name] = Statement(text.strip().encode(), changes and not alone)
    return found


def _with(columns: dict[str, str], text: str) -> str:
    for name, listed in columns.items():
        text = text.replace(name, listed)
    return text
