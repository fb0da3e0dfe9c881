"""The client against the fake: pages, refusals, limits, faults."""

import asyncio
from datetime import timedelta

import pytest
from github_wire import APP, SHA, client, reach, world

from foretell.domain.errors import (
    Forbidden,
    ForetellError,
    InvalidRequest,
    NotFound,
    RateLimited,
    Unavailable,
)
from foretell.reporters.github.auth import Repository, TokenAccess
from foretell.reporters.github.client import Github
from foretell.testing.budget import FreeBudget
from foretell.testing.github import Fault, Limits
from foretell.testing.github.limits import Meter

COMMENTS = "issues/7/comments"


async def test_every_page_is_read() -> None:
    fake = world()
    for number in range(250):
        fake.add_comment("acme/shop", 7, "octocat", f"comment {number}")
    async with client(fake) as github:
        found = [one["body"] async for one in github.pages(APP, COMMENTS)]
    assert found == [f"comment {number}" for number in range(250)]
    assert len([call for call in fake.calls if call.path.endswith("/comments")]) == 3


async def test_a_list_in_an_object_is_paged_too() -> None:
    fake = world()
    async with client(fake) as github:
        for number in range(120):
            await github.post(APP, "check-runs", {"name": f"check {number}", "head_sha": SHA})
            fake.clock.advance(timedelta(seconds=1))  # type: ignore[attr-defined]
        path = f"commits/{SHA}/check-runs"
        found = {one["name"] async for one in github.pages(APP, path, under="check_runs")}
    assert len(found) == 120


async def test_a_renamed_repository_is_followed_with_the_same_credentials() -> None:
    fake = world()
    fake.rename("acme/shop", "acme/store")
    async with client(fake, token="ghs_1") as github:
        fake.add_token("ghs_1", "github-actions[bot]", {"pull_requests": "write"})
        made = await github.post(APP, COMMENTS, {"body": "moved"})
    assert made["body"] == "moved"
    assert [one.body for one in fake.comments.values()] == ["moved"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, InvalidRequest),
        (403, Forbidden),
        (404, NotFound),
        (410, NotFound),
        (422, InvalidRequest),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
async def test_a_refusal_says_what_was_asked_and_what_came(
    status: int, expected: type[Exception]
) -> None:
    fake = world()
    fake.faults.append(Fault("GET", "pulls/7", status, message="no such luck", times=9))
    async with client(fake) as github:
        with pytest.raises(expected, match=r"GET repos/acme/shop/pulls/7 .*no such luck"):
            await github.get(APP, "pulls/7")


async def test_a_missing_permission_is_named() -> None:
    fake = world()
    fake.add_token("ghs_reader", "github-actions[bot]", {"pull_requests": "read"})
    async with client(fake, token="ghs_reader") as github:
        with pytest.raises(Forbidden, match="pull_requests=write"):
            await github.post(APP, COMMENTS, {"body": "x"})


async def test_retry_after_holds_everybody_who_uses_the_account() -> None:
    fake = world()
    budget = FreeBudget()
    fake.faults.append(
        Fault("POST", "comments", 403, {"retry-after": "42"}, message="secondary rate limit")
    )
    async with client(fake, budget=budget) as github:
        with pytest.raises(RateLimited) as caught:
            await github.post(APP, COMMENTS, {"body": "x"})
    assert caught.value.retry_after == timedelta(seconds=42)
    assert set(budget.held.values()) == {timedelta(seconds=42)}
    assert len(budget.held) == 2


async def test_the_hourly_limit_is_waited_for_to_its_reset() -> None:
    fake = world()
    fake.meter = Meter(Limits(calls_per_hour=2))
    async with client(fake) as github:
        await github.get(APP, "pulls/7")
        await github.get(APP, "pulls/7")
        fake.clock.advance(timedelta(minutes=20))  # type: ignore[attr-defined]
        with pytest.raises(RateLimited) as caught:
            await github.get(APP, "pulls/7")
    assert timedelta(minutes=39) < caught.value.retry_after < timedelta(minutes=41)


async def test_a_secondary_limit_without_a_time_is_a_minute() -> None:
    fake = world()
    fake.faults.append(Fault("POST", "", 403, message="You have exceeded a secondary rate limit."))
    fake.faults[0].path = COMMENTS
    async with client(fake) as github:
        with pytest.raises(RateLimited) as caught:
            await github.post(APP, COMMENTS, {"body": "x"})
    assert caught.value.retry_after == timedelta(minutes=1)


async def test_a_turn_that_does_not_come_is_no_worker_lost() -> None:
    class Full(FreeBudget):
        async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
            await asyncio.Event().wait()

    fake = world()
    fake.add_token("t", "octocat", {"pull_requests": "read"})
    async with reach(fake) as http:
        short = timedelta(milliseconds=10)
        github = Github(http, TokenAccess(http, "t"), Full(), fake.clock, turn_for=short)
        with pytest.raises(RateLimited, match="no turn yet"):
            await github.get(APP, "pulls/7")
    assert fake.calls == []


async def test_a_broken_write_is_repeated_only_where_twice_is_once() -> None:
    fake = world()
    mine = fake.add_comment("acme/shop", 7, "foretell[bot]", "old", app=77)
    async with client(fake) as github:
        fake.faults.append(Fault("PATCH", "", 0, after=True))
        await github.patch(APP, f"issues/comments/{mine.id}", {"body": "new"})
        fake.faults.append(Fault("POST", "comments", 0, after=True))
        with pytest.raises(Unavailable, match="no answer"):
            await github.post(APP, COMMENTS, {"body": "another"})
    assert [one.body for one in fake.comments.values()] == ["new", "another"]


async def test_what_is_gone_is_deleted() -> None:
    fake = world()
    mine = fake.add_comment("acme/shop", 7, "foretell[bot]", "old", app=77)
    async with client(fake) as github:
        for _ in range(2):
            await github.delete(APP, f"issues/comments/{mine.id}")
    assert fake.comments == {}


async def test_another_server_gets_no_credentials() -> None:
    fake = world()
    fake.faults.append(Fault("GET", "pulls/7", 301, {"location": "https://evil.example/x"}))
    async with client(fake) as github:
        with pytest.raises(InvalidRequest):
            await github.get(Repository("acme", "shop"), "pulls/7")
    assert len([call for call in fake.calls if "pulls" in call.path]) == 1


async def test_no_message_has_a_token_even_where_github_repeats_it() -> None:
    fake = world()
    token = "ghs_" + "canary" * 6
    fake.add_token(token, "github-actions[bot]", {"pull_requests": "write"})
    async with client(fake, token=token) as github:
        for status in (401, 403, 404, 422, 500):
            fake.faults.append(Fault("GET", "pulls/7", status, message=f"bad {token}", times=1))
            with pytest.raises(ForetellError) as caught:
                await github.get(APP, "pulls/7")
            assert "canary" not in str(caught.value)
            assert "canary" not in repr(caught.value)
