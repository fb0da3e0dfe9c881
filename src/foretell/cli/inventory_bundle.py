"""Inventory files as the one text that a server takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foretell.domain.target import Inventory
from foretell.formats.yaml import dump, load_documents
from foretell.inventory.load import inventory_files


def bundle(paths: Sequence[Path], inventory: Inventory) -> str:
    """The lists of all files one after another, rules with their text in place of a file name.

    `inventory` is what `paths` were read as: they are known to be right.
    """
    whole: dict[str, Any] = {}
    for file in inventory_files(paths):
        for document in load_documents(file.read_text(encoding="utf-8"), source=str(file)):
            for key, value in document.value.items():
                whole[key] = [*whole.get(key, []), *value] if isinstance(value, list) else value
    texts = {(p.name, rule.name): rule.rego for p in inventory.policies for rule in p.rules}
    for policy in whole.get("policies", []):
        for part in policy.get("rules", []):
            rule = part["planValidationOpa"]
            if rule.pop("file", None):
                rule["rego"] = texts[policy["name"], rule["name"]]
    return dump(whole)
