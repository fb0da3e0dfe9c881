"""`foretell token` on a real database."""

import pytest
from typer.testing import CliRunner

from foretell.cli.token import app
from foretell.domain.errors import InvalidRequest, NotFound

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def settings(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETELL_DATABASE_URL", database)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_a_token_is_shown_once_listed_without_its_text_and_revoked_by_its_id() -> None:
    text = run("create", "ci", "--role", "admin", "--expires-in-days", "7").strip()
    assert text.startswith("ft_")
    listed = run("list")
    assert "ci" in listed
    assert text not in listed
    assert text.strip().split("_", 2)[2] not in listed
    id = next(word for word in listed.split() if word.replace("-", "") == text.split("_")[1])
    assert "revoked" in run("revoke", id)
    assert "revoked" in run("list")
    with pytest.raises(NotFound):
        run("revoke", id)


def test_a_token_of_the_whole_instance_is_an_admins() -> None:
    with pytest.raises(InvalidRequest, match="--workspace"):
        run("create", "ci")


def test_an_unknown_workspace_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound, match="'nope' \\(there is: none\\)"):
        run("create", "ci", "--workspace", "nope")


def test_what_is_no_id_is_told_with_the_way_to_find_one() -> None:
    with pytest.raises(InvalidRequest, match="foretell token list"):
        run("revoke", "nope")
