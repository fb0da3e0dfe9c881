"""Promises about the inventory."""

from dataclasses import replace
from datetime import timedelta

import pytest

from foretell.domain.context import Deployed, Version
from foretell.domain.errors import Conflict, NotFound
from foretell.domain.plan import DeploymentId, EnvironmentId, ResourceId, WorkspaceId
from foretell.domain.target import (
    CompareSettings,
    Deployment,
    Environment,
    IgnoreEntry,
    Inventory,
    PlanSettings,
    Resource,
    Variable,
    VariableValue,
)
from foretell.ports import InventoryKind, Workspace
from foretell.testing.contracts.store.world import (
    MINUTE,
    NOW,
    ODD,
    ODD_JSON,
    POLICY,
    Promises,
    World,
    new_id,
)

DEPLOYMENT = Deployment(
    id=DeploymentId(new_id()),
    slug="Shop",
    name=ODD,
    resource_selector=ODD,
    job_agent_selector="true",
    job_agent_config=ODD_JSON,
    variables=(
        Variable("plain", default=None, has_default=True),
        Variable(ODD, (VariableValue(ODD_JSON, ODD, -3), VariableValue([1, None]))),
    ),
    metadata=ODD_JSON,
    plan=PlanSettings(
        enabled=False,
        timeout=timedelta(days=2, microseconds=7),
        compare=CompareSettings((IgnoreEntry(("/a",), (ODD,), (".a",), name=ODD),), (ODD,)),
    ),
)
RESOURCE = Resource(
    ResourceId(new_id()), f"Z{ODD}", ODD, "Cluster", "v1", ODD_JSON, {"a": "b"}, {"x": None}
)


class InventoryPromises(Promises):
    async def test_an_inventory_comes_back_as_it_was_in_order(self, world: World) -> None:
        policy = replace(POLICY, id=new_id())
        async with world.store.begin() as tx:
            await tx.put_items(world.workspace.id, [RESOURCE, policy, DEPLOYMENT])
            found = await tx.inventory(world.workspace.id)
        assert found == Inventory(
            deployments=(DEPLOYMENT, world.deployment),
            environments=(world.environments[1], world.environments[0]),
            resources=(RESOURCE, world.resources[1], world.resources[0]),
            agents=(world.agent,),
            policies=(policy,),
        )

    async def test_an_item_of_the_same_id_is_replaced(self, world: World) -> None:
        moved = replace(world.deployment, slug="moved", metadata={"a": 1})
        async with world.store.begin() as tx:
            await tx.put_items(world.workspace.id, [moved])
            assert (await tx.inventory(world.workspace.id)).deployments == (moved,)

    async def test_a_name_belongs_to_one_item_of_a_workspace(self, world: World) -> None:
        twin = Environment(EnvironmentId(new_id()), world.environments[0].name)
        with pytest.raises(Conflict):
            async with world.store.begin() as tx:
                await tx.put_items(world.workspace.id, [twin])

    async def test_two_items_may_swap_their_names(self, world: World) -> None:
        first, second = world.environments
        swapped = [replace(first, name=second.name), replace(second, name=first.name)]
        async with world.store.begin() as tx:
            await tx.put_items(world.workspace.id, swapped)
            found = (await tx.inventory(world.workspace.id)).environments
        assert found == (swapped[0], swapped[1])

    async def test_nothing_of_one_workspace_is_seen_or_touched_from_another(
        self, world: World
    ) -> None:
        other = await World(world.store).write()
        async with world.store.begin() as tx:
            await tx.delete_items(
                other.workspace.id, InventoryKind.DEPLOYMENT, [world.deployment.id]
            )
            assert await tx.deployment(other.workspace.id, world.deployment.id) is None
            assert await tx.deployment(other.workspace.id, world.deployment.slug) is None
            assert (await tx.inventory(other.workspace.id)).deployments == (other.deployment,)
        with pytest.raises(Conflict):
            async with world.store.begin() as tx:
                await tx.put_items(other.workspace.id, [replace(world.deployment, slug="mine")])
        async with world.store.begin() as tx:
            assert await tx.deployment(world.workspace.id, "mine") is None
            assert (await tx.inventory(world.workspace.id)).deployments == (world.deployment,)

    async def test_a_deployment_is_found_by_id_and_by_slug(self, world: World) -> None:
        workspace, deployment = world.workspace.id, world.deployment
        async with world.store.begin() as tx:
            assert await tx.deployment(workspace, deployment.id) == deployment
            assert await tx.deployment(workspace, deployment.id.upper()) == deployment
            assert await tx.deployment(workspace, deployment.slug) == deployment
            assert await tx.deployment(workspace, "other") is None

    async def test_deleted_items_are_gone_and_twice_is_once(self, world: World) -> None:
        async with world.store.begin() as tx:
            for kind, ids in (
                (InventoryKind.RESOURCE, [item.id for item in world.resources]),
                (InventoryKind.RESOURCE, [item.id for item in world.resources]),
                (InventoryKind.ENVIRONMENT, [world.environments[0].id]),
                (InventoryKind.AGENT, [world.agent.id]),
                (InventoryKind.POLICY, []),
                (InventoryKind.DEPLOYMENT, [world.deployment.id]),
            ):
                await tx.delete_items(world.workspace.id, kind, ids)
            left = await tx.inventory(world.workspace.id)
        assert left == Inventory(environments=(world.environments[1],))

    async def test_workspaces_are_found_and_listed_by_slug(self, world: World) -> None:
        first = Workspace(WorkspaceId(new_id()), "A", ODD)
        async with world.store.begin() as tx:
            await tx.put_workspace(first)
            assert await tx.workspaces() == [first, world.workspace]
            assert await tx.workspace("A") == first
            assert await tx.workspace(first.id) == first
            assert await tx.workspace("a") is None
            await tx.put_workspace(replace(first, slug="B"))
            assert await tx.workspace("A") is None
        with pytest.raises(Conflict):
            async with world.store.begin() as tx:
                await tx.put_workspace(Workspace(WorkspaceId(new_id()), "B", ""))

    async def test_an_item_of_an_unknown_workspace_is_refused(self, world: World) -> None:
        with pytest.raises(NotFound):
            async with world.store.begin() as tx:
                await tx.put_items(WorkspaceId(new_id()), [DEPLOYMENT])

    async def test_agents_of_all_workspaces_and_policies_of_one_are_listed(
        self, world: World
    ) -> None:
        other = await World(world.store).write()
        late, early = (replace(POLICY, id=new_id(), name=name) for name in "ba")
        async with world.store.begin() as tx:
            await tx.put_items(world.workspace.id, [late, early])
            assert {agent.id for agent in await tx.agent_specs()} == {
                world.agent.id,
                other.agent.id,
            }
            assert list(await tx.policies(world.workspace.id)) == [early, late]
            assert list(await tx.policies(other.workspace.id)) == []

    async def test_an_older_record_never_replaces_a_younger_one(self, world: World) -> None:
        plan = await world.computing()
        place = (world.deployment.id, world.environments[0].id, world.resources[0].id)
        new, old = Deployed(Version("v2")), Deployed(Version("v1"), {}, ODD)
        async with world.store.begin() as tx:
            await tx.record_deployed(*place, old, NOW - MINUTE)
            await tx.record_deployed(*place, new, NOW)
            await tx.record_deployed(*place, old, NOW - MINUTE)
            basis = await tx.basis(plan)
        assert basis.deployed == {place[1:]: new}
