"""Promises about plans."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from foretell.domain.context import Deployed, Source, Version
from foretell.domain.errors import Conflict, IllegalTransition, NotFound
from foretell.domain.plan import DeploymentId, PlanId, PlanReason, PlanRequest, supersedes_key
from foretell.domain.target import Inventory
from foretell.ports import PlanBasis, PlanUsage
from foretell.testing.contracts.store.world import (
    MINUTE,
    NOW,
    ODD,
    ODD_JSON,
    SMALL,
    Promises,
    World,
    new_id,
)

DOCUMENT = b'{"summary":{"total":4},"targets":[]}'


class PlanPromises(Promises):
    async def test_a_plan_comes_back_as_it_was(self, world: World) -> None:
        request = PlanRequest(ODD, ODD, ODD_JSON, ODD_JSON, {"pr": "1"}, environment_selector=ODD)
        plan = world.new_plan(request=request)
        async with world.store.begin() as tx:
            await tx.insert_plan(plan)
        assert await world.plan(plan.id) == plan

    async def test_a_plan_that_is_not_there_is_none(self, world: World) -> None:
        async with world.store.begin() as tx:
            assert await tx.plan(PlanId(new_id())) is None
            assert await tx.report(PlanId(new_id())) is None
            assert await tx.document(PlanId(new_id())) is None

    async def test_what_cannot_be_an_id_is_not_found(self, world: World) -> None:
        with pytest.raises(NotFound):
            async with world.store.begin() as tx:
                await tx.plan(PlanId("no-such-plan"))

    async def test_a_plan_of_an_unknown_deployment_is_refused(self, world: World) -> None:
        plan = replace(world.new_plan(), deployment_id=DeploymentId(new_id()))
        with pytest.raises(NotFound):
            async with world.store.begin() as tx:
                await tx.insert_plan(plan)

    async def test_an_idempotency_key_makes_one_plan(self, world: World) -> None:
        first, second = world.new_plan(), world.new_plan()
        async with world.store.begin() as tx:
            await tx.insert_plan(first, idempotency_key=ODD, body_digest="b1:1")
        with pytest.raises(Conflict):
            async with world.store.begin() as tx:
                await tx.insert_plan(second, idempotency_key=ODD, body_digest="b1:2")
        async with world.store.begin() as tx:
            found = await tx.plan_by_key(world.workspace.id, world.deployment.id, ODD)
            other = await tx.plan_by_key(world.workspace.id, world.deployment.id, "other")
        assert found == (first, "b1:1")
        assert other is None

    async def test_usage_counts_the_last_minute_and_what_is_computing(self, world: World) -> None:
        old = await world.computing(at=NOW - 5 * MINUTE)
        await world.computing(at=NOW)
        async with world.store.begin() as tx:
            usage = await tx.usage(world.workspace.id, world.deployment.id, NOW - MINUTE)
            assert usage == PlanUsage(1, 2, 1, 2)
            other = await tx.usage(world.workspace.id, DeploymentId(new_id()), NOW - MINUTE)
            assert other == PlanUsage(0, 0, 1, 2)
            await tx.stop_plan(old.fail(PlanReason.CANCELLED, NOW))
            usage = await tx.usage(world.workspace.id, world.deployment.id, NOW - MINUTE)
            assert usage == PlanUsage(1, 1, 1, 1)

    async def test_plans_in_force_under_a_key_come_oldest_first(self, world: World) -> None:
        second = await world.computing(pr=7, at=NOW)
        first = await world.computing(pr=7, at=NOW - MINUTE)
        await world.computing(pr=8)
        stopped = await world.computing(pr=7, at=NOW - 2 * MINUTE)
        async with world.store.begin() as tx:
            await tx.stop_plan(stopped.fail(PlanReason.SUPERSEDED, NOW))
        key = supersedes_key(world.deployment.id, first.request)
        assert key
        async with world.store.begin() as tx:
            assert list(await tx.plans_under(key)) == [first, second]

    async def test_a_retired_plan_is_not_in_force_and_expires_sooner(self, world: World) -> None:
        plan, ids = await world.fanned_out(pr=7)
        key = supersedes_key(world.deployment.id, plan.request) or ""
        for id in ids:
            await world.answer(id, SMALL)
        completed = (await world.plan(plan.id)).complete(NOW)
        async with world.store.begin() as tx:
            assert await tx.complete_plan(completed, DOCUMENT)
            await tx.retire_plan(plan.id, NOW + 5 * MINUTE)
            assert list(await tx.plans_under(key)) == []
            await tx.retire_plan(plan.id, NOW + 500 * MINUTE)
        assert (await world.plan(plan.id)).expires_at == NOW + 5 * MINUTE

    async def test_of_two_plans_made_at_once_the_later_sees_the_earlier(self, world: World) -> None:
        plans = [world.new_plan(pr=7), world.new_plan(pr=7)]
        key = supersedes_key(world.deployment.id, plans[0].request) or ""
        both_are_in = asyncio.Barrier(2)

        async def submit(number: int) -> int:
            async with world.store.begin() as tx:
                await both_are_in.wait()
                seen = await tx.plans_under(key)
                await tx.insert_plan(plans[number])
            return len(seen)

        assert sorted(await asyncio.gather(submit(0), submit(1))) == [0, 1]

    async def test_a_stopped_plan_says_why_and_stops_once(self, world: World) -> None:
        plan = await world.computing()
        stopped = plan.fail(PlanReason.CANCELLED, NOW)
        async with world.store.begin() as tx:
            await tx.stop_plan(stopped)
        assert await world.plan(plan.id) == stopped
        with pytest.raises(IllegalTransition):
            async with world.store.begin() as tx:
                await tx.stop_plan(stopped)

    async def test_a_plan_is_completed_once(self, world: World) -> None:
        plan, _ = await world.fanned_out()
        completed = (await world.plan(plan.id)).complete(NOW)
        async with world.store.begin() as tx:
            assert await tx.document(plan.id) is None
            assert await tx.complete_plan(completed, DOCUMENT)
        async with world.store.begin() as tx:
            assert not await tx.complete_plan(completed, b'{"summary":null}')
            assert await tx.document(plan.id) == DOCUMENT
        assert await world.plan(plan.id) == completed

    async def test_a_stopped_plan_is_not_completed(self, world: World) -> None:
        plan, _ = await world.fanned_out()
        completed = (await world.plan(plan.id)).complete(NOW)
        async with world.store.begin() as tx:
            await tx.stop_plan(plan.fail(PlanReason.SUPERSEDED, NOW))
            assert not await tx.complete_plan(completed, DOCUMENT)

    async def test_a_locked_plan_is_waited_for(self, world: World) -> None:
        plan = await world.computing()
        order: list[str] = []
        is_locked = asyncio.Event()

        async def first() -> None:
            async with world.store.begin() as tx:
                await tx.plan(plan.id, lock=True)
                is_locked.set()
                await tx.stop_plan(plan.fail(PlanReason.CANCELLED, NOW))
                order.append("first")

        async def second() -> None:
            await is_locked.wait()
            async with world.store.begin() as tx:
                seen = await tx.plan(plan.id, lock=True)
                order.append(f"second sees {seen and seen.status}")

        await asyncio.gather(first(), second())
        assert order == ["first", "second sees failed"]

    async def test_the_basis_is_the_stored_inventory_and_what_is_deployed(
        self, world: World
    ) -> None:
        plan = await world.computing()
        environment, resource = world.environments[0], world.resources[0]
        deployed = Deployed(Version("v1", config=ODD_JSON), {"replicas": 2}, "h1:1")
        async with world.store.begin() as tx:
            await tx.record_deployed(
                world.deployment.id, environment.id, resource.id, deployed, NOW
            )
            basis = await tx.basis(plan)
            inventory = await tx.inventory(world.workspace.id)
        assert basis == PlanBasis(
            deployment=world.deployment,
            inventory=inventory,
            deployed={(environment.id, resource.id): deployed},
        )

    async def test_a_basis_of_its_own_comes_back_as_it_was(self, world: World) -> None:
        plan = world.new_plan()
        basis = PlanBasis(
            deployment=replace(world.deployment, job_agent_config=ODD_JSON),
            inventory=Inventory((world.deployment,), world.environments),
            source=Source("here", "b"),
            base=Inventory(resources=world.resources, agents=(world.agent,)),
            base_source=Source("here", "a"),
            deployed={
                (world.environments[0].id, world.resources[0].id): Deployed(Version("v1"), {}),
                (world.environments[1].id, world.resources[0].id): Deployed(Version(ODD)),
            },
        )
        async with world.store.begin() as tx:
            await tx.insert_plan(plan, basis=basis)
        async with world.store.begin() as tx:
            assert await tx.basis(plan) == basis

    async def test_overdue_plans_come_oldest_first(self, world: World) -> None:
        late = await world.computing(at=NOW - 90 * MINUTE)
        later = await world.computing(at=NOW - 60 * MINUTE)
        await world.computing(at=NOW)
        async with world.store.begin() as tx:
            assert list(await tx.overdue(NOW)) == [late, later]

    async def test_an_expired_plan_goes_once_nothing_of_it_is_open(self, world: World) -> None:
        plan, ids = await world.fanned_out()
        after = plan.expires_at + timedelta(seconds=1)
        async with world.store.begin() as tx:
            await tx.stop_plan(plan.fail(PlanReason.CANCELLED, NOW))
            assert await tx.delete_expired(after) == 0
        for id in ids:
            await world.answer(id, SMALL)
        async with world.store.begin() as tx:
            assert await tx.delete_expired(plan.expires_at - MINUTE) == 0
            assert await tx.delete_expired(after) == 1
            assert await tx.plan(plan.id) is None

    async def test_plans_are_listed_newest_first_page_by_page(self, world: World) -> None:
        plans = [await world.computing(at=NOW + (n // 2) * MINUTE) for n in range(5)]
        expected = sorted(plans, key=lambda plan: (plan.created_at, plan.id), reverse=True)
        workspace, deployment = world.workspace.id, world.deployment.id
        seen: list[PlanId] = []
        async with world.store.begin() as tx:
            before = ""
            while page := await tx.list_plans(workspace, deployment, before, 2):
                seen += [plan.id for plan in page]
                before = page[-1].id
        assert seen == [plan.id for plan in expected]
