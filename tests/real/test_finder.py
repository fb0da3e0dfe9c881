"""A program that is missing is said, never passed over."""

from pathlib import Path

import pytest
from programs import build


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with an empty cache and an empty PATH whose tests ask for one Go program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "wanted", lambda: ["helm3"])
    monkeypatch.setattr("shutil.which", lambda name: None)


@pytest.mark.usefixtures("empty_machine")
def test_a_program_that_was_not_built_names_the_command_that_builds_it() -> None:
    with pytest.raises(build.Missing, match=r"helm3 3\.18\.6 is not built: make real-programs"):
        build.find("helm3")


@pytest.mark.usefixtures("empty_machine")
@pytest.mark.parametrize(("ci", "ends_with"), [("true", 1), ("", 0)])
def test_without_go_the_build_says_so_and_only_ci_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: str, ends_with: int
) -> None:
    monkeypatch.setenv("CI", ci)
    assert build.main() == ends_with
    assert "helm3: skipped, there is no Go" in capsys.readouterr().out


def test_only_what_a_test_here_asks_for_is_made() -> None:
    wanted = build.wanted()
    assert {"git", "postgres", "helm3", "helm4"} <= set(wanted)
    assert set(wanted) <= set(build.PROGRAMS)
