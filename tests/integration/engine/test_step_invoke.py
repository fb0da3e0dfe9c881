"""Step 3: one agent is asked about one target until it answered or time is up."""

import asyncio
from datetime import timedelta
from typing import Any, cast

import pytest
from engine_world import MINUTE, SECOND, World, a_policy, some_resources, with_agents

from foretell.domain.context import DispatchContext
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.plan import GithubRef, JsonObject, Plan, PlanRequest, PlanStatus
from foretell.domain.result import Done, Outcome, Pending, Status, Unsupported
from foretell.domain.verdict import RESERVED
from foretell.ports import Step
from foretell.testing.scripted import (
    CHANGED,
    UNCHANGED,
    FakeAgents,
    Line,
    ScriptedAgent,
    a_result,
)

CANARY = "canary-7f3a"


def asking(world: World, *script: Line, **more: Any) -> ScriptedAgent:
    agent = ScriptedAgent(*script, **more)
    world.agents = FakeAgents(agent)
    return agent


async def test_pending_is_saved_with_the_job_that_asks_again(world: World) -> None:
    state = {"run": "r-1", "n": [1, 2.5, None]}
    agent = asking(world, Pending(state, 7 * SECOND, "queued behind two"), CHANGED)
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    (job,) = await world.queued()
    assert (job.step, job.after_seconds) == (Step.INVOKE, 7)
    assert (await world.the_invocation(plan)).message == "queued behind two"
    await world.drain()
    assert [asked for _, asked in agent.asked] == [None, state]
    assert (await world.plan(plan.id)).status is PlanStatus.COMPLETED


async def test_all_kinds_of_an_answer_come_together(world: World) -> None:
    done = Done(
        (a_result("manifest"), a_result("values", has_changes=False), a_result("cr", text="ü\x00")),
        "rendered",
    )
    asking(world, done)
    await world.write()
    plan, report = await world.completed()
    state = await world.the_invocation(plan)
    assert [(one.kind, one.has_changes) for one in state.results] == [
        ("manifest", True),
        ("values", False),
        ("cr", True),
    ]
    assert (state.status, state.message) == (Status.COMPLETED, "rendered")
    assert report.targets[0].has_changes is True
    async with world.store.begin() as tx:
        stored = await tx.result(plan.id, state.results[2].id)
    assert stored == (Status.COMPLETED, done.results[2])


@pytest.mark.parametrize(
    ("results", "words"),
    [
        ((), "no result"),
        ((a_result(""),), "no kind"),
        ((a_result(sorted(RESERVED)[0]),), "reserved name"),
        ((a_result("plan"), a_result("plan")), "twice for kind 'plan'"),
    ],
)
async def test_kinds_that_nobody_could_tell_apart_are_an_error(
    world: World, results: Any, words: str
) -> None:
    asking(world, Done(results))
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, "rejected")
    assert words in state.message
    assert state.results == ()


async def test_an_agent_that_is_away_is_asked_again_with_growing_pauses(world: World) -> None:
    agent = asking(world, *[AgentUnavailable("502 from the gateway")] * 9, CHANGED)
    await world.write()
    plan = await world.fanned_out()
    pauses = []
    for _ in range(9):
        await world.run(Step.INVOKE)
        (job,) = await world.queued()
        pauses.append(job.after_seconds)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert (await world.the_invocation(plan)).message == "502 from the gateway"
    await world.drain()
    assert (await world.the_invocation(plan)).status is Status.COMPLETED
    assert len(agent.asked) == 10


async def test_the_other_sides_own_time_is_kept(world: World) -> None:
    asking(world, AgentUnavailable("429", retry_after=17 * SECOND), CHANGED)
    await world.write()
    await world.fanned_out()
    await world.run(Step.INVOKE)
    (job,) = await world.queued()
    assert job.after_seconds == 17


async def test_an_agent_that_stays_away_errs_at_its_deadline_with_its_last_word(
    world: World,
) -> None:
    agent = asking(world, AgentUnavailable("502 from the gateway"), timeout=5 * MINUTE)
    await world.write()
    began = world.clock.now()
    plan, report = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, "timeout")
    assert "502 from the gateway" in state.message
    assert "300 s" in state.message
    assert world.clock.now() - began == 5 * MINUTE
    assert len(agent.abandoned) == 1
    assert plan.status is PlanStatus.COMPLETED
    assert report.summary is not None
    assert report.summary.errored == 1


@pytest.mark.parametrize(
    "line",
    [
        Pending({}, timedelta(days=1)),
        AgentUnavailable("maintenance", retry_after=timedelta(days=1)),
    ],
)
async def test_nobody_waits_past_the_deadline_for_the_next_time_of_asking(
    world: World, line: Line
) -> None:
    asking(world, line, timeout=5 * MINUTE)
    await world.write()
    began = world.clock.now()
    plan, _ = await world.completed()
    assert (await world.the_invocation(plan)).reason == "timeout"
    assert world.clock.now() - began == 5 * MINUTE


async def test_the_deadline_counts_from_the_first_time_of_asking(world: World) -> None:
    agent = asking(world, Pending({}, MINUTE), timeout=3 * MINUTE)
    await world.write()
    await world.fanned_out()
    world.clock.advance(10 * MINUTE)
    await world.drain()
    assert len(agent.asked) == 3


async def test_the_plans_deadline_ends_what_has_time_left(world: World) -> None:
    asking(world, Pending({"run": 1}, MINUTE), timeout=timedelta(days=1))
    await world.write()
    began = world.clock.now()
    plan, _ = await world.completed()
    assert (await world.the_invocation(plan)).reason == "timeout"
    assert world.clock.now() - began == world.limits.deadline


async def test_an_agent_that_does_not_return_is_cut_off_and_abandoned(world: World) -> None:
    async def hangs(context: DispatchContext, state: JsonObject | None) -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    agent = asking(world, hangs, timeout=timedelta(milliseconds=50))
    await world.write()
    plan, _ = await world.completed()
    assert (await world.the_invocation(plan)).reason == "timeout"
    assert len(agent.abandoned) == 1


async def test_a_rejection_is_final(world: World) -> None:
    agent = asking(world, AgentRejected("no such chart", reason="conflict"))
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.reason, state.message) == (
        Status.ERRORED,
        "conflict",
        "no such chart",
    )
    assert len(agent.asked) == 1


@pytest.mark.parametrize(
    "bug", [ValueError(CANARY), TimeoutError(CANARY), KeyError(CANARY), RecursionError(CANARY)]
)
async def test_a_bug_of_an_agent_ends_its_target_and_only_its_type_is_told(
    world: World, bug: Exception
) -> None:
    world.resources = some_resources(2)

    async def breaks_once(context: DispatchContext, state: JsonObject | None) -> Outcome:
        if context.side.resource["identifier"] == "r00":
            raise bug
        return CHANGED

    asking(world, breaks_once)
    await world.write()
    plan, _ = await world.completed()
    broken, fine = await world.invocations(plan)
    assert (broken.status, broken.reason) == (Status.ERRORED, "internal")
    assert type(bug).__name__ in broken.message
    assert CANARY not in broken.message
    assert fine.status is Status.COMPLETED


async def test_an_answer_that_is_no_outcome_is_a_bug_of_the_agent(world: World) -> None:
    async def says_nothing(context: DispatchContext, state: JsonObject | None) -> Outcome:
        return cast(Outcome, None)

    asking(world, says_nothing)
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, "internal")


async def test_a_type_that_is_not_installed_is_unsupported_and_names_those_that_are(
    world: World,
) -> None:
    world.agents = FakeAgents(ScriptedAgent(type="other"))
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert state.status is Status.UNSUPPORTED
    assert "'scripted'" in state.message
    assert "known: other" in state.message


async def test_an_agent_that_can_not_plan_says_why(world: World) -> None:
    asking(world, Unsupported("this source can't be planned"))
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.message) == (Status.UNSUPPORTED, "this source can't be planned")


async def test_one_agent_of_a_target_does_not_stop_the_other(world: World) -> None:
    broken = ScriptedAgent(AgentRejected("no"), type="a-broken")
    world = with_agents(world, broken, ScriptedAgent(UNCHANGED, type="b-fine"))
    await world.write()
    plan, report = await world.completed()
    assert [one.status for one in await world.invocations(plan)] == [
        Status.ERRORED,
        Status.COMPLETED,
    ]
    (row,) = report.targets
    assert (row.status, row.has_changes, row.message) == (Status.ERRORED, None, "no")


PULL = PlanRequest("v2", github=GithubRef("acme", "shop", "abc", 7))


async def stop_by(world: World, how: str, plan: Plan) -> None:
    if how == "cancelled":
        await world.cancel(plan)
    else:
        await world.submit(PULL)


@pytest.mark.parametrize("how", ["cancelled", "superseded"])
async def test_a_plan_that_is_stopped_between_two_rounds_abandons_what_it_began(
    world: World, how: str
) -> None:
    agent = asking(world, Pending({"run": 1}, 30 * MINUTE))
    await world.write()
    plan = await world.fanned_out(PULL)
    await world.run(Step.INVOKE)
    await stop_by(world, how, plan)
    woken = [job for job in await world.queued() if job.step is Step.INVOKE]
    assert [job.after_seconds <= 0 for job in woken] == [True]
    await world.run(Step.INVOKE)
    assert len(agent.asked) == 1
    assert [state for _, state in agent.abandoned] == [{"run": 1}]
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, how)
    await world.tasks.settle(plan.id)
    there = await world.plan(plan.id)
    assert (there.status, there.reason) == (PlanStatus.FAILED, how)


@pytest.mark.parametrize("how", ["cancelled", "superseded"])
async def test_a_plan_that_is_stopped_while_its_agent_works_abandons_it_afterwards(
    world: World, how: str
) -> None:
    working, go_on = asyncio.Event(), asyncio.Event()

    async def works(context: DispatchContext, state: JsonObject | None) -> Outcome:
        working.set()
        await go_on.wait()
        return Pending({"run": 2}, MINUTE)

    agent = asking(world, works)
    await world.write()
    plan = await world.fanned_out(PULL)
    (job,) = await world.take(Step.INVOKE)
    asking_now = asyncio.create_task(world.tasks.invoke(job.id))
    await working.wait()
    await stop_by(world, how, plan)
    go_on.set()
    await asking_now
    await world.run(Step.INVOKE)
    assert [state for _, state in agent.abandoned] == [{"run": 2}]
    assert (await world.the_invocation(plan)).reason == how
    assert (await world.plan(plan.id)).status is PlanStatus.FAILED


async def test_what_was_settled_meanwhile_is_not_overwritten_and_the_late_one_cleans_up(
    world: World,
) -> None:
    """The same job twice, as after a worker that was taken for dead: the first answer stays."""
    working, go_on = asyncio.Event(), asyncio.Event()

    async def works(context: DispatchContext, state: JsonObject | None) -> Outcome:
        working.set()
        await go_on.wait()
        return Pending({"late": True}, MINUTE)

    agent = asking(world, works)
    await world.write()
    plan = await world.fanned_out()
    (job,) = await world.take(Step.INVOKE)
    late = asyncio.create_task(world.tasks.invoke(job.id))
    await working.wait()
    agent.script[:] = [CHANGED]
    await world.tasks.invoke(job.id)
    before = await world.the_invocation(plan)
    go_on.set()
    await late
    assert await world.the_invocation(plan) == before
    assert before.status is Status.COMPLETED
    assert len(agent.abandoned) == 1


@pytest.mark.parametrize("fault", [AgentUnavailable("away"), ValueError("bug")])
async def test_an_abandon_that_fails_does_not_keep_the_invocation_open(
    world: World, fault: Exception
) -> None:
    agent = asking(world, Pending({}, MINUTE), timeout=3 * MINUTE)
    agent.on_abandon = fault
    await world.write()
    plan, _ = await world.completed()
    assert (await world.the_invocation(plan)).reason == "timeout"
    assert plan.status is PlanStatus.COMPLETED


async def test_with_a_rule_the_answer_waits_for_it(world: World) -> None:
    world.policies = [a_policy("rule")]
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    (job,) = await world.queued()
    assert (job.step, job.id) == (Step.VALIDATE, (await world.the_invocation(plan)).id)
    assert (await world.the_invocation(plan)).status is Status.COMPUTING


async def test_without_a_rule_the_plan_is_settled_next(world: World) -> None:
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    assert [(job.step, job.id) for job in await world.queued()] == [(Step.SETTLE, plan.id)]
    assert (await world.the_invocation(plan)).status is Status.COMPLETED
