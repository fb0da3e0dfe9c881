"""What is saved of an inventory, once it was checked: by item, or the whole."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from foretell.api.items import BODY, Place, keep_ids, parse_for, read_item, with_id
from foretell.api.services import Services
from foretell.domain.errors import Conflict, InvalidRequest, Problem
from foretell.domain.target import Inventory, Policy
from foretell.domain.verdict import Rule
from foretell.inventory.changes import ItemAction, ItemChange, diff, items
from foretell.ports import InventoryItem, InventoryKind, Tx, Workspace


async def save_item(
    services: Services, workspace: Workspace, place: Place, body: dict[str, Any]
) -> tuple[InventoryItem, bool]:
    """The item as it is saved, and whether it is new. Raises InvalidRequest and Conflict."""
    # In a thread: an inventory may take a second to check, and others wait for the loop.
    item = await asyncio.to_thread(read_item, place, body, workspace.slug, services.inventories)
    if isinstance(item, Policy):
        await check_rules(services, [item])
    async with _no_clash(place.kind), services.store.begin() as tx:
        before = place.find(await tx.inventory(workspace.id))
        if before is not None:
            item = with_id(item, before.id)
        await tx.put_items(workspace.id, [item])
    return item, before is None


async def check_rules(services: Services, policies: Iterable[Policy]) -> None:
    """Raises InvalidRequest, as the engine says it, for a rule that can't be judged here."""
    for policy in policies:
        for rule in policy.rules:
            asked = Rule(policy.name, rule.name, rule.rego, rule.description, rule.mandatory)
            try:
                await services.validator.check([asked])
            except InvalidRequest as error:
                field = f"{policy.name}: {rule.name}: rego"
                problems = error.problems or [Problem("body", field, error.message)]
                raise InvalidRequest(error.message, problems) from error


async def save_inventory(
    services: Services, workspace: Workspace, text: str, *, dry_run: bool
) -> tuple[list[ItemChange], list[Problem]]:
    """What differs from what is there, saved unless `dry_run`, and what to be warned of.

    Items that are not in `text` are deleted; those that are keep their ids. Raises
    InvalidRequest, with line and field, and Conflict.
    """
    loaded = await asyncio.to_thread(parse_for, workspace.slug, text, services.inventories)
    await check_rules(services, loaded.inventory.policies)
    async with _no_clash(None), services.store.begin() as tx:
        old = await tx.inventory(workspace.id)
        changes = diff(old, loaded.inventory)
        if not dry_run:
            await _replace(tx, workspace, old, loaded.inventory, changes)
    warnings = [
        Problem(one.where.replace(BODY, "body"), one.field, one.message) for one in loaded.warnings
    ]
    return changes, warnings


async def _replace(
    tx: Tx, workspace: Workspace, old: Inventory, new: Inventory, changes: list[ItemChange]
) -> None:
    for kind in InventoryKind:
        gone = [
            items(old, kind)[change.ref].id
            for change in changes
            if change.kind is kind and change.action is ItemAction.DELETE
        ]
        if gone:
            await tx.delete_items(workspace.id, kind, gone)
    await tx.put_items(workspace.id, keep_ids(new, old))


@asynccontextmanager
async def _no_clash(kind: InventoryKind | None) -> AsyncIterator[None]:
    """A clash in our words: the store's quote tables."""
    try:
        yield
    except Conflict as error:
        what = f"another of the {kind}" if kind else "another item"
        raise Conflict(
            f"{what} has that name or id by now: read what is there, and decide again"
        ) from error
