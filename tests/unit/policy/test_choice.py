"""Which engine judges: what was configured, else what is embedded, never what merely lies there."""

from pathlib import Path

import pytest

from foretell.policy.choice import rule_engine, rule_workbench
from foretell.policy.opa import Opa
from foretell.policy.regorus import Regorus, is_installed


async def test_a_configured_program_is_used() -> None:
    async with rule_engine(Path("/opt/opa")) as engine:
        assert isinstance(engine, Opa)


@pytest.mark.skipif(not is_installed(), reason="the extra foretell[rego] is not installed")
async def test_a_program_on_the_path_does_not_replace_the_embedded_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "opa"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    async with rule_engine(None) as engine, rule_workbench(None) as workbench:
        assert isinstance(engine, Regorus)
        assert isinstance(workbench, Regorus)
