"""Step 2: targets, frozen questions and jobs, all or nothing."""

import asyncio
from dataclasses import replace

import pytest
from engine_world import World, new_id, some_resources

from foretell.domain.context import Deployed, DispatchContext, Source, Version
from foretell.domain.errors import ForetellError
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    Plan,
    PlanReason,
    PlanRequest,
    PlanStatus,
)
from foretell.domain.result import Status
from foretell.domain.summary import Conclusion, conclude, summary_line
from foretell.domain.target import (
    AgentSpec,
    CompareSettings,
    Environment,
    Inventory,
    PlanSettings,
    Resource,
    Variable,
    VariableValue,
)
from foretell.ports import PlanBasis, Step
from foretell.testing.scripted import FakeAgents, ScriptedAgent


async def counts(world: World) -> tuple[int, int]:
    ((targets,),) = await world.rows("SELECT count(*) FROM deployment_plan_target")
    ((anchors,),) = await world.rows("SELECT count(*) FROM deployment_plan_target_result")
    return targets, anchors


async def test_targets_times_agents_become_invocations_and_jobs(world: World) -> None:
    world.resources = some_resources(3)
    world.environments.append(Environment(EnvironmentId(new_id()), "staging"))
    world.specs.append(AgentSpec(AgentId(new_id()), "second", "scripted"))
    await world.write()
    plan = await world.fanned_out()
    assert plan.fanned_out_at == world.clock.now()
    assert await counts(world) == (6, 12)
    jobs = await world.queued()
    assert {job.step for job in jobs} == {Step.INVOKE}
    assert {job.id for job in jobs} == {one.id for one in await world.invocations(plan)}


async def test_twice_is_once(world: World) -> None:
    world.resources = some_resources(2)
    await world.write()
    plan = await world.fanned_out()
    before = await counts(world), await world.queued()
    await world.tasks.fan_out(plan.id)
    assert (await counts(world), await world.queued()) == before


async def test_two_at_the_same_time_are_one(world: World) -> None:
    world.resources = some_resources(3)
    await world.write()
    plan = await world.submit()
    await world.take()
    await asyncio.gather(*(world.tasks.fan_out(plan.id) for _ in range(3)))
    assert await counts(world) == (3, 3)
    assert len(await world.queued()) == 3


async def test_no_target_completes_the_plan_and_says_so(world: World) -> None:
    await world.write()
    plan, report = await world.completed(PlanRequest("v2", resource_selector="false"))
    assert plan.status is PlanStatus.COMPLETED
    assert report.summary is not None
    assert report.summary.total == 0
    assert conclude(plan.status, plan.reason, report.summary) is Conclusion.NEUTRAL
    assert summary_line(report.targets, report.summary) == "no target selected"


async def test_no_agent_for_a_target_is_unsupported_and_says_so(world: World) -> None:
    world.deployment = replace(world.deployment, job_agent_selector="jobAgent.name == 'other'")
    await world.write()
    plan, report = await world.completed()
    (state,) = await world.invocations(plan)
    assert (state.status, state.message) == (Status.UNSUPPORTED, "no job agent matches")
    assert plan.status is PlanStatus.COMPLETED
    assert report.summary is not None
    assert report.summary.unsupported == 1


@pytest.mark.parametrize(
    ("variable", "words"),
    [
        (Variable("size", (VariableValue(1, "resource.metadata.n == 1"),)), "has no value"),
        (
            Variable(
                "size",
                (
                    VariableValue(1),
                    VariableValue(2, "resource.metadata.n == 0"),
                    VariableValue(3, "resource.metadata.n == 1", 5),
                ),
            ),
            "two values of priority 0",
        ),
    ],
)
async def test_a_variable_that_can_not_be_resolved_errors_its_target_alone(
    world: World, variable: Variable, words: str
) -> None:
    world.resources = some_resources(2)
    world.deployment = replace(world.deployment, variables=(variable,))
    await world.write()
    plan, report = await world.completed()
    first, second = await world.invocations(plan)
    assert (first.status, first.reason) == (Status.ERRORED, "rejected")
    assert words in first.message
    assert second.status is Status.COMPLETED
    assert plan.status is PlanStatus.COMPLETED
    assert report.summary is not None
    assert (report.summary.errored, report.summary.changed) == (1, 1)


async def test_an_agent_selector_that_makes_no_sense_for_a_target_errors_it_alone(
    world: World,
) -> None:
    world.resources = some_resources(2)
    world.resources[1] = replace(world.resources[1], metadata={"n": "one"})
    world.deployment = replace(world.deployment, job_agent_selector="resource.metadata.n < 1")
    await world.write()
    plan, _ = await world.completed()
    first, second = await world.invocations(plan)
    assert first.status is Status.COMPLETED
    assert (second.status, second.reason) == (Status.ERRORED, "rejected")
    assert "resource.metadata.n < 1" in second.message


async def test_a_selector_that_makes_no_sense_fails_the_plan_at_once(world: World) -> None:
    await world.write()
    plan = await world.submit(PlanRequest("v2", resource_selector="resource.name < 1"))
    await world.drain()
    plan = await world.plan(plan.id)
    assert (plan.status, plan.reason) == (PlanStatus.FAILED, PlanReason.INTERNAL)
    assert "resource.name < 1" in plan.message


async def test_a_question_is_frozen(world: World) -> None:
    agent = ScriptedAgent()
    world.agents = FakeAgents(agent)
    await world.write()
    await world.fanned_out(PlanRequest("v2", config={"image": "new"}, job_agent_config={"a": 1}))
    world.specs = [replace(world.specs[0], config={"changed": "meanwhile"})]
    world.resources = [replace(world.resources[0], name="renamed")]
    await world.write()
    await world.drain()
    (context,) = agent.contexts
    assert context.proposed is not None
    assert context.proposed.agent_config == {"a": 1}
    assert context.proposed.version == Version("v2", "", {"image": "new"})
    assert context.proposed.resource["name"] == "r00"


async def test_what_is_deployed_is_the_current_side(world: World) -> None:
    agent = ScriptedAgent()
    world.agents = FakeAgents(agent)
    world.resources = some_resources(2)
    await world.write()
    async with world.store.begin() as tx:
        await tx.record_deployed(
            world.deployment.id,
            world.environments[0].id,
            world.resources[0].id,
            Deployed(Version("v1"), {"was": "so"}),
            world.clock.now(),
        )
    await world.completed()
    known, unknown = sorted(agent.contexts, key=lambda one: one.side.resource["name"])
    assert known.current is not None
    assert (known.current.version.tag, known.current.variables) == ("v1", {"was": "so"})
    assert unknown.current is None


OF_BASE = CompareSettings(mask_names=("base",))
OF_HEAD = CompareSettings(mask_names=("head",))


def inventory(world: World, *resources: Resource) -> Inventory:
    """The world's inventory with other resources, under ids of its own reading."""
    return Inventory(
        (world.deployment,), tuple(world.environments), resources, tuple(world.specs), ()
    )


async def compared(
    world: World, head: list[Resource], base: list[Resource], *, base_deployment: bool = True
) -> tuple[Plan, dict[str, DispatchContext]]:
    agent = ScriptedAgent()
    world.agents = FakeAgents(agent)
    await world.write()
    before = inventory(world, *base)
    former = replace(world.deployment, plan=PlanSettings(compare=OF_BASE))
    before = replace(before, deployments=(former,))
    if not base_deployment:
        before = replace(before, deployments=())
    plan = await world.submit(
        basis=PlanBasis(
            deployment=world.deployment,
            inventory=inventory(world, *head),
            source=Source("repo", "head"),
            base=before,
            base_source=Source("repo", "base"),
        )
    )
    await world.drain()
    return plan, {str(one.side.resource["identifier"]): one for one in agent.contexts}


async def test_of_two_inventories_targets_are_new_removed_or_compared(world: World) -> None:
    stays, new, gone = some_resources(3)
    before = replace(stays, id=type(stays.id)(new_id()), metadata={"was": True})
    plan, asked = await compared(world, [stays, new], [before, gone])
    rows = {row.target.resource_identifier: row for row in await world.targets(plan)}
    assert {key: row.target.change for key, row in rows.items()} == {
        "r00": "",
        "r01": "new",
        "r02": "removed",
    }
    both, only_head, only_base = (asked[key] for key in ("r00", "r01", "r02"))
    assert both.current is not None
    assert both.proposed is not None
    assert both.current.resource["metadata"] == {"was": True}
    assert (both.current.source, both.proposed.source) == (
        Source("repo", "base"),
        Source("repo", "head"),
    )
    assert (only_head.current, only_base.proposed) == (None, None)


async def test_what_is_no_change_is_what_the_base_says_where_there_is_one(world: World) -> None:
    """A change that brings its own rule would hide itself."""
    world.deployment = replace(world.deployment, plan=PlanSettings(compare=OF_HEAD))
    (only,) = some_resources(1)
    _, asked = await compared(world, [only], [only])
    assert asked["r00"].compare == OF_BASE
    _, asked = await compared(world, [only], [], base_deployment=False)
    assert asked["r00"].compare == OF_HEAD


async def test_what_a_deployment_says_of_comparing_is_frozen_with_the_question(
    world: World,
) -> None:
    world.deployment = replace(world.deployment, plan=PlanSettings(compare=OF_HEAD))
    agent = ScriptedAgent()
    world.agents = FakeAgents(agent)
    await world.write()
    await world.fanned_out()
    world.deployment = replace(world.deployment, plan=PlanSettings())
    await world.write()
    await world.drain()
    assert {one.compare for one in agent.contexts} == {OF_HEAD}


async def test_a_deployment_that_is_new_has_only_new_targets(world: World) -> None:
    stays, other = some_resources(2)
    plan, asked = await compared(world, [stays], [stays, other], base_deployment=False)
    assert {row.target.change for row in await world.targets(plan)} == {"new"}
    assert [one.current for one in asked.values()] == [None]


async def test_a_plan_that_was_stopped_is_not_fanned_out(world: World) -> None:
    await world.write()
    plan = await world.submit()
    await world.cancel(plan)
    await world.drain()
    assert await counts(world) == (0, 0)
    assert (await world.plan(plan.id)).reason is PlanReason.CANCELLED


async def test_a_fan_out_that_breaks_leaves_nothing(world: World) -> None:
    world.resources = some_resources(2)
    await world.write()
    plan = await world.submit()

    class TwiceTheSame:
        def new(self) -> str:
            return "00000000-0000-0000-0000-000000000001"

    with pytest.raises(ForetellError):
        await replace(world.tasks, ids=TwiceTheSame()).fan_out(plan.id)
    assert await counts(world) == (0, 0)
    assert await world.steps() == [Step.FAN_OUT]
    await world.drain()
    assert (await world.plan(plan.id)).status is PlanStatus.COMPLETED


async def test_a_plan_that_is_gone_is_no_error(world: World) -> None:
    await world.write()
    for step in (world.tasks.fan_out, world.tasks.settle, world.tasks.report):
        await step(new_id())
    for step in (world.tasks.invoke, world.tasks.validate):
        await step(new_id())
    assert await world.queued() == []


async def test_another_deployment_of_the_workspace_is_not_reached(world: World) -> None:
    await world.write()
    other = replace(world.deployment, id=DeploymentId(new_id()), slug="other")
    async with world.store.begin() as tx:
        await tx.put_items(world.workspace.id, [other])
    _, report = await world.completed()
    assert report.deployment_slug == "web"
    assert len(report.targets) == 1
