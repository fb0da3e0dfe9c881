"""What a command says when it fails."""

from importlib.metadata import version

import pytest

from foretell.cli import app


def test_the_name_of_a_file_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    code = app.run(["inventory", "validate", "no\x1b]0;owned\x07\nsuch.yaml"])
    told = capsys.readouterr()
    assert code == 1
    assert "no\\x1b]0;owned\\x07" in told.err
    assert "\x1b" not in told.err + told.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan"], "add --local"),
        (["show", "3b1f"], "--workspace, --deployment\n"),
        (["plna"], "Did you mean 'plan'"),
    ],
)
def test_wrong_usage_ends_with_1_and_says_what_to_do(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(arguments) == 1
    assert said in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out == f"foretell {version('foretell')}\n"


def test_the_list_of_commands_has_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    """The library cuts what is too long for a terminal of 80 columns, and ends it with dots."""
    for group in ([], ["inventory"], ["policy"], ["tfplan"], ["token"]):
        assert app.run([*group, "--help"]) == 0
        listed = capsys.readouterr().out.partition("Commands:")[2]
        assert listed
        assert "..." not in listed
