"""An App's credentials against the fake: cached, renewed, corrected, rotated."""

import asyncio
from datetime import timedelta

import pytest
from github_wire import APP, by_app, client, reach, world

from foretell.domain.errors import Forbidden, InvalidRequest, NotFound
from foretell.reporters.github.auth import (
    INSTALLATION_PERMISSIONS,
    AppAccess,
    Author,
    Repository,
    TokenAccess,
)
from foretell.testing.clock import ManualClock
from foretell.testing.github import FakeGithub, app_key, public_key

OTHER = Repository("acme", "other")


def tokens_made(fake: FakeGithub) -> int:
    return len([call for call in fake.calls if call.path.endswith("/access_tokens")])


async def test_a_token_is_made_once_however_many_ask_at_once() -> None:
    fake = world()
    async with reach(fake) as http:
        access = by_app(fake, http)
        found = await asyncio.gather(*(access.token(APP) for _ in range(20)))
    assert len(set(found)) == 1
    assert tokens_made(fake) == 1


async def test_a_token_is_for_one_repository_and_may_no_more_than_we_need() -> None:
    fake = world()
    fake.add_repository("acme/other")
    async with reach(fake) as http:
        token = await by_app(fake, http).token(APP)
    assert fake.tokens[token].permissions == INSTALLATION_PERMISSIONS
    assert fake.tokens[token].repositories == {"acme/shop"}


async def test_a_token_is_renewed_before_it_expires() -> None:
    clock = ManualClock()
    fake = world(clock)
    async with client(fake) as github:
        await github.get(APP, "pulls/7")
        clock.advance(timedelta(minutes=54))
        await github.get(APP, "pulls/7")
        assert tokens_made(fake) == 1
        clock.advance(timedelta(minutes=2))
        await github.get(APP, "pulls/7")
    assert tokens_made(fake) == 2


async def test_a_revoked_token_is_replaced_at_once() -> None:
    fake = world()
    async with client(fake) as github:
        await github.get(APP, "pulls/7")
        fake.revoke_tokens()
        await github.get(APP, "pulls/7")
    assert tokens_made(fake) == 2


@pytest.mark.parametrize("minutes", [-90, -5, -1, 1, 5, 90])
async def test_a_clock_that_is_wrong_is_no_reason_to_fail(minutes: int) -> None:
    theirs = ManualClock()
    ours = ManualClock(theirs.now() + timedelta(minutes=minutes))
    fake = world(theirs)
    async with reach(fake) as http:
        access = AppAccess(http, "77", app_key, ours)
        first = await access.token(APP)
        assert await access.token(APP) == first


async def test_a_key_is_rotated_while_we_run() -> None:
    fake = world()
    held = [app_key()]
    async with reach(fake) as http:
        access = AppAccess(http, "77", lambda: held[0], fake.clock)
        await access.token(APP)
        fake.apps[77].keys = [public_key(app_key(1))]
        held[0] = app_key(1)
        access.refused(APP)
        await access.token(APP)
    assert tokens_made(fake) == 2


async def test_of_two_keys_the_one_that_is_still_accepted_is_used() -> None:
    fake = world()
    fake.apps[77].keys = [public_key(app_key(1))]
    async with reach(fake) as http:
        access = AppAccess(http, "77", lambda: app_key() + app_key(1), fake.clock)
        assert (await access.token(APP)).startswith("ghs_")


async def test_a_repository_without_the_app_says_what_to_do() -> None:
    fake = world()
    fake.add_repository("elsewhere/app")
    async with client(fake) as github:
        with pytest.raises(NotFound, match="install the App on this repository"):
            await github.get(Repository("elsewhere", "app"), "pulls/7")


async def test_permissions_that_the_app_was_not_given_are_named() -> None:
    fake = world()
    fake.apps[77].permissions = {"metadata": "read"}
    async with client(fake) as github:
        with pytest.raises(Forbidden, match=r"it must have been given .*'checks': 'write'"):
            await github.get(APP, "pulls/7")


async def test_a_refused_key_is_a_matter_of_credentials() -> None:
    fake = world()
    fake.apps[77].keys = []
    async with client(fake) as github:
        with pytest.raises(Forbidden, match="check the credentials"):
            await github.get(APP, "pulls/7")


@pytest.mark.parametrize(
    "key",
    [
        "hunter2-canary",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2-canary\n-----END RSA PRIVATE KEY-----",
    ],
)
async def test_a_key_that_is_none_is_refused_without_being_shown(key: str) -> None:
    fake = world()
    async with reach(fake) as http:
        access = AppAccess(http, "77", lambda: key, fake.clock)
        with pytest.raises(InvalidRequest, match="private key can't be used") as caught:
            await access.token(APP)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_an_enterprise_server_has_its_api_below_a_path() -> None:
    fake = FakeGithub(prefix="/api/v3")
    fake.add_repository("acme/shop")
    fake.add_pull("acme/shop", 7, "a" * 40)
    fake.add_app(77, "foretell", app_key(), owners=["acme"])
    async with reach(fake, "https://github.acme.example/api/v3") as http:
        access = by_app(fake, http)
        assert (await access.token(APP)).startswith("ghs_")
        assert await access.author() == Author("foretell[bot]", 77)


async def test_a_personal_token_writes_as_its_owner_and_makes_no_checks() -> None:
    fake = world()
    fake.add_token("ghp_1", "octocat", {})
    async with reach(fake) as http:
        access = TokenAccess(http, "ghp_1")
        assert await access.author() == Author("octocat")
        assert not access.can_check


async def test_a_workflows_token_is_an_apps() -> None:
    fake = world()
    fake.add_token("ghs_1", "github-actions[bot]", {"checks": "write"})
    async with reach(fake) as http:
        access = TokenAccess(http, "ghs_1")
        assert await access.author() == Author("github-actions[bot]")
        assert access.can_check
    assert fake.calls == []
