"""An item of the inventory as an inventory file writes it, and back through the same checks."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from foretell.api.services import Inventories
from foretell.domain.errors import InvalidRequest, NotFound, Problem
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    IgnoreEntry,
    Inventory,
    Policy,
    PolicyRule,
    Resource,
    Variable,
)
from foretell.inventory.changes import items
from foretell.inventory.load import LoadedInventory
from foretell.inventory.load.schema import (
    AgentPart,
    DeploymentPart,
    EnvironmentPart,
    PolicyPart,
    ResourcePart,
)
from foretell.ports import InventoryItem, InventoryKind

BODY = "body.yaml"
ADDRESS = "address.yaml"

_KEYS = {
    InventoryKind.DEPLOYMENT: "deployments",
    InventoryKind.ENVIRONMENT: "environments",
    InventoryKind.RESOURCE: "resources",
    InventoryKind.AGENT: "jobAgents",
    InventoryKind.POLICY: "policies",
}
PARTS: Mapping[InventoryKind, type[BaseModel]] = {
    InventoryKind.DEPLOYMENT: DeploymentPart,
    InventoryKind.ENVIRONMENT: EnvironmentPart,
    InventoryKind.RESOURCE: ResourcePart,
    InventoryKind.AGENT: AgentPart,
    InventoryKind.POLICY: PolicyPart,
}
_ODD = re.compile("[\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What JSON takes as it is and YAML only escaped."""


def as_uuid(ref: str) -> str | None:
    """`ref` where it is a UUID; None where it can only be a name."""
    try:
        return str(UUID(ref))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """One item's address: its kind, and its UUID or its ref."""

    kind: InventoryKind
    ref: str

    def find(self, inventory: Inventory) -> InventoryItem | None:
        """The item that is there now."""
        by_ref = items(inventory, self.kind)
        if (id := as_uuid(self.ref)) is not None:
            return next((item for item in by_ref.values() if item.id == id), None)
        return by_ref.get(self.ref)

    def get(self, inventory: Inventory) -> InventoryItem:
        """The item that is there now; raises NotFound."""
        found = self.find(inventory)
        if found is None:
            raise NotFound(f"there is no {self.ref!r} among the {self.kind}")
        return found


def read_item(
    place: Place, body: Mapping[str, Any], workspace: str, inventories: Inventories
) -> InventoryItem:
    """The item in `body`, checked as in a file; its id is that of the address.

    Raises InvalidRequest whose problems name the fields as the body has them.
    """
    key, id = _KEYS[place.kind], as_uuid(place.ref)
    named = {**({_ref_field(place): place.ref} if id is None else {}), **body}
    written = json.dumps({key: [named]}, ensure_ascii=False)
    text = _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", written)
    try:
        loaded = parse_for(workspace, text, inventories)
    except InvalidRequest as error:
        raise _as_item(error, f"{key}[0]") from error
    ((ref, item),) = items(loaded.inventory, place.kind).items()
    if id is None and ref != place.ref:
        message = f"is {ref!r}, but the address says {place.ref!r}; to rename, use the UUID"
        raise InvalidRequest(f"the body {message}", [Problem("body", _ref_field(place), message)])
    return item if id is None else with_id(item, id)


def _ref_field(place: Place) -> str:
    match place.kind:
        case InventoryKind.DEPLOYMENT:
            return "slug"
        case InventoryKind.RESOURCE:
            return "identifier"
        case _:
            return "name"


def parse_for(workspace: str, text: str, inventories: Inventories) -> LoadedInventory:
    """The inventory in `text`, which must be of the workspace that the address names."""
    address = f"workspace: {json.dumps(workspace)}\n"
    try:
        return inventories({ADDRESS: address, BODY: text})
    except InvalidRequest as error:
        problems = [_as_body(problem) for problem in error.problems]
        message = error.message.replace(BODY, "the body")
        raise InvalidRequest(message, problems) from error


def _as_body(problem: Problem) -> Problem:
    where = problem.where.replace(BODY, "body")
    return replace(problem, where=where, message=problem.message.replace(ADDRESS, "the address"))


def _as_item(error: InvalidRequest, prefix: str) -> InvalidRequest:
    problems = [
        Problem("body", one.field.removeprefix(prefix).removeprefix("."), one.message)
        for one in error.problems
    ]
    fields = ", ".join(one.field or "the whole" for one in problems)
    return InvalidRequest(
        f"the body is wrong in: {fields}" if problems else error.message, problems
    )


def with_id(item: InventoryItem, id: str) -> InventoryItem:
    """The same item under another id."""
    changed: Any = replace(item, id=id)  # type: ignore[arg-type]  # each kind's id is text
    kept: InventoryItem = changed
    return kept


def keep_ids(new: Inventory, old: Inventory) -> list[InventoryItem]:
    """Every item of `new`, under the id that one of its kind and ref has in `old`."""
    kept = []
    for kind in InventoryKind:
        before = items(old, kind)
        for ref, item in items(new, kind).items():
            kept.append(with_id(item, before[ref].id) if ref in before else item)
    return kept


def item_document(item: InventoryItem) -> dict[str, Any]:
    """The item as a file writes it, with its id; what is empty is left out."""
    match item:
        case Deployment():
            found = _deployment(item)
        case Environment():
            found = {"name": item.name, "resourceSelector": item.resource_selector}
            found |= {"metadata": dict(item.metadata)}
        case Resource():
            found = _resource(item)
        case AgentSpec():
            found = {"name": item.name, "type": item.type, "config": dict(item.config)}
        case Policy():
            found = _policy(item)
    return {
        "id": item.id,
        **{key: value for key, value in found.items() if value not in ("", {}, [])},
    }


def _resource(item: Resource) -> dict[str, Any]:
    return {
        "identifier": item.identifier,
        "name": item.name,
        "kind": item.kind,
        "version": item.version,
        "config": dict(item.config),
        "metadata": dict(item.metadata),
        "variables": dict(item.variables),
    }


def _deployment(item: Deployment) -> dict[str, Any]:
    plan = {
        "enabled": item.plan.enabled,
        "timeout": item.plan.timeout and duration(item.plan.timeout),
        "ignore": [_ignore(entry) for entry in item.plan.compare.ignore] or None,
        "maskNames": list(item.plan.compare.mask_names) or None,
    }
    return {
        "slug": item.slug,
        "name": item.name,
        "resourceSelector": item.resource_selector,
        "jobAgentSelector": item.job_agent_selector,
        "jobAgentConfig": dict(item.job_agent_config),
        "variables": _variables(item.variables),
        "metadata": dict(item.metadata),
        "plan": {key: value for key, value in plan.items() if value is not None},
    }


def _ignore(entry: IgnoreEntry) -> dict[str, Any]:
    what = {"pointers": entry.pointers, "names": entry.names, "jq": entry.jq}
    globs = {name: getattr(entry, name) for name in ("group", "kind", "namespace", "name")}
    return {
        **{name: list(items) for name, items in what.items() if items},
        **{name: glob for name, glob in globs.items() if glob != "*"},
    }


def _variables(variables: Sequence[Variable]) -> list[dict[str, Any]]:
    return [
        {
            "key": one.key,
            **({"default": one.default} if one.has_default else {}),
            "values": [
                {
                    "value": value.value,
                    "resourceSelector": value.resource_selector,
                    "priority": value.priority,
                }
                for value in one.values
            ],
        }
        for one in variables
    ]


def _policy(item: Policy) -> dict[str, Any]:
    overrides = {"role": item.overrides_role, "count": item.overrides_count}
    return {
        "name": item.name,
        "selector": item.selector,
        "overrides": overrides if item.overrides_role else {},
        "rules": [{"planValidationOpa": _rule(rule)} for rule in item.rules],
    }


def _rule(rule: PolicyRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "description": rule.description,
        "rego": rule.rego,
        "enforcement": "mandatory" if rule.mandatory else "advisory",
    }


def duration(of: timedelta) -> str:
    """As a file writes it: `1h30m`."""
    minutes, seconds = divmod(int(of.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number)
