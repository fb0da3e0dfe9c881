"""What terraform and tofu print when they fail, as one message for a person."""

from pathlib import Path

import pytest

from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit.terraform.said import MOST_CHARS, failure, told_of

BOXED = """\
╷
│ Warning: Something old
│\x20
│ Nobody needs this.
╵
╷
│ Error: Missing required argument
│\x20
│   on main.tf line 3, in resource "x" "a":
│    3: resource "x" "a" {
│\x20
│ The argument "size" is required, but no definition was found.
╵
"""
HOME = Path("/var/cache/foretell/terraform/plans/i-1-abc/tree/infra")


def test_a_box_and_the_warnings_before_it_are_left_out() -> None:
    told = told_of(BOXED, {})
    assert told.startswith("Missing required argument\n")
    assert "Nobody needs this" not in told
    assert "│" not in told


def test_no_path_of_the_machine_is_told() -> None:
    told = told_of(f"Error: can't open {HOME}/main.tf in {HOME}", {HOME: ""})
    assert told == "can't open main.tf in ."


@pytest.mark.parametrize(
    "line",
    [
        '  3:   password = "hunter2-hunter2"',
        '    │ var.db_password is "hunter2-hunter2"',
        '  3:   "api_key": "hunter2-hunter2"',
        "  3: url = https://user:hunter2-hunter2@host/x",
        "Authorization: Bearer hunter2-hunter2",
    ],
)
def test_a_secret_in_a_line_of_the_configuration_is_hidden(line: str) -> None:
    assert "hunter2" not in told_of(f"Error: no\n{line}\n", {})


def test_what_names_no_secret_is_told() -> None:
    assert 'size = "large"' in told_of('Error: no\n  3: size = "large"\n', {})


def test_known_secrets_are_hidden() -> None:
    told = told_of("Error: bad pin 1234 here", {}, lambda text: text.replace("1234", "***"))
    assert told == "bad pin *** here"


def test_the_first_error_survives_a_flood() -> None:
    told = told_of("Error: the cause\n" + "Error: an effect\n" * 10_000, {})
    assert told.startswith("the cause")
    assert len(told) <= MOST_CHARS + 2


@pytest.mark.parametrize(
    "said",
    [
        "Error: Error acquiring the state lock\n\nLock Info: …",
        "Error: Failed to query available provider packages\n\ncould not connect to registry.x: "
        "dial tcp 1.2.3.4:443: connect: connection refused",
        "Error: registry returned 502 Bad Gateway",
        'Error: Get "https://x": net/http: TLS handshake timeout',
    ],
)
def test_what_passes_by_itself_is_tried_again(said: str) -> None:
    assert isinstance(failure("tofu init", said, {}), AgentUnavailable)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ('Error: No value for required variable\n\nvariable "x"', "varFiles"),
        ("Error: Backend configuration changed", "backendConfig"),
        ("Error: Inconsistent dependency lock file", "commit the lock file"),
        ("Error: Unsupported Terraform Core version", "binary"),
        ("Error: Unsupported block type", ""),
    ],
)
def test_what_stays_is_refused_with_what_would_help(said: str, advice: str) -> None:
    error = failure("terraform plan", said, {})
    assert isinstance(error, AgentRejected)
    assert error.message.startswith("terraform plan failed: ")
    assert advice in error.message


def test_a_program_that_says_nothing_is_told_so() -> None:
    assert failure("tofu plan", "", {}).message == "tofu plan failed: it did not say why"
