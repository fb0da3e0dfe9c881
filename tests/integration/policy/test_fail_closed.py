"""An engine that is missing, dies or is away leaves an invocation not passed."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from gate import Gate, policy

from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import JsonObject, PlanStatus
from foretell.domain.summary import Conclusion, conclude, exit_code
from foretell.domain.target import PolicyRule
from foretell.domain.verdict import Rule, Verdict
from foretell.policy.absent import NoEngine
from foretell.policy.opa import Opa
from foretell.ports import Validator

LATER = timedelta(days=1)
CONFIG = {"kinds": {"case": {"manifest": False}}}
DENIES = PolicyRule("denies", 'package main\ndeny contains "no"')
RULE = PolicyRule("r", 'package main\ndeny contains "no" if input.manifest.has_changes')


class AwayEngine:
    """Raises whatever it is asked."""

    async def check(self, rules: Sequence[Rule]) -> None:
        raise InvalidRequest("away")

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        raise ConnectionError("away")


class ForgetfulEngine(AwayEngine):
    """Answers, but not every rule."""

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        return []


@pytest.mark.parametrize(
    ("engine", "cause"),
    [
        (NoEngine(), "no rule engine is installed"),
        (Opa(Path("/nowhere/opa")), "was not found"),
        (ForgetfulEngine(), "did not answer every rule"),
    ],
    ids=["none", "missing program", "forgetful"],
)
async def test_a_gate_that_can_not_be_asked_is_not_passed(
    gate: Gate, engine: Validator, cause: str
) -> None:
    gate.validator = engine
    await gate.write(["case"], policy("guard", RULE))
    report = await gate.plan(CONFIG)
    (verdict,) = report.targets[0].verdicts
    assert (verdict.rule, verdict.status.value) == ("r", "errored")
    assert cause in verdict.message
    assert exit_code(report.status, report.summary) == 1
    assert conclude(report.status, report.reason, report.summary) is Conclusion.FAILURE


async def test_an_invocation_whose_engine_raises_stays_open_and_is_no_pass(gate: Gate) -> None:
    gate.validator = AwayEngine()
    await gate.write(["case"], policy("guard", RULE))
    with pytest.raises(ConnectionError):
        await gate.plan(CONFIG)
    ((status,),) = await gate.rows("SELECT status FROM deployment_plan")
    assert status == PlanStatus.COMPUTING
    async with gate.store.begin() as tx:
        (plan,) = await tx.overdue(gate.clock.now() + LATER)
    assert len(await gate.computing(plan)) == 1


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("kind: [A\n", "no YAML"),
        ("- c4n4ry\n", "document 1 is no object"),
        ("c4n4ry", "document 1 is no object"),
        ("a: 1\na: 2\n", "there twice"),
        ('{"kind"', "document 1"),
    ],
    ids=["an open list", "a list", "a text", "a key twice", "half JSON"],
)
async def test_manifests_that_can_not_be_read_are_judged_by_nobody(
    gate: Gate, text: str, cause: str
) -> None:
    """As a text they would hold no object that a rule could find."""
    finds = PolicyRule("r", 'package main\ndeny contains "no" if input.manifest.proposed[_]')
    await gate.write(["case"], policy("guard", finds))
    report = await gate.plan({"kinds": {"case": {"manifest": text}}})
    (verdict,) = report.targets[0].verdicts
    assert verdict.status.value == "errored", verdict
    assert "the kind 'manifest' can't be read as Kubernetes objects" in verdict.message
    assert cause in verdict.message
    assert "c4n4ry" not in verdict.message
    assert exit_code(report.status, report.summary) == 1


@pytest.mark.parametrize(
    "selector",
    [
        'resource.metadata.tier != "gold"',
        '!(resource.metadata.tier == "gold")',
        'resource.metadata.tier == "gold"',
        'environment.name == "production" && resource.metadata.tier.startsWith("g")',
    ],
)
async def test_a_policy_applies_where_its_selector_names_a_key_that_is_absent(
    gate: Gate, selector: str
) -> None:
    """A word that is misspelt, or a resource without a label, opens no gate."""
    await gate.write(["case"], policy("guard", DENIES, selector=selector))
    report = await gate.plan(CONFIG)
    assert [one.status.value for one in report.targets[0].verdicts] == ["denied"]


async def test_an_absent_key_does_not_matter_where_the_selector_asks_for_it(gate: Gate) -> None:
    selector = 'has(resource.metadata.tier) && resource.metadata.tier == "gold"'
    await gate.write(["case"], policy("guard", DENIES, selector=selector))
    assert (await gate.plan(CONFIG)).targets[0].verdicts == ()


async def test_a_selector_that_can_not_be_answered_is_an_error_of_its_rules_alone(
    gate: Gate,
) -> None:
    broken = policy("a-broken", DENIES, RULE, selector="resource.name > 3")
    await gate.write(["case"], broken, policy("b-sound", DENIES))
    report = await gate.plan(CONFIG)
    verdicts = report.targets[0].verdicts
    assert [(one.policy, one.rule, one.status.value) for one in verdicts] == [
        ("a-broken", "denies", "errored"),
        ("a-broken", "r", "errored"),
        ("b-sound", "denies", "denied"),
    ]
    assert "whether the policy applies can't be told: selector" in verdicts[0].message
    assert conclude(report.status, report.reason, report.summary) is Conclusion.FAILURE
