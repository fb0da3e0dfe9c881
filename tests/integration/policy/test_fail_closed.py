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
