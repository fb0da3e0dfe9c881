"""Step 5 of a day: the rules judge what the agent answered, and a gate that errs never passes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from engine_world import MINUTE, World, a_policy, some_resources

from foretell.domain.errors import Unavailable
from foretell.domain.plan import JsonObject, PlanStatus
from foretell.domain.result import Done, KindResult, PolicySides, ResourceChange, Status
from foretell.domain.summary import Conclusion, conclude, exit_code
from foretell.domain.verdict import Denial, Rule, Verdict, VerdictStatus
from foretell.policy.absent import NoEngine
from foretell.ports import Step
from foretell.testing.scripted import (
    CHANGED,
    FakeAgents,
    ScriptedAgent,
    ScriptedValidator,
    a_result,
)

DENIED = Verdict(
    "gate", "no", VerdictStatus.DENIED, denials=(Denial("not on Fridays", {"day": "Fri"}),)
)


async def verdicts(world: World) -> Sequence[Verdict]:
    plan, _ = await world.completed()
    return (await world.the_invocation(plan)).verdicts


async def test_no_rule_that_applies_is_no_verdict(world: World) -> None:
    world.policies = [a_policy("rule", selector="environment.name == 'staging'")]
    validator = world.validator = ScriptedValidator()
    await world.write()
    plan, _ = await world.completed()
    state = await world.the_invocation(plan)
    assert (state.status, state.verdicts) == (Status.COMPLETED, ())
    assert validator.documents == []


async def test_every_rule_has_its_verdict_in_order(world: World) -> None:
    world.policies = [a_policy("yes", "no")]
    world.validator = ScriptedValidator({"no": DENIED})
    await world.write()
    assert await verdicts(world) == (
        DENIED,
        Verdict("gate", "yes", VerdictStatus.PASSED),
    )


async def test_a_denial_fails_the_check_and_not_the_plan(world: World) -> None:
    world.policies = [a_policy("no")]
    world.validator = ScriptedValidator({"no": DENIED})
    world.resources = some_resources(3)
    await world.write()
    plan, report = await world.completed()
    assert plan.status is PlanStatus.COMPLETED
    assert report.summary is not None
    assert (report.summary.changed, report.summary.violations) == (3, 3)
    assert conclude(plan.status, plan.reason, report.summary) is Conclusion.FAILURE
    assert exit_code(plan.status, report.summary, detailed=True) == 3


async def test_a_server_without_a_rule_engine_passes_nothing(world: World) -> None:
    world.policies = [a_policy("rule")]
    world.validator = NoEngine()
    await world.write()
    plan, report = await world.completed()
    (verdict,) = (await world.the_invocation(plan)).verdicts
    assert verdict.status is VerdictStatus.ERRORED
    assert exit_code(plan.status, report.summary) == 1


class Answering(ScriptedValidator):
    """Answers with what is given, whatever it was asked."""

    def __init__(self, *given: Verdict) -> None:
        super().__init__()
        self.given = given

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        return self.given


A, B = (Verdict("gate", name, VerdictStatus.PASSED) for name in "ab")


@pytest.mark.parametrize(
    "given",
    [(), (A,), (B, A), (A, A), (A, B, B), (A, replace(B, policy="other"))],
)
async def test_an_engine_that_does_not_answer_every_rule_passes_none(
    world: World, given: tuple[Verdict, ...]
) -> None:
    world.policies = [a_policy("a", "b")]
    world.validator = Answering(*given)
    await world.write()
    assert [one.status for one in await verdicts(world)] == [VerdictStatus.ERRORED] * 2


async def test_an_engine_that_raises_is_asked_again_and_has_passed_nothing(world: World) -> None:
    world.policies = [a_policy("rule")]
    world.validator = ScriptedValidator({}, Unavailable("away"), ValueError("bug"))
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    (job,) = await world.take(Step.VALIDATE)
    for error in (Unavailable, ValueError):
        with pytest.raises(error):
            await world.tasks.validate(job.id)
        state = await world.the_invocation(plan)
        assert (state.status, state.verdicts) == (Status.COMPUTING, ())
    await world.tasks.validate(job.id)
    state = await world.the_invocation(plan)
    assert [one.status for one in state.verdicts] == [VerdictStatus.PASSED]


async def test_an_engine_that_never_answers_errs_at_the_plans_deadline(world: World) -> None:
    world.policies = [a_policy("rule")]
    world.validator = ScriptedValidator({}, *[Unavailable("away: canary")] * 9)
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    await world.take(Step.VALIDATE)
    world.clock.advance(world.limits.deadline)
    await world.tasks.sweep()
    await world.drain()
    state = await world.the_invocation(plan)
    assert [one.status for one in state.verdicts] == [VerdictStatus.ERRORED]
    assert "canary" not in state.verdicts[0].message
    there = await world.plan(plan.id)
    assert there.status is PlanStatus.COMPLETED
    report = await world.report(plan)
    assert exit_code(there.status, report.summary) == 1


async def test_rules_see_parsed_sides_and_changes(world: World) -> None:
    change = ResourceChange("Deployment", "web", "modify", before='{"n": 1}', after="text")  # type: ignore[arg-type]
    result = KindResult(
        a_result().kind, '{"a": [1]}', "plain text", None, resources=(change,), diff="x"
    )
    world.agents = FakeAgents(ScriptedAgent(Done((result,))))
    world.policies = [a_policy("rule")]
    validator = world.validator = ScriptedValidator()
    await world.write()
    await world.completed()
    (document,) = validator.documents
    assert document["plan"] == {
        "current": {"a": [1]},
        "proposed": "plain text",
        "has_changes": None,
        "changes": [
            {
                "kind": "Deployment",
                "name": "web",
                "namespace": "",
                "action": "modify",
                "before": {"n": 1},
                "after": "text",
            }
        ],
    }


async def test_rules_see_the_values_that_the_agent_made_for_them(world: World) -> None:
    sides = PolicySides(None, {"resource_changes": [1]})
    result = KindResult(a_result().kind, "for people", "also", None, policy=sides)
    world.agents = FakeAgents(ScriptedAgent(Done((result,))))
    world.policies = [a_policy("rule")]
    validator = world.validator = ScriptedValidator()
    await world.write()
    await world.completed()
    (document,) = validator.documents
    assert (document["plan"]["current"], document["plan"]["proposed"]) == (
        None,
        {"resource_changes": [1]},
    )


async def test_validating_twice_or_at_once_writes_one_set_of_verdicts(world: World) -> None:
    world.policies = [a_policy("a", "b")]
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    (job,) = await world.take(Step.VALIDATE)
    await asyncio.gather(*(world.tasks.validate(job.id) for _ in range(3)))
    await world.tasks.validate(job.id)
    assert len((await world.the_invocation(plan)).verdicts) == 2
    ((rows,),) = await world.rows("SELECT count(*) FROM deployment_plan_target_result_validation")
    assert rows == 2


async def test_a_rule_made_after_the_answer_does_not_open_it_again(world: World) -> None:
    await world.write()
    plan, _ = await world.completed()
    world.policies = [a_policy("late")]
    await world.write()
    await world.tasks.validate((await world.the_invocation(plan)).id)
    assert (await world.the_invocation(plan)).verdicts == ()


async def test_rules_that_are_gone_by_then_do_not_keep_the_answer(world: World) -> None:
    world.policies = [a_policy("rule")]
    world.agents = FakeAgents(ScriptedAgent(CHANGED))
    await world.write()
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    await world.rows("DELETE FROM policy RETURNING id")
    await world.drain()
    state = await world.the_invocation(plan)
    assert (state.status, state.verdicts) == (Status.COMPLETED, ())
    assert world.clock.now() < plan.created_at + MINUTE
