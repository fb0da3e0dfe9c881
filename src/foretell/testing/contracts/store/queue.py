"""Promises about jobs: they commit with the rows, and none that is needed is missing."""

from datetime import timedelta

import pytest

from foretell.domain.plan import PlanReason
from foretell.ports import Job, Step
from foretell.testing.contracts.store.world import MINUTE, NOW, SMALL, Promises, Queued, World


class GivenUpError(Exception):
    """Raised in a transaction."""


class QueuePromises(Promises):
    async def test_rows_and_jobs_commit_together(self, world: World, queued: Queued) -> None:
        plan = world.new_plan()
        async with world.store.begin() as tx:
            await tx.insert_plan(plan)
            await tx.enqueue([Job(Step.FAN_OUT, plan.id)])
            assert await queued() == {}
        assert await queued() == {(Step.FAN_OUT, plan.id): timedelta(0)}

    async def test_rows_and_jobs_vanish_together(self, world: World, queued: Queued) -> None:
        plan = world.new_plan()
        with pytest.raises(GivenUpError):  # noqa: PT012 - what came before it must vanish
            async with world.store.begin() as tx:
                await tx.insert_plan(plan)
                await tx.enqueue([Job(Step.FAN_OUT, plan.id)])
                raise GivenUpError
        assert await queued() == {}
        async with world.store.begin() as tx:
            assert await tx.plan(plan.id) is None

    async def test_the_same_step_is_queued_once_at_the_earlier_time(
        self, world: World, queued: Queued
    ) -> None:
        plan = await world.computing()
        async with world.store.begin() as tx:
            await tx.enqueue([])
            await tx.enqueue([Job(Step.SETTLE, plan.id, 30 * MINUTE)])
            await tx.enqueue([Job(Step.SETTLE, plan.id), Job(Step.SETTLE, plan.id, MINUTE)])
            await tx.enqueue([Job(Step.SETTLE, plan.id, 60 * MINUTE)])
        assert await queued() == {(Step.SETTLE, plan.id): timedelta(0)}

    async def test_stopping_a_plan_wakes_what_is_open_and_has_it_shown(
        self, world: World, queued: Queued
    ) -> None:
        plan = await world.computing()
        targets = world.planned(plan)
        first, second, *rest = (target.invocations[0].id for target in targets)
        async with world.store.begin() as tx:
            await tx.insert_targets(plan, targets, NOW)
        await world.answer(first, SMALL)
        await world.answer(second, SMALL, settled=False)
        async with world.store.begin() as tx:
            await tx.enqueue([Job(Step.INVOKE, rest[0], 60 * MINUTE)])
            await tx.stop_plan(plan.fail(PlanReason.CANCELLED, NOW))
        woken = [(Step.VALIDATE, second), *((Step.INVOKE, id) for id in rest)]
        shown = (Step.REPORT, plan.id)
        assert await queued() == dict.fromkeys([*woken, shown], timedelta(0))

    async def test_what_waits_without_a_job_is_woken_once(
        self, world: World, queued: Queued
    ) -> None:
        unplanned = await world.computing()
        plan = await world.computing()
        targets = world.planned(plan)
        first, second, third, fourth = (target.invocations[0].id for target in targets)
        async with world.store.begin() as tx:
            await tx.insert_targets(plan, targets, NOW)
            await tx.enqueue([Job(Step.INVOKE, fourth, MINUTE)])
        await world.answer(first, SMALL)
        await world.answer(second, SMALL, settled=False)
        async with world.store.begin() as tx:
            assert await tx.wake_stalled() == 3
            assert await tx.wake_stalled() == 0
        assert (await queued()).keys() == {
            (Step.FAN_OUT, unplanned.id),
            (Step.VALIDATE, second),
            (Step.INVOKE, third),
            (Step.INVOKE, fourth),
        }

    async def test_a_plan_whose_last_word_was_lost_is_settled(
        self, world: World, queued: Queued
    ) -> None:
        plan = await world.computing()
        targets = world.planned(plan)
        async with world.store.begin() as tx:
            await tx.insert_targets(plan, targets, NOW)
        for target in targets:
            await world.answer(target.invocations[0].id, SMALL)
        async with world.store.begin() as tx:
            assert await tx.wake_stalled() == 1
        assert (await queued()).keys() == {(Step.SETTLE, plan.id)}
