"""References resolve at the last moment; what is missing or forbidden is named, never shown."""

from pathlib import Path
from typing import Any

import pytest

from foretell.domain.errors import AgentRejected
from foretell.inventory.secrets import References

CANARY = "canary-5f2e"


def test_references_resolve_anywhere_and_are_collected(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{CANARY}-file\n")
    value = {"a": [{"env": "TOKEN"}, 1], "b": {"c": {"file": str(tmp_path / "token")}}}
    revealed = References({"TOKEN": CANARY}, [tmp_path]).reveal(value)
    assert revealed.value == {"a": [CANARY, 1], "b": {"c": f"{CANARY}-file"}}
    assert revealed.secrets == {CANARY, f"{CANARY}-file"}


@pytest.mark.parametrize(
    "value", [{"env": "A", "file": "b"}, {"env": 1}, {"env": {"NAME": "x"}}, {"envs": "A"}, {}]
)
def test_only_one_key_with_text_is_a_reference(value: dict[str, Any]) -> None:
    revealed = References({"A": CANARY}, None).reveal(value)
    assert revealed.value == value
    assert not revealed.secrets


def refused(value: dict[str, str], environ: dict[str, str], roots: list[Path] | None) -> str:
    with pytest.raises(AgentRejected) as caught:
        References(environ, roots).reveal({"deep": [value]})
    return caught.value.message


def test_a_missing_one_is_named() -> None:
    assert "{env: TOKEN} is missing" in refused({"env": "TOKEN"}, {}, None)
    assert "{file: /nowhere/x} can't be read" in refused({"file": "/nowhere/x"}, {}, None)


def test_an_empty_one_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    assert "is empty" in refused({"env": "A"}, {"A": ""}, None)
    assert "is empty" in refused({"file": str(tmp_path / "empty")}, {}, None)


def test_the_servers_own_variables_are_no_ones_to_name() -> None:
    message = refused({"env": "FORETELL_SECRET_KEY"}, {"FORETELL_SECRET_KEY": CANARY}, None)
    assert "may not be named" in message
    assert CANARY not in message


def test_a_file_outside_of_the_folders_is_refused_also_through_a_link(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (tmp_path / "other").write_text(CANARY)
    (allowed / "link").symlink_to(tmp_path / "other")
    for name in (tmp_path / "other", allowed / "link", allowed / ".." / "other"):
        message = refused({"file": str(name)}, {}, [allowed])
        assert "below a configured folder" in message
    assert "may not be named" in refused({"file": "relative"}, {}, None)


def test_a_file_that_is_no_text_or_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    (tmp_path / "long").write_bytes(b"x" * (1024 * 1024 + 1))
    assert "is not UTF-8 text" in refused({"file": str(tmp_path / "binary")}, {}, None)
    assert "is over 1,048,576 bytes" in refused({"file": str(tmp_path / "long")}, {}, None)
