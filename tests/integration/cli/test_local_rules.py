"""`foretell plan --local` asks the rules of the revision that it compares with."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from foretell.cli.app import run

INVENTORY = """\
workspace: shop
jobAgents: [{name: agent, type: test-runner}]
environments: [{name: production}]
resources: [{identifier: eu-1}]
deployments: [{name: Web}]
"""
POLICY = """\
policies:
  - name: guard
    rules:
      - planValidationOpa:
          name: never
          enforcement: mandatory
          rego: |
            package foretell
            deny contains {"msg": "not on Fridays"}
"""


def commit(folder: Path, text: str) -> None:
    (folder / "inventory.yaml").write_text(text)
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com")
    for arguments in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "inventory"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


@pytest.fixture
def data() -> Iterator[str]:
    """Where a database of root may be: its own user has to pass through, which pytest's bars."""
    with tempfile.TemporaryDirectory(prefix="foretell-test-") as folder:
        Path(folder).chmod(0o755)
        yield folder


def test_a_rule_of_the_inventory_judges_a_local_plan_and_none_of_an_earlier_one_does(
    tmp_path: Path,
    data: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    structlog.reset_defaults()
    monkeypatch.setenv("FORETELL_DATA_DIR", data)
    monkeypatch.setenv("FORETELL_CACHE_DIR", str(tmp_path / "cache"))
    repository = tmp_path / "shop"
    repository.mkdir()
    monkeypatch.chdir(repository)
    commit(repository, INVENTORY + POLICY)
    assert run(["plan", "--local"]) == 3
    assert "never says no: not on Fridays" in capsys.readouterr().out
    (repository / "inventory.yaml").write_text(INVENTORY)
    assert run(["plan", "--local"]) == 3, "a change can't take away the rule that judges it"
    commit(repository, INVENTORY)
    capsys.readouterr()
    assert run(["plan", "--local"]) == 0
    assert "not on Fridays" not in capsys.readouterr().out
    assert structlog.is_configured(), "the library's own log prints every local variable"
    structlog.reset_defaults()


def test_a_local_plan_shows_as_much_context_as_it_is_asked_for(
    tmp_path: Path,
    data: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    structlog.reset_defaults()
    monkeypatch.setenv("FORETELL_DATA_DIR", data)
    monkeypatch.setenv("FORETELL_CACHE_DIR", str(tmp_path / "cache"))
    repository = tmp_path / "shop"
    repository.mkdir()
    monkeypatch.chdir(repository)
    lines = INVENTORY.replace("type: test-runner", "type: test-runner, config: {size: 1000}")
    commit(repository, lines)
    shown = {}
    for wanted in ("0", "9"):
        assert run(["plan", "--local", "--context", wanted]) == 0
        shown[wanted] = capsys.readouterr().out
    assert "\n-version: " in shown["0"]
    assert "\n line 0" not in shown["0"]
    assert shown["9"].count("\n line 0") >= 9
    structlog.reset_defaults()
