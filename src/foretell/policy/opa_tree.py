"""The syntax tree of the opa program -> an `Outline`.

The tree is what `opa parse --format json --json-include locations` of OPA 1.x prints: terms are
`{type, value, location}`, a reference is a list of terms that begins with a variable.
"""

from collections.abc import Iterator
from typing import Any

from foretell.policy.outline import Outline, Path, Reference


def read_tree(tree: Any) -> Outline:
    """The program itself finds unknown functions and recursion, so only names matter here."""
    rules: dict[str, int] = {}
    for rule in tree.get("rules", ()):
        head = rule["head"]
        rules.setdefault(head["ref"][0]["value"], head["location"]["row"])
    parts = [tree.get("imports", []), tree.get("rules", [])]
    package = tuple(part["value"] for part in tree["package"]["path"])
    return Outline(package, rules, tuple(_references(parts)))


def _references(tree: Any) -> Iterator[Reference]:
    if isinstance(tree, list):
        for each in tree:
            yield from _references(each)
    elif isinstance(tree, dict):
        if tree.get("type") == "ref":
            yield Reference(tree["location"]["row"], _constant(tree["value"]))
        for each in tree.values():
            yield from _references(each)


def _constant(terms: list[Any]) -> Path:
    first, *rest = terms
    path = [str(first["value"])]
    for term in rest:
        if term["type"] != "string":
            break
        path.append(term["value"])
    return tuple(path)
