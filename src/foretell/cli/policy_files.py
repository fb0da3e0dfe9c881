"""Rules in files: Rego alone, or an inventory with its policies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from foretell.domain.errors import InvalidRequest
from foretell.domain.target import Inventory, Policy, PolicyRule
from foretell.inventory.load import load

Files = Annotated[
    list[Path], typer.Argument(help="Rules (.rego), inventory files, or folders of the latter.")
]


def read_rules(paths: Sequence[Path]) -> list[Policy]:
    """A policy for each folder of rules that stand alone: it applies everywhere."""
    alone = [path for path in paths if path.suffix == ".rego"]
    folders = sorted({str(path.parent) for path in alone})
    return [Policy("", folder, rules=_rules(alone, folder)) for folder in folders]


def read_inventory(paths: Sequence[Path]) -> Inventory:
    """That of the files that are no rules."""
    others = [path for path in paths if path.suffix != ".rego"]
    return load(others).inventory if others else Inventory()


def _rules(paths: Sequence[Path], folder: str) -> tuple[PolicyRule, ...]:
    return tuple(
        PolicyRule(path.name, read_text(path)) for path in paths if str(path.parent) == folder
    )


def read_text(path: Path) -> str:
    """Raises InvalidRequest for a file that can't be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} can't be read: {error}") from error
