"""What every rule engine promises, held by the real opa program."""

import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from foretell.cli.app import run
from foretell.domain.verdict import Rule, VerdictStatus
from foretell.policy.opa import LIMITS, Opa
from foretell.testing.contracts.validator import ValidatorContract


class TestOpa(ValidatorContract):
    @pytest.fixture
    async def validator(self, real_program: Callable[[str], Path]) -> AsyncIterator[Opa]:
        limits = replace(LIMITS, wall=timedelta(seconds=3))
        async with Opa(real_program("opa"), limits=limits) as engine:
            yield engine


async def test_a_program_that_is_away_is_no_pass(tmp_path: Path) -> None:
    engine = Opa(tmp_path / "opa")
    (verdict,) = await engine.evaluate([Rule("p", "r", "package main\ndeny contains 1")], {})
    assert verdict.status is VerdictStatus.ERRORED
    assert verdict.blocks
    assert "was not found" in verdict.message


def test_every_example_passes_its_own_tests(
    real_program: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORETELL_OPA", str(real_program("opa")))
    examples = Path(__file__).parents[2] / "examples" / "policies"
    assert run(["policy", "test", str(examples)]) == 0
    assert "FAIL" not in capsys.readouterr().out


def _children() -> set[int]:
    mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for each in mine for pid in each.read_text().split()}


async def test_a_set_of_rules_is_loaded_once_and_asked_many_times(
    real_program: Callable[[str], Path],
) -> None:
    """Rules of one package, among them one that names it, and do not see each other."""
    rules = [
        Rule("p", "a", "package main\nshared := input.n\ndeny contains msg if msg := shared"),
        Rule(
            "p", "b", 'package main\nshared := 2\ndeny contains sprintf("%d", [data.main.shared])'
        ),
        Rule("p", "c", 'package main.sub\nimport data.main.sub.x as y\nx := "3"\ndeny contains y'),
    ]
    before = _children()
    async with Opa(real_program("opa")) as engine:
        seen = []
        for number in range(5):
            verdicts = await engine.evaluate(rules, {"n": str(number)})
            assert [[one.message for one in v.denials] for v in verdicts] == [
                [str(number)],
                ["2"],
                ["3"],
            ]
            seen.append(_children() - before)
        assert len(seen[0]) == 1
        assert seen == [seen[0]] * 5


async def test_a_rule_that_errs_is_named_by_its_own_line_and_leaves_the_others_warm(
    real_program: Callable[[str], Path],
) -> None:
    errs = Rule("p", "errs", "package main\n\ndeny contains 1 + input.word")
    says = [Rule("p", name, f'package main\ndeny contains "{name}"') for name in ("a", "b")]
    async with Opa(real_program("opa")) as engine:
        for _ in range(3):
            first, bad, last = await engine.evaluate([says[0], errs, says[1]], {"word": "x"})
            assert ([d.message for d in (*first.denials, *last.denials)]) == ["a", "b"]
            assert bad.status is VerdictStatus.ERRORED
            assert bad.message.startswith("line 3: ")
            assert "rule1" not in bad.message
        (other, _) = await engine.evaluate([errs, says[0]], {"word": 1})
        assert "a number" in other.message
