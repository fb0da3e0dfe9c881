"""A rule under a package of its own, so that many can be loaded together and not see each other.

Names are put into the text at the places that `opa parse --json-include locations` gives: lines
stay as they are, so a message still names the line that the author sees.
"""

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from foretell.policy.outline import Path

Places = tuple[tuple[int, int], ...]
"""(line, column), both counted from 1, before which the name belongs."""


def places_to_rename(tree: Any, rego: str) -> Places | None:
    """Where the module names its own package; None where that can't be told for certain.

    A module that asks for its own annotations would see the other name, so it can't be either.
    """
    head = tree["package"]["path"][1]["location"]
    places = [(head["row"], head["col"])]
    for reference in _references([tree.get("imports", []), tree.get("rules", [])]):
        first, *rest = reference["value"]
        if first["value"] == "rego" and rest and rest[0]["value"] == "metadata":
            return None
        if first["value"] == "data":
            where = first["location"]
            if not _stands_there(rego, where):
                return None
            places.append((where["row"], where["col"] + len("data")))
    return tuple(sorted(set(places)))


def _references(tree: Any) -> Iterator[Any]:
    if isinstance(tree, list):
        for each in tree:
            yield from _references(each)
    elif isinstance(tree, dict):
        if tree.get("type") == "ref":
            yield tree
        for each in tree.values():
            yield from _references(each)


def _stands_there(rego: str, location: Any) -> bool:
    line = rego.split("\n")[location["row"] - 1]
    named = b64decode(location["text"]).decode()
    return named == "data" and line[location["col"] - 1 :].startswith("data")


def renamed(rego: str, places: Places, name: str) -> str:
    """The module as `name.PACKAGE` instead of `PACKAGE`."""
    lines = rego.split("\n")
    first = places[0]
    for row, column in reversed(places):
        line = lines[row - 1]
        written = f"{name}." if (row, column) == first else f".{name}"
        lines[row - 1] = line[: column - 1] + written + line[column - 1 :]
    return "\n".join(lines)


def package_as(name: str, package: Path) -> Path:
    """The renamed module's package."""
    head, *rest = package
    return (head, name, *rest)
