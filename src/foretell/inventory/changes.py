"""What applying an inventory would change: names of items and fields, never a value."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any

from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    Inventory,
    Policy,
    Resource,
)
from foretell.ports import InventoryItem, InventoryKind


class ItemAction(StrEnum):
    """What happens to one item."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item that differs. `fields`: the keys that do, one level into maps, in order."""

    kind: InventoryKind
    ref: str
    action: ItemAction
    fields: tuple[str, ...] = ()


def diff(old: Inventory, new: Inventory) -> list[ItemChange]:
    """The items that differ, in the order of `InventoryKind`, each kind by ref.

    Items are the same by ref (slug, name or identifier); ids are not compared.
    """
    return [
        change
        for kind in InventoryKind
        for change in _changes(kind, items(old, kind), items(new, kind))
    ]


def items(inventory: Inventory, kind: InventoryKind) -> dict[str, InventoryItem]:
    """The items of one kind by their ref."""
    match kind:
        case InventoryKind.DEPLOYMENT:
            return {item.slug: item for item in inventory.deployments}
        case InventoryKind.ENVIRONMENT:
            return {item.name: item for item in inventory.environments}
        case InventoryKind.RESOURCE:
            return {item.identifier: item for item in inventory.resources}
        case InventoryKind.AGENT:
            return {item.name: item for item in inventory.agents}
        case InventoryKind.POLICY:
            return {item.name: item for item in inventory.policies}


def _changes(
    kind: InventoryKind, old: Mapping[str, InventoryItem], new: Mapping[str, InventoryItem]
) -> Iterator[ItemChange]:
    for ref in sorted({*old, *new}):
        if ref not in old:
            yield ItemChange(kind, ref, ItemAction.ADD)
        elif ref not in new:
            yield ItemChange(kind, ref, ItemAction.DELETE)
        elif changed := tuple(sorted(_differing(_flat(old[ref]), _flat(new[ref])))):
            yield ItemChange(kind, ref, ItemAction.MODIFY, changed)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    return {
        key
        for key in {*old, *new}
        if key not in old or key not in new or not _same(old[key], new[key])
    }


def _same(old: Any, new: Any) -> bool:
    """Equal in type too: for a chart, true is not 1."""
    return _text(old) == _text(new)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, timedelta) else asdict(value)


def _flat(item: InventoryItem) -> dict[str, Any]:
    """The item's keys as files spell them, with those of its maps and named parts."""
    flat: dict[str, Any] = {}
    for part in fields(item):
        if part.name == "id":
            continue
        key, value = _CAMEL.get(part.name, part.name), getattr(item, part.name)
        named = _named(value)
        if named is None:
            flat[key] = value
        else:
            flat |= {f"{key}.{name}": inner for name, inner in named.items()}
    return flat


def _named(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple):
        return {getattr(part, "key", None) or part.name: part for part in value}
    return None


_CAMEL: Mapping[str, str] = {
    name: name.split("_")[0] + "".join(word.capitalize() for word in name.split("_")[1:])
    for item in (AgentSpec, Deployment, Environment, Policy, Resource)
    for name in item.__dataclass_fields__
}
