"""The inventory within one transaction."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from foretell.domain.context import Deployed
from foretell.domain.errors import Conflict, NotFound
from foretell.domain.plan import DeploymentId, EnvironmentId, ResourceId, WorkspaceId
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    Inventory,
    Policy,
    Resource,
)
from foretell.ports import InventoryItem, InventoryKind, PlanBasis, Workspace
from foretell.store.codec import decode, dump
from foretell.store.session import Json, Row, Session


@dataclass(frozen=True, slots=True)
class _Part:
    """One table of the inventory, and which field of an item its `ref` is."""

    kind: InventoryKind
    type: type[InventoryItem]
    table: str
    ref: Callable[[Any], str]


_PARTS = (
    _Part(InventoryKind.DEPLOYMENT, Deployment, "deployments", lambda item: item.slug),
    _Part(InventoryKind.ENVIRONMENT, Environment, "environments", lambda item: item.name),
    _Part(InventoryKind.RESOURCE, Resource, "resources", lambda item: item.identifier),
    _Part(InventoryKind.AGENT, AgentSpec, "job_agents", lambda item: item.name),
    _Part(InventoryKind.POLICY, Policy, "policies", lambda item: item.name),
)


class Inventories(Session):
    """The inventory's part of a transaction."""

    __slots__ = ()

    async def workspaces(self) -> Sequence[Workspace]:
        return [Workspace(*row) for row in await self.rows("workspaces", {})]

    async def workspace(self, ref: str) -> Workspace | None:
        row = await self.first("workspace", {"ref": ref, "id": _as_id(ref)})
        return Workspace(*row) if row else None

    async def put_workspace(self, workspace: Workspace) -> None:
        """Raises Conflict when another workspace has the slug."""
        await self.send(
            "put_workspace",
            {"id": workspace.id, "slug": workspace.slug, "name": workspace.name},
        )

    async def inventory(self, workspace_id: WorkspaceId) -> Inventory:
        return inventory_of(await self.rows("inventory", {"workspace_id": workspace_id}))

    async def deployment(self, workspace_id: WorkspaceId, ref: str) -> Deployment | None:
        body = await self.value(
            "deployment", {"workspace_id": workspace_id, "ref": ref, "id": _as_id(ref)}
        )
        return decode(Deployment, body) if body else None

    async def agent_specs(self) -> Sequence[AgentSpec]:
        return [decode(AgentSpec, row[0]) for row in await self.rows("agent_specs", {})]

    async def policies(self, workspace_id: WorkspaceId) -> Sequence[Policy]:
        rows = await self.rows("policies", {"workspace_id": workspace_id})
        return [decode(Policy, row[0]) for row in rows]

    async def put_items(self, workspace_id: WorkspaceId, items: Iterable[InventoryItem]) -> None:
        """Add them, or replace those of the same id.

        Raises Conflict for a name that another item of the workspace has, and for an id that
        another workspace has.
        """
        given = list(items)
        for part in _PARTS:
            chosen = [item for item in given if isinstance(item, part.type)]
            if chosen:
                await self._put(workspace_id, part, chosen)

    async def _put(
        self, workspace_id: WorkspaceId, part: _Part, items: Sequence[InventoryItem]
    ) -> None:
        rows = await self.rows(
            f"put_{part.table}",
            {
                "workspace_id": workspace_id,
                "ids": [item.id for item in items],
                "refs": [part.ref(item) for item in items],
                "names": [item.name for item in items],
                "bodies": [Json(dump(item)) for item in items],
            },
        )
        lost = {item.id for item in items} - {row[0] for row in rows}
        if lost:
            raise Conflict(f"{part.kind}: another workspace has the id {sorted(lost)[0]}")

    async def delete_items(
        self, workspace_id: WorkspaceId, kind: InventoryKind, ids: Sequence[str]
    ) -> None:
        part = next(part for part in _PARTS if part.kind is kind)
        await self.send(f"delete_{part.table}", {"workspace_id": workspace_id, "ids": list(ids)})

    async def record_deployed(
        self,
        deployment_id: DeploymentId,
        environment_id: EnvironmentId,
        resource_id: ResourceId,
        deployed: Deployed,
        at: datetime,
    ) -> None:
        """An older record never replaces a younger one."""
        await self.send(
            "record_deployed",
            {
                "deployment_id": deployment_id,
                "environment_id": environment_id,
                "resource_id": resource_id,
                "body": Json(dump(deployed)),
                "at": at,
            },
        )


def _as_id(ref: str) -> str | None:
    """`ref` where it is a UUID; None where it can only be a name."""
    try:
        return str(UUID(ref))
    except ValueError:
        return None


def inventory_of(rows: Iterable[Row]) -> Inventory:
    """Rows of (kind, body, …) in order -> an inventory."""
    bodies: dict[str, list[str]] = defaultdict(list)
    for kind, body, *_ in rows:
        bodies[kind].append(body)

    def read(type_: type[Any], kind: InventoryKind) -> tuple[Any, ...]:
        return tuple(decode(type_, body) for body in bodies[kind])

    return Inventory(
        deployments=read(Deployment, InventoryKind.DEPLOYMENT),
        environments=read(Environment, InventoryKind.ENVIRONMENT),
        resources=read(Resource, InventoryKind.RESOURCE),
        agents=read(AgentSpec, InventoryKind.AGENT),
        policies=read(Policy, InventoryKind.POLICY),
    )


def basis_of(rows: Sequence[Row], deployment_id: DeploymentId) -> PlanBasis:
    """The rows of `basis`: the plan's own where it has one, else the stored inventory."""
    own = next((body for kind, body, *_ in rows if kind == "basis"), None)
    if own is not None:
        return decode(PlanBasis, own)
    inventory = inventory_of(rows)
    deployment = next((one for one in inventory.deployments if one.id == deployment_id), None)
    if deployment is None:
        raise NotFound(f"the deployment {deployment_id} is gone")
    return PlanBasis(
        deployment=deployment,
        inventory=inventory,
        deployed={
            (environment_id, resource_id): decode(Deployed, body)
            for kind, body, environment_id, resource_id, _ in rows
            if kind == "deployed"
        },
    )
