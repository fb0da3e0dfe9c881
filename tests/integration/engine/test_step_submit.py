"""Step 1: a request becomes a computing plan and a job, or nothing at all."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from engine_world import MINUTE, World, at_once

from foretell.domain.errors import InvalidRequest, RateLimited
from foretell.domain.plan import GithubRef, Plan, PlanReason, PlanRequest, PlanStatus
from foretell.ports import PlanLimits, Step

PULL = GithubRef("acme", "shop", "abc", 7)
REQUEST = PlanRequest("v2", github=PULL)


async def count_plans(world: World) -> int:
    ((count,),) = await world.rows("SELECT count(*) FROM deployment_plan")
    return int(count)


async def test_a_request_becomes_a_computing_plan_and_a_job(world: World) -> None:
    await world.write()
    plan = await world.submit()
    assert await world.plan(plan.id) == plan
    assert plan.status is PlanStatus.COMPUTING
    (job,) = await world.queued()
    assert (job.step, job.id, job.after_seconds) == (Step.FAN_OUT, plan.id, 0)
    assert (await world.report(plan)).summary is None


async def test_times_follow_from_the_limits(world: World) -> None:
    world.limits = PlanLimits(
        deadline=MINUTE, retention=2 * MINUTE, github_retention=timedelta(days=3)
    )
    await world.write()
    now = world.clock.now()
    plan, pull = await world.submit(), await world.submit(REQUEST)
    assert (plan.created_at, plan.deadline_at, plan.expires_at) == (
        now,
        now + MINUTE,
        now + 2 * MINUTE,
    )
    assert pull.expires_at == now + timedelta(days=3)


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"values": {"x": {"env": "DB_PASSWORD"}}}, "values.x"),
        ({"sets": ["a", {"file": "/run/secrets/key"}]}, "sets[1]"),
        ({"values": {"x": {"env": "DB_PASSWORD", "there": None}}}, "values.x"),
        ({"env": "DB_PASSWORD"}, ""),
    ],
)
async def test_a_request_may_not_name_a_secret(
    world: World, config: dict[str, Any], path: str
) -> None:
    await world.write()
    for field, request in (
        ("jobAgentConfig", PlanRequest("v2", job_agent_config=config)),
        ("config", PlanRequest("v2", config=config)),
    ):
        with pytest.raises(InvalidRequest) as refused:
            await world.submit(request)
        (problem,) = refused.value.problems
        assert problem.field == (f"{field}.{path}" if path else field)
    assert await count_plans(world) == 0


async def test_the_same_key_and_body_is_the_same_plan(world: World) -> None:
    await world.write()
    first = await world.submit(key="k")
    world.clock.advance(MINUTE)
    assert await world.submit(key="k") == first
    assert await count_plans(world) == 1


async def test_the_same_key_answers_when_a_limit_is_reached_too(world: World) -> None:
    world.limits = PlanLimits(deployment_per_minute=1)
    await world.write()
    first = await world.submit(key="k")
    assert await world.submit(key="k") == first


async def test_the_same_key_with_another_body_is_refused(world: World) -> None:
    await world.write()
    await world.submit(key="k")
    with pytest.raises(InvalidRequest, match="Idempotency-Key 'k'"):
        await world.submit(PlanRequest("v3"), key="k")
    with pytest.raises(InvalidRequest):
        await world.submit(PlanRequest("v2", metadata={"a": 1}), key="k")
    assert await count_plans(world) == 1


async def test_one_key_at_the_same_time_is_one_plan(world: World) -> None:
    await world.write()
    found = await at_once(*(world.submit(key="k") for _ in range(5)))
    assert len({plan.id for plan in found}) == 1
    assert await count_plans(world) == 1
    assert await world.steps() == [Step.FAN_OUT]


async def test_one_key_at_the_same_time_with_two_bodies_is_one_plan(world: World) -> None:
    await world.write()
    found = await at_once(
        *(world.submit(PlanRequest(tag), key="k") for tag in ("v1", "v2", "v1", "v2"))
    )
    assert len({one.id for one in found if isinstance(one, Plan)}) == 1
    assert sum(isinstance(one, InvalidRequest) for one in found) == 2


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (PlanLimits(deployment_per_minute=2), "2 plans a minute here"),
        (PlanLimits(deployment_computing=2), "2 computing plans here"),
        (PlanLimits(workspace_per_minute=2), "2 plans a minute in all"),
        (PlanLimits(workspace_computing=2), "2 computing plans in all"),
    ],
)
async def test_a_limit_is_named_and_leaves_nothing_behind(
    world: World, limits: PlanLimits, words: str
) -> None:
    world.limits = limits
    await world.write()
    await world.submit()
    await world.submit()
    with pytest.raises(RateLimited, match=words) as caught:
        await world.submit()
    assert caught.value.retry_after > timedelta(0)
    assert await count_plans(world) == 2
    assert len(await world.queued()) == 2


async def test_a_limit_is_exact_however_many_ask_at_once(world: World) -> None:
    world.limits = PlanLimits(deployment_computing=3)
    await world.write()
    found = await at_once(*(world.submit() for _ in range(8)))
    assert sum(isinstance(one, Plan) for one in found) == 3
    assert sum(isinstance(one, RateLimited) for one in found) == 5


async def test_a_minute_later_one_may_ask_again(world: World) -> None:
    world.limits = PlanLimits(deployment_per_minute=1)
    await world.write()
    await world.submit()
    world.clock.advance(MINUTE + timedelta(seconds=1))
    await world.submit()


async def test_a_newer_plan_supersedes_an_older_one_of_the_same_pull_request(world: World) -> None:
    await world.write()
    old = await world.submit(REQUEST)
    new = await world.submit(replace(REQUEST, tag="v3"))
    other = await world.submit(replace(REQUEST, resource_selector="true"))
    old = await world.plan(old.id)
    assert (old.status, old.reason) == (PlanStatus.FAILED, PlanReason.SUPERSEDED)
    for one in (new, other):
        assert (await world.plan(one.id)).status is PlanStatus.COMPUTING


async def test_a_finished_plan_that_is_superseded_expires_sooner(world: World) -> None:
    await world.write()
    old, _ = await world.completed(REQUEST)
    await world.submit(replace(REQUEST, tag="v3"))
    there = await world.plan(old.id)
    assert there.status is PlanStatus.COMPLETED
    assert there.expires_at == world.clock.now() + world.limits.retention < old.expires_at


async def test_of_plans_at_the_same_time_one_is_the_newest(world: World) -> None:
    await world.write()
    found = await at_once(*(world.submit(replace(REQUEST, tag=f"v{n}")) for n in range(4)))
    plans = [await world.plan(one.id) for one in found if isinstance(one, Plan)]
    assert sorted(plan.status for plan in plans) == ["computing", "failed", "failed", "failed"]


async def test_a_selector_that_can_not_be_taken_names_its_field(world: World) -> None:
    await world.write()
    for field, request in (
        ("environmentSelector", PlanRequest("v2", environment_selector="environment.name ==")),
        ("resourceSelector", PlanRequest("v2", resource_selector="nobody.knows == 1")),
    ):
        with pytest.raises(InvalidRequest, match=field) as caught:
            await world.submit(request)
        assert [problem.field for problem in caught.value.problems] == [field]
    assert await count_plans(world) == 0
    assert await world.queued() == []
