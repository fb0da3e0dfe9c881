"""What a log line may hold of an error, and where it goes."""

from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from foretell.cli.log import start_log
from foretell.settings import Settings


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def failing(token: str) -> None:
    raise ValueError(f"a token of {len(token)} characters is refused")


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_where_and_no_local_variable(
    form: Literal["console", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    start_log(Settings(log_format=form))
    try:
        failing("".join(["s3", "cr3t"]))
    except ValueError:
        structlog.get_logger().warning("job.failed", exc_info=True)
    shown = capsys.readouterr()
    assert "in failing" in shown.err
    assert "is refused" in shown.err
    assert "s3cr3t" not in shown.err + shown.out


def test_standard_output_is_for_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    start_log(Settings())
    structlog.get_logger().warning("queue.lost")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "queue.lost" in shown.err
