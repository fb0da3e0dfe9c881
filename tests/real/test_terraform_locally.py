"""`foretell plan --local` with a real program: one state and no server."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from foretell.cli.app import run

SECRET = "S3cr3t-Value-42"
INVENTORY = """\
workspace: shop
jobAgents:
  - name: infra
    type: terraform
    config:
      repository: {url: ., path: "infra/{{ resource.name }}"}
      planKey: {env: PLAN_KEY}
      env: [TF_VAR_size, TF_VAR_password]
environments: [{name: production}]
resources: [{identifier: eu, name: eu}]
deployments: [{name: Web}]
"""
MAIN = """\
variable "size" {}
variable "password" {
  sensitive = true
}
resource "terraform_data" "web" {
  input = "%s"
}
resource "terraform_data" "password" {
  input = var.password
}
"""


@pytest.fixture(params=["tofu", "terraform"])
def repository(
    request: pytest.FixtureRequest,
    real_program: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """The database's own user has to pass through its folder, which pytest's bars."""
    structlog.reset_defaults()
    folder = tmp_path / "shop"
    (folder / "infra" / "eu").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    with tempfile.TemporaryDirectory(prefix="foretell-test-") as data:
        Path(data).chmod(0o755)
        for name, value in {
            "FORETELL_DATA_DIR": data,
            "FORETELL_CACHE_DIR": str(tmp_path / "cache"),
            "FORETELL_TERRAFORM": str(real_program(request.param)),
            "PLAN_KEY": "k" * 32,
            "TF_VAR_size": "3",
            "TF_VAR_password": SECRET,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        yield folder
    structlog.reset_defaults()


def commit(folder: Path, inventory: str, main: str) -> None:
    (folder / "inventory.yaml").write_text(inventory)
    (folder / "infra" / "eu" / "main.tf").write_text(main)
    who = ("-c", "user.name=Tester", "-c", "user.email=tester@example.com")
    for arguments in (["add", "."], [*who, "commit", "-qm", "inventory"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


GUARD = """\
policies:
  - name: guard
    rules:
      - planValidationOpa:
          name: keep the web
          rego: |
            package foretell
            deny contains {"msg": sprintf("%s is %v", [each.address, each.change.after.input])} if {
              some each in input.plan.proposed.resource_changes
              "create" in each.change.actions
            }
"""


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = run(["plan", "--local", "--output", "json", *arguments])
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    return code, json.loads(printed.out)


def test_a_local_plan_shows_what_the_program_would_do(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, INVENTORY, MAIN % "one")
    code, told = planned(capsys)
    (target,) = told["targets"]
    (result,) = target["agents"][0]["results"]
    assert code == 0
    assert result["kind"] == "plan"
    assert result["contentHash"].startswith("p2:")
    assert result["planKeyId"].isalnum()
    assert "Plan: 2 to add, 0 to change, 0 to destroy." in result["diff"]
    assert [(each["name"], each["action"]) for each in target["diff"]["resources"]] == [
        ("terraform_data.password", "add"),
        ("terraform_data.web", "add"),
    ]
    assert "everything looks new" in target["message"]


def test_what_is_in_the_state_already_is_no_change(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, INVENTORY, MAIN % "one")
    program, infra = os.environ["FORETELL_TERRAFORM"], repository / "infra" / "eu"
    subprocess.run([program, "init"], cwd=infra, check=True, capture_output=True)
    subprocess.run([program, "apply", "-auto-approve"], cwd=infra, check=True, capture_output=True)
    commit(repository, INVENTORY, MAIN % "two")
    code, told = planned(capsys, "--base", "HEAD", "--head", "HEAD", "--detailed-exitcode")
    (target,) = told["targets"]
    assert code == 2
    assert [(each["name"], each["action"]) for each in target["diff"]["resources"]] == [
        ("terraform_data.web", "modify")
    ]
    assert target["message"] is None


def test_a_plan_that_fails_is_an_errored_target(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, INVENTORY, MAIN % "one" + 'resource "terraform_data" "web" {}\n')
    code, told = planned(capsys)
    (target,) = told["targets"]
    assert code == 1
    assert target["status"] == "errored"
    assert "init failed" in target["message"]
    assert "terraform_data" in target["message"]


def test_a_rule_reads_the_plan_and_no_secret(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(repository, INVENTORY + GUARD, MAIN % "one")
    code, told = planned(capsys)
    (target,) = told["targets"]
    (validation,) = target["agents"][0]["validations"]
    assert code == 3
    assert sorted(each["message"] for each in validation["denials"]) == [
        "terraform_data.password is (sensitive value)",
        "terraform_data.web is one",
    ]
