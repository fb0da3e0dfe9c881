"""What every rule engine promises, held by the embedded one."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from foretell.domain.errors import InvalidRequest
from foretell.domain.verdict import Denial, Rule, VerdictStatus
from foretell.policy.regorus import LIMITS, Regorus
from foretell.testing.contracts.validator import DOCUMENT, ValidatorContract

pytest.importorskip("regorus", reason="the extra foretell[rego] is not installed")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[Regorus]:
    """One for them all: its children are warm, as they are on a server."""
    limits = replace(LIMITS, wall=timedelta(seconds=2))
    async with Regorus(limits=limits, size=1) as regorus:
        yield regorus


@pytest.mark.asyncio(loop_scope="module")
class TestRegorus(ValidatorContract):
    @pytest.fixture
    def validator(self, engine: Regorus) -> Regorus:
        return engine


LACKING = (
    "crypto.sha256(input.agent_type)",
    "io.jwt.decode(input.agent_type)",
    "json.patch(input, [])",
    "json.match_schema(input, {})",
    "regex.template_match(input.agent_type, `a`, `{`, `}`)",
    "rego.metadata.rule()",
    'strings.render_template("{{.a}}", {"a": 1})',
)


@pytest.mark.asyncio(loop_scope="module")
class TestWhatTheEmbeddedEngineLacks:
    @pytest.mark.parametrize("call", LACKING)
    async def test_it_is_refused_by_name_and_line_and_never_skipped(
        self, engine: Regorus, call: str
    ) -> None:
        """Behind a condition that no document meets, so that nothing would find it at run time."""
        rule = _rule(
            f"f(x) := y if {{\n\tx == 7\n\ty := {call}\n}}\ndeny contains f(input.nothing)"
        )
        with pytest.raises(InvalidRequest) as refused:
            await engine.check([rule])
        (problem,) = refused.value.problems
        assert problem.where == "policy/rule:4"
        assert call.partition("(")[0] in problem.message
        (verdict,) = await engine.evaluate([rule], DOCUMENT)
        assert verdict.status is VerdictStatus.ERRORED

    async def test_a_number_that_it_would_round_is_refused_in_a_rule(self, engine: Regorus) -> None:
        with pytest.raises(InvalidRequest, match="18446744073709551616"):
            await engine.check([_rule('deny contains "x" if input.id == 18446744073709551616')])
        await engine.check([_rule('deny contains "x" if input.id == 18446744073709551615')])

    @pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
    async def test_a_number_that_it_would_round_is_an_error_in_a_document(
        self, engine: Regorus, number: int
    ) -> None:
        """Two that differ would be equal."""
        rule = _rule(f'deny contains "same" if input.id == {2**64 - 1}')
        (verdict,) = await engine.evaluate([rule], {"deep": [{"id": number}]})
        assert verdict.status is VerdictStatus.ERRORED
        assert str(number) in verdict.message

    async def test_long_digits_in_a_text_are_no_number(self, engine: Regorus) -> None:
        rule = _rule("deny contains input.id")
        (verdict,) = await engine.evaluate([rule], {"id": "1" * 40, "n": 2**64 - 1, "m": -(2**63)})
        assert [one.message for one in verdict.denials] == ["1" * 40]

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
    async def test_what_json_can_not_say_is_an_error(self, engine: Regorus, value: Any) -> None:
        (verdict,) = await engine.evaluate([_rule('deny contains "x"')], {"a": value})
        assert verdict.status is VerdictStatus.ERRORED
        assert "JSON" in verdict.message

    async def test_half_a_character_is_an_error(self, engine: Regorus) -> None:
        (verdict,) = await engine.evaluate([_rule('deny contains "x"')], {"a": "\ud800"})
        assert verdict.status is VerdictStatus.ERRORED
        assert "can't be read" in verdict.message


@pytest.mark.asyncio(loop_scope="module")
class TestWhereTheEmbeddedEngineBreaks:
    async def test_a_panic_is_an_error_of_that_rule_alone(self, engine: Regorus) -> None:
        panics = _rule('deny contains "x" if strings.count(input.agent_type, "") > 1')
        says = _rule('deny contains "said"')
        panicked, said = await engine.evaluate([panics, says], DOCUMENT)
        assert panicked.status is VerdictStatus.ERRORED
        assert "the rule engine failed" in panicked.message
        assert said.denials == (Denial("said"),)

    async def test_a_rule_that_is_too_deep_is_refused(self, engine: Regorus) -> None:
        deep = _rule(f"deny contains {'[' * 100_000}{']' * 100_000}")
        with pytest.raises(InvalidRequest):
            await engine.check([deep])
        bad, said = await engine.evaluate([deep, _rule('deny contains "said"')], DOCUMENT)
        assert bad.status is VerdictStatus.ERRORED
        assert said.denials == (Denial("said"),)

    async def test_a_rule_that_took_too_long_no_longer_holds_up_the_others(
        self, engine: Regorus
    ) -> None:
        """Asked alone from the second time on: the others do not wait for its end."""
        body = "some i, j in numbers.range(1, 9999999)\n\ti * j == -1"
        rules = [_rule(f'deny contains "x" if {{\n\t{body}\n}}'), _rule('deny contains "said"')]
        await engine.evaluate(rules, DOCUMENT)
        again, said = await engine.evaluate(rules, DOCUMENT)
        assert "longer than 2 s" in again.message or "more than" in again.message
        assert said.denials == (Denial("said"),)


def _rule(rego: str) -> Rule:
    return Rule("policy", "rule", f"package main\n{rego}\n")
