"""The environment beats the file, and a wrong setting stops the start by its name."""

from datetime import timedelta
from pathlib import Path

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.settings import read_settings


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "foretell.yaml"
    monkeypatch.setenv("FORETELL_CONFIG", str(file))
    return file


def test_the_file_sets_what_the_environment_does_not(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("port: 9000\nplan_deadline: PT10M\n")
    monkeypatch.setenv("FORETELL_PORT", "9001")
    settings = read_settings()
    assert settings.port == 9001
    assert settings.plan_deadline == timedelta(minutes=10)


def test_a_wrong_setting_is_named_and_its_value_is_not(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_PORT", "s3cr3t")
    with pytest.raises(InvalidRequest) as caught:
        read_settings()
    assert "port" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_an_unknown_setting_in_the_file_is_refused(config: Path) -> None:
    config.write_text("prot: 9000\n")
    with pytest.raises(InvalidRequest, match="prot"):
        read_settings()


@pytest.mark.parametrize("content", ["- a list", "a: [unclosed"])
def test_a_file_that_is_no_map_is_refused_by_its_name(config: Path, content: str) -> None:
    config.write_text(content)
    with pytest.raises(InvalidRequest, match=r"foretell\.yaml"):
        read_settings()


def test_a_file_that_is_not_there_is_refused_by_its_name(config: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"foretell\.yaml"):
        read_settings()


def test_the_database_address_is_no_text_that_prints(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_DATABASE_URL", "postgresql://u:s3cr3t@h/d")
    assert "s3cr3t" not in repr(read_settings())
