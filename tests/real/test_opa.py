"""What every rule engine promises, held by the real opa program."""

from collections.abc import Callable
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
    def validator(self, real_program: Callable[[str], Path]) -> Opa:
        return Opa(real_program("opa"), limits=replace(LIMITS, wall=timedelta(seconds=3)))


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
