"""Beside the steps: what is overdue, forgotten, expired, left behind or no longer wanted."""

from dataclasses import replace

from engine_world import MINUTE, World, a_policy, new_id, some_resources, with_agents

from foretell.domain.errors import AgentUnavailable
from foretell.domain.plan import AgentId, PlanId, PlanReason, PlanStatus
from foretell.domain.result import Leftovers, Pending, Status
from foretell.domain.target import AgentSpec
from foretell.engine.sweep import LEFTOVER_AGE, sweep
from foretell.inventory.secrets import References
from foretell.ports import Step
from foretell.testing.scripted import CHANGED, FakeAgents, ScriptedAgent

HOUR = 60 * MINUTE


async def swept(world: World, environ: dict[str, str] | None = None) -> Leftovers:
    return await sweep(world.store, world.agents, References(environ or {}, None), world.clock)


async def test_an_overdue_plan_that_was_never_fanned_out_fails(world: World) -> None:
    await world.write()
    plan = await world.submit()
    await world.take()
    world.clock.advance(world.limits.deadline)
    await swept(world)
    there = await world.plan(plan.id)
    assert (there.status, there.reason) == (PlanStatus.FAILED, PlanReason.DEADLINE)
    await swept(world)
    assert await world.plan(plan.id) == there


async def test_an_overdue_plan_completes_with_what_it_has(world: World) -> None:
    world.resources = some_resources(3)
    agent = ScriptedAgent(Pending({"run": 1}, 20 * MINUTE, "queued"))
    world.agents = FakeAgents(agent)
    await world.write()
    plan = await world.fanned_out()
    first, *_ = await world.take(Step.INVOKE)
    agent.script[:] = [CHANGED]
    await world.tasks.invoke(first.id)
    agent.script[:] = [Pending({"run": 1}, 20 * MINUTE, "queued")]
    world.clock.advance(world.limits.deadline)
    await world.take()
    await swept(world)
    await world.drain()
    there = await world.plan(plan.id)
    assert there.status is PlanStatus.COMPLETED
    states = await world.invocations(plan)
    assert sorted((state.status, state.reason) for state in states) == [
        (Status.COMPLETED, ""),
        (Status.ERRORED, "timeout"),
        (Status.ERRORED, "timeout"),
    ]


async def test_nothing_is_overdue_before_its_deadline(world: World) -> None:
    await world.write()
    plan = await world.submit()
    world.clock.advance(world.limits.deadline - MINUTE)
    await swept(world)
    assert (await world.plan(plan.id)).status is PlanStatus.COMPUTING


async def test_whatever_lost_its_job_goes_on(world: World) -> None:
    """After each step all jobs vanish; the sweep finds the plan again every time."""
    world.policies = [a_policy("rule")]
    world.resources = some_resources(2)
    await world.write()
    plan = await world.submit()
    seen = []
    for _ in range(4):
        await world.take()
        assert await world.queued() == []
        await swept(world)
        steps = set(await world.steps())
        seen.append(steps)
        for step in steps:
            await world.run(step)
    assert seen == [{Step.FAN_OUT}, {Step.INVOKE}, {Step.VALIDATE}, {Step.SETTLE}]
    assert (await world.plan(plan.id)).status is PlanStatus.COMPLETED


async def test_what_waits_for_its_time_is_not_woken(world: World) -> None:
    world.agents = FakeAgents(ScriptedAgent(Pending({}, 5 * MINUTE)))
    await world.write()
    await world.fanned_out()
    await world.run(Step.INVOKE)
    before = await world.queued()
    await swept(world)
    assert await world.queued() == before


async def is_there(world: World, plan_id: PlanId) -> bool:
    async with world.store.begin() as tx:
        return await tx.plan(plan_id) is not None


async def test_an_expired_plan_is_deleted_with_all_of_its_rows(world: World) -> None:
    world.policies = [a_policy("rule")]
    await world.write()
    plan, _ = await world.completed()
    world.clock.advance(world.limits.retention - MINUTE)
    await swept(world)
    assert await is_there(world, plan.id)
    world.clock.advance(MINUTE)
    await swept(world)
    assert not await is_there(world, plan.id)
    for table in ("", "_target", "_target_result", "_target_result_validation"):
        assert await world.rows(f"SELECT count(*) FROM deployment_plan{table}") == [(0,)]


async def test_an_expired_plan_stays_until_what_it_began_is_abandoned(world: World) -> None:
    agent = ScriptedAgent(Pending({"run": 1}, 5 * MINUTE))
    world.agents = FakeAgents(agent)
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    await world.cancel(plan)
    world.clock.advance(HOUR)
    await swept(world)
    assert await is_there(world, plan.id)
    await world.drain()
    assert len(agent.abandoned) == 1
    await swept(world)
    assert not await is_there(world, plan.id)


async def test_agents_sweep_their_leftovers_and_are_told_who_lives(world: World) -> None:
    agent = ScriptedAgent(Pending({}, 5 * MINUTE), leftovers=Leftovers(2, ("app-1",)))
    world.agents = FakeAgents(agent)
    world.resources = some_resources(2)
    world.specs = [replace(world.specs[0], config={"token": {"env": "TOKEN"}})]
    await world.write()
    plan = await world.fanned_out()
    done = (await world.invocations(plan))[0].id
    agent.script[:] = [CHANGED]
    await world.tasks.invoke(done)
    left = await swept(world, {"TOKEN": "s3cret"})
    assert left == Leftovers(2, ("agent: app-1",))
    ((config, older_than, live),) = agent.swept
    assert config == {"token": "s3cret"}
    assert older_than == LEFTOVER_AGE
    assert live == await world.live()
    assert len(live) == 1
    assert done not in live


async def test_one_agent_that_can_not_sweep_stops_nobody_else(world: World) -> None:
    away, broken = ScriptedAgent(type="a-away"), ScriptedAgent(type="b-broken")
    away.on_sweep = AgentUnavailable("502")
    broken.on_sweep = ValueError("canary")
    fine = ScriptedAgent(type="d-fine", leftovers=Leftovers(1))
    world = with_agents(world, away, broken, fine)
    world.specs.append(
        AgentSpec(AgentId(new_id()), "c-secret", "d-fine", {"token": {"env": "MISSING"}})
    )
    world.specs.append(AgentSpec(AgentId(new_id()), "e-unknown", "nobody"))
    await world.write()
    left = await swept(world)
    assert left.removed == 1
    first, second, third = left.stuck
    assert first == "a-away: 502"
    assert second == "b-broken: the agent failed with ValueError"
    assert third.startswith("c-secret: ")


async def test_cancelling_stops_a_plan_once_and_wakes_what_is_open(world: World) -> None:
    world.resources = some_resources(2)
    agent = ScriptedAgent(Pending({"run": 1}, 5 * MINUTE))
    world.agents = FakeAgents(agent)
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    stopped = await world.cancel(plan)
    assert stopped is not None
    assert (stopped.status, stopped.reason) == (PlanStatus.FAILED, PlanReason.CANCELLED)
    world.clock.advance(MINUTE)
    assert await world.cancel(plan) == stopped
    await world.drain()
    assert len(agent.abandoned) == 2
    assert {one.reason for one in await world.invocations(plan)} == {"cancelled"}


async def test_cancelling_what_has_ended_or_never_was_changes_nothing(world: World) -> None:
    await world.write()
    plan, _ = await world.completed()
    assert await world.cancel(plan) == plan
    assert await world.cancel(replace(plan, id=PlanId(new_id()))) is None
