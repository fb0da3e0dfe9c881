"""Who is asked at all, how often, and what an answer comes to that something else refused."""

from dataclasses import replace

import pytest
from engine_world import SECOND, World, a_policy

from foretell.domain.plan import GithubRef, PlanRequest, PlanStatus
from foretell.domain.result import Done, Pending, Status
from foretell.domain.target import PlanSettings
from foretell.testing.scripted import CHANGED, FakeAgents, ScriptedAgent, a_result


def opt_in(world: World) -> ScriptedAgent:
    agent = ScriptedAgent(CHANGED)
    agent.opt_in = True
    world.agents = FakeAgents(agent)
    return agent


async def test_an_agent_that_costs_money_is_not_asked_unless_the_deployment_says_so(
    world: World,
) -> None:
    agent = opt_in(world)
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert state.status is Status.UNSUPPORTED
    assert "plan.enabled: true" in state.message
    assert agent.asked == []


async def test_it_is_asked_where_the_deployment_says_so(world: World) -> None:
    agent = opt_in(world)
    world.deployment = replace(world.deployment, plan=PlanSettings(enabled=True))
    await world.write()
    plan, _ = await world.completed()
    assert (await world.the_invocation(plan)).status is Status.COMPLETED
    assert len(agent.asked) == 1


async def test_a_deployment_may_turn_any_agent_off(world: World) -> None:
    agent = ScriptedAgent(CHANGED)
    world.agents = FakeAgents(agent)
    world.deployment = replace(world.deployment, plan=PlanSettings(enabled=False))
    await world.write()
    plan, _ = await world.completed()
    assert "turned off" in (await world.the_invocation(plan)).message
    assert agent.asked == []


async def test_each_time_of_asking_has_its_number(world: World) -> None:
    agent = ScriptedAgent(Pending({"a": 1}, SECOND), Pending({"a": 2}, SECOND), CHANGED)
    world.agents = FakeAgents(agent)
    await world.write()
    await world.completed()
    assert [context.attempt for context in agent.contexts] == [1, 2, 3]


async def test_the_agent_knows_the_head_that_was_asked_for(world: World) -> None:
    agent = ScriptedAgent(CHANGED)
    world.agents = FakeAgents(agent)
    head = GithubRef("acme", "infra", "a" * 40, 7)
    await world.write()
    await world.completed(PlanRequest("v2", github=head))
    assert [context.head for context in agent.contexts] == [head]


@pytest.mark.parametrize("kinds", [("plan",), ("plan", "values")])
@pytest.mark.parametrize("governed", [True, False])
async def test_an_answer_that_the_other_side_refuses_is_shown_and_errored(
    world: World, governed: bool, kinds: tuple[str, ...]
) -> None:
    results = tuple(a_result(kind) for kind in kinds)
    answer = Done(results, "run-1", failure="a mandatory policy said no")
    world.agents = FakeAgents(ScriptedAgent(answer))
    world.policies = [a_policy()] if governed else []
    await world.write()
    plan, report = await world.completed()
    assert plan.status is PlanStatus.COMPLETED
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, "rejected")
    assert state.message == "a mandatory policy said no; run-1"
    assert [result.has_changes for result in state.results] == [True] * len(kinds)
    (target,) = report.targets
    assert target.status is Status.ERRORED
    assert target.has_changes is True
    assert target.diff
