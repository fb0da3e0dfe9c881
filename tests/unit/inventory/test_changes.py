"""What applying an inventory would change: names of items and fields, never a value."""

from foretell.domain.target import Inventory
from foretell.inventory.changes import ItemAction, ItemChange, diff
from foretell.inventory.load import parse
from foretell.ports import InventoryKind

BEFORE = """
resources: [{identifier: a, config: {namespace: x, size: 1}}, {identifier: b}]
deployments: [{name: web, variables: [{key: token, default: old-secret}]}]
"""
AFTER = """
resources: [{identifier: a, config: {size: true, namespace: x}}, {identifier: c}]
deployments: [{name: web, plan: {timeout: 1m}, variables: [{key: token, default: new-secret}]}]
"""


def inventory(text: str) -> Inventory:
    return parse({"a.yaml": text}).inventory


def test_each_item_that_differs_is_named_with_its_fields() -> None:
    assert diff(inventory(BEFORE), inventory(AFTER)) == [
        ItemChange(InventoryKind.DEPLOYMENT, "web", ItemAction.MODIFY, ("plan", "variables.token")),
        ItemChange(InventoryKind.RESOURCE, "a", ItemAction.MODIFY, ("config.size",)),
        ItemChange(InventoryKind.RESOURCE, "b", ItemAction.DELETE),
        ItemChange(InventoryKind.RESOURCE, "c", ItemAction.ADD),
    ]


def test_the_same_inventory_changes_nothing() -> None:
    assert diff(inventory(BEFORE), inventory(BEFORE)) == []


def test_no_value_is_in_a_change() -> None:
    assert "secret" not in repr(diff(inventory(BEFORE), inventory(AFTER)))
