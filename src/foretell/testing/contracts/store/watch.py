"""Promises about waiting for a plan."""

import asyncio

from foretell.domain.plan import PlanReason
from foretell.domain.result import Status
from foretell.ports import Settled
from foretell.testing.contracts.store.world import NOW, SMALL, Promises, World

PATIENCE_SECONDS = 30.0


class WatchPromises(Promises):
    async def test_a_watcher_wakes_at_the_start_and_until_it_sees_the_end(
        self, world: World
    ) -> None:
        plan, ids = await world.fanned_out()

        async def wait_until_open(count: int) -> None:
            async with world.store.watch(plan.id) as wakes:
                async for _ in wakes:
                    async with world.store.begin() as tx:
                        if await tx.open_invocations(plan.id) <= count:
                            return

        async with asyncio.timeout(PATIENCE_SECONDS):
            await wait_until_open(4)
            waiting = [asyncio.create_task(wait_until_open(0)) for _ in range(3)]
            for id in ids[1:]:
                await world.answer(id, SMALL)
            async with world.store.begin() as tx:
                await tx.save_settled(ids[0], Settled(Status.ERRORED, "timeout"), NOW)
            await asyncio.gather(*waiting)

    async def test_a_watcher_sees_a_plan_that_is_stopped(self, world: World) -> None:
        plan = await world.computing()
        async with asyncio.timeout(PATIENCE_SECONDS), world.store.watch(plan.id) as wakes:
            await anext(wakes)
            async with world.store.begin() as tx:
                await tx.stop_plan(plan.fail(PlanReason.CANCELLED, NOW))
            await anext(wakes)
        assert (await world.plan(plan.id)).reason is PlanReason.CANCELLED
