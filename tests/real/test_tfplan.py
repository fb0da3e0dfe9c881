"""Plans of the real program, read from its binary plan files; no provider is needed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from foretell.cli.tfplan_source import read_plan
from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.compare import compare
from foretell.formats.tfplan.hash import plan_hash
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.verdict import Word, judge

KEY = b"k" * 32
SECRET = "S3cr3t-Value-42"


@pytest.fixture
def planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_program: Callable[[str], Path]
) -> Callable[..., tuple[int, Plan]]:
    program = str(real_program("tofu"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", "/dev/null")

    def call(*arguments: str) -> int:
        quiet = subprocess.DEVNULL
        return subprocess.run(
            [program, *arguments], stdin=quiet, stdout=quiet, stderr=quiet
        ).returncode

    def plan(configuration: str, name: str, *, apply: bool = False) -> tuple[int, Plan]:
        Path("main.tf").write_text(configuration)
        assert call("init", "-input=false") == 0
        code = call("plan", "-input=false", "-detailed-exitcode", f"-out={name}")
        assert not apply or call("apply", "-input=false", name) == 0
        return code, read_plan(name, program)

    return plan


CONFIGURATION = f'resource "terraform_data" "a" {{\n  input = sensitive("{SECRET}")\n}}\n'


def test_the_same_change_planned_twice_has_one_name(planned) -> None:
    one, two = (planned(CONFIGURATION, name)[1] for name in ("one", "two"))
    assert plan_hash(one, KEY) == plan_hash(two, KEY)
    assert compare(one, two) == ()


def test_a_volatile_value_is_named_by_its_path(planned) -> None:
    planned(CONFIGURATION, "first", apply=True)
    volatile = 'resource "terraform_data" "a" {\n  input = "%s"\n}\n'
    one = planned(volatile % "1", "one")[1]
    two = planned(volatile % "2", "two")[1]
    assert [(d.address, d.paths) for d in compare(one, two)] == [("terraform_data.a", ("input",))]


def test_no_changes_is_what_the_program_says_too(planned) -> None:
    planned(CONFIGURATION, "first", apply=True)
    code, second = planned(CONFIGURATION, "second")
    assert code == 0
    assert judge(second).word is Word.NO_CHANGES


def test_a_file_that_is_no_plan_is_said_in_words_of_the_program(
    tmp_path: Path, real_program: Callable[[str], Path]
) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"PK\x03\x04 no plan")
    with pytest.raises(InvalidRequest, match=r"broken can't be read; .*tofu show -json failed"):
        read_plan(str(broken), str(real_program("tofu")))
