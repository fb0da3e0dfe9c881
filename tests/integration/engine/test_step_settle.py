"""The last one out completes the plan, once, and then whoever asked is told."""

import asyncio
import json

import pytest
from engine_world import World, new_id, some_resources

from foretell.domain.plan import PlanReason, PlanStatus
from foretell.domain.result import Status
from foretell.formats.document import encode_report, read_report
from foretell.ports import Step
from foretell.testing.scripted import (
    UNCHANGED,
    FakeAgents,
    RecordingReporter,
    ScriptedAgent,
)


async def test_a_plan_with_an_open_invocation_is_not_complete(world: World) -> None:
    world.resources = some_resources(2)
    await world.write()
    plan = await world.fanned_out()
    first, _ = await world.take(Step.INVOKE)
    await world.tasks.invoke(first.id)
    await world.run(Step.SETTLE)
    assert (await world.plan(plan.id)).status is PlanStatus.COMPUTING


async def test_a_plan_that_was_not_fanned_out_is_not_complete(world: World) -> None:
    await world.write()
    plan = await world.submit()
    await world.tasks.settle(plan.id)
    assert (await world.plan(plan.id)).status is PlanStatus.COMPUTING


@pytest.mark.parametrize("attempt", range(5))
async def test_two_that_finish_together_complete_the_plan_once(world: World, attempt: int) -> None:
    world.resources = some_resources(2)
    await world.write()
    plan = await world.fanned_out()
    both = await world.take(Step.INVOKE)

    async def whole(id: str) -> None:
        await world.tasks.invoke(id)
        await world.tasks.settle(plan.id)

    await asyncio.gather(*(whole(job.id) for job in both))
    there = await world.plan(plan.id)
    assert there.status is PlanStatus.COMPLETED
    await world.take(Step.SETTLE)
    assert [(job.step, job.id) for job in await world.queued()] == [(Step.REPORT, plan.id)]
    await asyncio.gather(*(world.tasks.settle(plan.id) for _ in range(3)))
    assert await world.plan(plan.id) == there


async def test_the_ready_document_is_what_the_rows_say(world: World) -> None:
    world.resources = some_resources(3)
    await world.write()
    plan, report = await world.completed()
    async with world.store.begin() as tx:
        document = await tx.document(plan.id)
    assert document is not None
    assert document == encode_report(report)
    assert read_report(json.loads(document)).summary == report.summary


async def test_half_a_character_does_not_keep_a_plan_computing(world: World) -> None:
    odd = "\udcff \x00 \ue000d800 \ud800"
    world.agents = FakeAgents(ScriptedAgent(ValueError(odd)))
    world.resources[0] = type(world.resources[0])(world.resources[0].id, "r00", odd)
    await world.write()
    plan, report = await world.completed()
    assert plan.status is PlanStatus.COMPLETED
    assert report.targets[0].target.resource_name == odd


async def test_a_stopped_plan_is_never_completed(world: World) -> None:
    await world.write()
    plan = await world.fanned_out()
    (job,) = await world.take(Step.INVOKE)
    await world.tasks.invoke(job.id)
    await world.cancel(plan)
    await world.drain()
    there = await world.plan(plan.id)
    assert (there.status, there.reason) == (PlanStatus.FAILED, PlanReason.CANCELLED)
    assert (await world.the_invocation(plan)).status is Status.COMPLETED


async def test_reporters_are_told_once_the_plan_is_complete(world: World) -> None:
    reporter = RecordingReporter()
    world.reporters = [reporter]
    world.agents = FakeAgents(ScriptedAgent(UNCHANGED))
    await world.write()
    plan, report = await world.completed()
    assert reporter.told == [(plan, report)]


async def test_a_reporter_that_fails_is_asked_again_and_keeps_it_from_no_other(
    world: World,
) -> None:
    failing, fine = RecordingReporter(ValueError("502")), RecordingReporter()
    world.reporters = [failing, fine]
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    await world.run(Step.SETTLE)
    with pytest.raises(ExceptionGroup):
        await world.tasks.report(plan.id)
    assert (len(failing.told), len(fine.told)) == (0, 1)
    assert (await world.plan(plan.id)).status is PlanStatus.COMPLETED
    await world.tasks.report(plan.id)
    assert len(failing.told) == 1


async def test_with_nobody_asking_reporting_is_nothing(world: World) -> None:
    await world.write()
    plan, _ = await world.completed()
    await world.tasks.report(plan.id)
    await world.tasks.report(new_id())
    assert await world.queued() == []


async def test_who_watches_a_plan_sees_it_complete(world: World) -> None:
    await world.write()
    plan = await world.submit()

    async def until_complete() -> None:
        async with world.store.watch(plan.id) as wakes:
            async for _ in wakes:
                if (await world.plan(plan.id)).status is PlanStatus.COMPLETED:
                    return

    async with asyncio.timeout(20):
        await asyncio.gather(until_complete(), world.drain())
