"""When a plan is shown: at once, while it goes on, at its end, and again when it had to wait."""

from datetime import timedelta

import pytest
from engine_world import Queued, World, some_resources, with_agents

from foretell.domain.errors import RateLimited, Unavailable
from foretell.domain.plan import GithubRef, PlanRequest, PlanStatus
from foretell.domain.result import Pending
from foretell.ports import Step
from foretell.testing.scripted import CHANGED, RecordingReporter, ScriptedAgent

FOR_GITHUB = PlanRequest("v2", github=GithubRef("acme", "shop", "abc123", 7))
LATER = Pending({}, timedelta(minutes=1))


async def waits(world: World) -> list[float]:
    return [job.after_seconds for job in await world.queued() if job.step is Step.REPORT]


async def test_that_a_plan_was_begun_is_shown_in_the_commit_that_makes_it(world: World) -> None:
    reporter = RecordingReporter()
    world.reporters.append(reporter)
    await world.write()
    await world.submit(FOR_GITHUB)
    assert await waits(world) == [0]
    await world.run(Step.REPORT)
    ((plan, report),) = reporter.told
    assert plan.status is PlanStatus.COMPUTING
    assert report.summary is None


async def test_a_plan_that_is_shown_nowhere_asks_for_nothing(world: World) -> None:
    await world.write()
    await world.fanned_out()
    assert await waits(world) == []


async def test_many_targets_that_settle_are_one_update_and_the_end_comes_at_once(
    world: World,
) -> None:
    world.resources = some_resources(5)
    world = with_agents(world, ScriptedAgent(CHANGED), ScriptedAgent(LATER, CHANGED, type="slow"))
    await world.write()
    await world.submit(FOR_GITHUB)
    await world.run(Step.REPORT)
    await world.run(Step.FAN_OUT)
    assert await waits(world) == [2]
    await world.run(Step.REPORT)
    await world.run(Step.INVOKE)
    await world.run(Step.SETTLE)
    assert await waits(world) == [10]
    world.clock.advance(timedelta(minutes=1))
    await world.run(Step.INVOKE)
    await world.run(Step.SETTLE)
    (end,) = await waits(world)
    assert end < 5  # from the time that the waiting update was asked for


async def test_updates_become_more_seldom_with_the_plans_age(world: World) -> None:
    world.resources = some_resources(2)
    world = with_agents(world, ScriptedAgent(CHANGED), ScriptedAgent(LATER, type="slow"))
    await world.write()
    plan = await world.submit(FOR_GITHUB)
    await world.run(Step.FAN_OUT)
    await world.run(Step.INVOKE)
    await world.run(Step.REPORT)
    world.clock.advance(timedelta(minutes=4))
    await world.tasks.settle(plan.id)
    assert await waits(world) == [480]


async def test_a_reporter_that_was_told_to_wait_is_asked_again_after_that(world: World) -> None:
    reporter = RecordingReporter(RateLimited("later", timedelta(seconds=42)))
    world.reporters.append(reporter)
    await world.write()
    plan = await world.submit(FOR_GITHUB)
    await world.run(Step.REPORT)
    assert Queued(Step.REPORT, plan.id, 42.0) in await world.queued()
    await world.run(Step.REPORT)
    assert len(reporter.told) == 1


async def test_a_reporter_that_fails_does_not_keep_it_from_the_others(world: World) -> None:
    broken, limited = Unavailable("away"), RateLimited("later", timedelta(seconds=42))
    other = RecordingReporter()
    world.reporters += [RecordingReporter(broken), RecordingReporter(limited), other]
    await world.write()
    plan = await world.submit(FOR_GITHUB)
    with pytest.raises(ExceptionGroup) as caught:
        await world.tasks.report(plan.id)
    assert caught.value.exceptions == (broken,)
    assert len(other.told) == 1
