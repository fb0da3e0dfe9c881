"""The promises of `foretell.ports.Validator` as tests.

Subclass `ValidatorContract`, give it the fixture `validator`, and run it with pytest and
pytest-asyncio in its automatic mode. The engine under test may take seconds for a call, no more
than `PATIENCE`.
"""

import time
from datetime import timedelta
from typing import Any

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.domain.verdict import Denial, Rule, Verdict, VerdictStatus
from foretell.ports import Validator
from foretell.testing.contracts.validator.cases import CASES, Case
from foretell.testing.contracts.validator.document import DOCUMENT
from foretell.testing.contracts.validator.hostile import ERRING, LIMITED, REFUSED, Hostile

__all__ = ["DOCUMENT", "ValidatorContract"]

PATIENCE = timedelta(seconds=30)
"""What one evaluation with a hostile rule in it may take at most, a start included."""

_PLAIN = 'package main\ndeny contains "said"'


def _rule(rego: str, name: str = "rule", *, mandatory: bool = True) -> Rule:
    return Rule(policy="policy", name=name, rego=rego, mandatory=mandatory)


def _named(case: Case | Hostile) -> str:
    return case.name.replace(" ", "-")


class ValidatorContract:
    """All that a rule engine promises."""

    @pytest.fixture
    def validator(self) -> Validator:
        raise NotImplementedError("give the engine under test")

    @pytest.mark.parametrize("case", CASES, ids=_named)
    async def test_a_rule_is_taken_and_says_what_it_means(
        self, validator: Validator, case: Case
    ) -> None:
        rule = _rule(case.module)
        await validator.check([rule])
        (verdict,) = await validator.evaluate([rule], DOCUMENT)
        assert (verdict.message, [one.message for one in verdict.denials]) == ("", [*case.deny])
        assert list(verdict.warnings) == [*case.warn]
        denied = VerdictStatus.DENIED if case.deny else VerdictStatus.PASSED
        assert verdict.status is denied

    async def test_what_a_rule_says_beside_its_message_is_kept(self, validator: Validator) -> None:
        details = {"severity": 3, "at": ["a", {"b": None}], "ok": False, "ratio": 0.5}
        rego = 'package main\ndeny contains {"msg": "no", "severity": 3, "ok": false,'
        rego += ' "ratio": 0.5, "at": ["a", {"b": null}]}'
        (verdict,) = await validator.evaluate([_rule(rego)], DOCUMENT)
        assert verdict.denials == (Denial("no", details),)

    async def test_every_rule_answers_in_the_order_of_the_rules(self, validator: Validator) -> None:
        rules = [
            _rule('package b\ndeny contains "1"', "z"),
            _rule("package main\ndeny contains input.nothing", "a", mandatory=False),
            _rule('package b\ndeny contains "2"', "m", mandatory=False),
        ]
        verdicts = await validator.evaluate(rules, DOCUMENT)
        assert [(one.policy, one.rule, one.mandatory) for one in verdicts] == [
            ("policy", "z", True),
            ("policy", "a", False),
            ("policy", "m", False),
        ]
        assert [[denial.message for denial in one.denials] for one in verdicts] == [
            ["1"],
            [],
            ["2"],
        ]

    async def test_rules_do_not_see_each_other(self, validator: Validator) -> None:
        rules = [
            _rule('package main\nshared := "x"\ndeny contains shared', "a"),
            _rule('package main\nshared := "y"\ndeny contains shared', "b"),
        ]
        verdicts = await validator.evaluate(rules, DOCUMENT)
        assert [one.denials for one in verdicts] == [(Denial("x"),), (Denial("y"),)]

    async def test_the_same_question_has_the_same_answer(self, validator: Validator) -> None:
        rules = [_rule(case.module, case.name) for case in CASES[:12]]
        first = await validator.evaluate(rules, DOCUMENT)
        assert await validator.evaluate(rules, DOCUMENT) == first

    async def test_a_document_leaves_nothing_behind(self, validator: Validator) -> None:
        rule = _rule("package main\ndeny contains input.word")
        before: list[Any] = [await validator.evaluate([rule], {"word": w}) for w in ("a", "b")]
        assert [one.denials for (one,) in before] == [(Denial("a"),), (Denial("b"),)]
        (nothing,) = await validator.evaluate([rule], {})
        assert nothing.status is VerdictStatus.PASSED

    async def test_no_rule_is_no_verdict(self, validator: Validator) -> None:
        await validator.check([])
        assert list(await validator.evaluate([], DOCUMENT)) == []

    @pytest.mark.parametrize("hostile", REFUSED, ids=_named)
    async def test_what_can_not_be_judged_is_refused_with_its_line(
        self, validator: Validator, hostile: Hostile
    ) -> None:
        with pytest.raises(InvalidRequest) as refused:
            await validator.check([_rule(_PLAIN, "good"), _rule(hostile.module, "bad")])
        problems = refused.value.problems
        assert {problem.where for problem in problems} <= {
            f"policy/bad:{line}" for line in range(1, 9)
        }
        if hostile.line:
            assert f"policy/bad:{hostile.line}" in {problem.where for problem in problems}
        assert any(hostile.says in problem.message for problem in problems)

    @pytest.mark.parametrize("hostile", REFUSED, ids=_named)
    async def test_what_was_never_checked_is_no_pass_either(
        self, validator: Validator, hostile: Hostile
    ) -> None:
        _contained(await validator.evaluate(_between(hostile), DOCUMENT), hostile)

    @pytest.mark.parametrize("hostile", ERRING, ids=_named)
    async def test_a_rule_that_errs_is_no_pass_and_the_next_one_answers(
        self, validator: Validator, hostile: Hostile
    ) -> None:
        await validator.check([_rule(hostile.module)])
        _contained(await validator.evaluate(_between(hostile), DOCUMENT), hostile)

    @pytest.mark.parametrize("hostile", LIMITED, ids=_named)
    async def test_a_rule_that_takes_everything_is_ended_and_the_next_one_answers(
        self, validator: Validator, hostile: Hostile
    ) -> None:
        await validator.check([_rule(hostile.module)])
        began = time.monotonic()
        verdicts = await validator.evaluate(_between(hostile), DOCUMENT)
        assert time.monotonic() - began < PATIENCE.total_seconds()
        _contained(verdicts, hostile)


def _between(hostile: Hostile) -> list[Rule]:
    return [_rule(_PLAIN, "before"), _rule(hostile.module, "bad"), _rule(_PLAIN, "next")]


def _contained(verdicts: Any, hostile: Hostile) -> None:
    before, bad, after = verdicts
    assert isinstance(bad, Verdict)
    assert before.denials == after.denials == (Denial("said"),)
    assert bad.status is VerdictStatus.ERRORED, bad
    assert bad.blocks
    assert bad.message
    assert len(bad.message) < 2_000
    if hostile.line > 1:
        assert f"line {hostile.line}" in bad.message
    assert hostile.says in bad.message
