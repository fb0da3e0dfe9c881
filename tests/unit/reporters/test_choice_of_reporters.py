"""Which reporters the settings make, and which settings can't be used."""

from pathlib import Path
from typing import Any

import pytest
from github_wire import world

from foretell.domain.errors import InvalidRequest
from foretell.reporters.choice import open_github
from foretell.settings import Settings
from foretell.testing.budget import FreeBudget
from foretell.testing.github import app_key, listening


async def opened(**settings: Any) -> Any:
    async with open_github(Settings(**settings), FreeBudget()) as github:
        return github


async def test_without_credentials_there_is_no_github() -> None:
    assert await opened() is None


async def test_a_token_makes_no_checks_and_an_app_does(tmp_path: Path) -> None:
    file = tmp_path / "app.pem"
    file.write_text(app_key())
    assert not (await opened(github_token="ghp_1")).can_check
    assert (await opened(github_app_id="7", github_private_key=app_key())).can_check
    assert (await opened(github_app_id="7", github_private_key_file=file)).can_check


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"github_token": "t", "github_app_id": "7"}, "set one of them"),
        ({"github_app_id": "7"}, "needs the App's key"),
        ({"github_private_key": "x"}, "not FORETELL_GITHUB_APP_ID"),
        (
            {"github_app_id": "7", "github_private_key": "x", "github_private_key_file": "f"},
            "set one of",
        ),
        ({"github_app_id": "7", "github_private_key": "canary"}, "private key can't be used"),
        ({"github_app_id": "7", "github_private_key_file": "/nowhere/x.pem"}, "x.pem can't be"),
        ({"github_token": "t", "github_api_url": "github.acme"}, "expected an address"),
    ],
)
async def test_credentials_that_can_not_work_are_refused_at_the_start(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said) as caught:
        await opened(**settings)
    assert "canary" not in str(caught.value)


async def test_the_client_of_the_settings_reaches_an_enterprise_server() -> None:
    fake = world()
    fake.prefix = "/api/v3"
    fake.add_token("ghp_1", "octocat", {"pull_requests": "read"})
    async with listening(fake) as address:
        settings = Settings(github_token="ghp_1", github_api_url=address)  # type: ignore[arg-type]
        async with open_github(settings, FreeBudget()) as github:
            assert github is not None
            assert (await github.author()).login == "octocat"
