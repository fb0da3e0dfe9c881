"""Who may come in: nothing but health without a token, and nothing of another workspace."""

import asyncio
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from installation import NOW, PLAN, Site
from structlog.testing import capture_logs

from foretell.api.app import describe_app
from foretell.auth.tokens import Grant, create_token, digest_of, ensure_first_token
from foretell.kit.clock import RandomIds, SystemClock
from foretell.ports import Role
from foretell.store.postgres import PostgresStore

OPEN = {"/healthz": 200, "/readyz": 200, "/v1/github/webhook": 404}
"""What each answers without a token; GitHub's events are signed, and not taken without a secret."""
NO_ONE = "00000000-0000-4000-8000-000000000000"
PLAN_BODY = {"tag": "v2"}


def calls() -> Iterator[tuple[str, str]]:
    """Every call that OpenAPI names, with a value for each part of its path."""
    for path, methods in describe_app().openapi()["paths"].items():
        for method in methods:
            yield method.upper(), path


def filled(path: str, workspace: str) -> str:
    return re.sub(r"\{\w+\}", NO_ONE, path.replace("{workspaceId}", workspace))


EVERY_CALL = list(calls())


async def test_without_a_token_nothing_but_health_is_served(quiet_site: Site) -> None:
    shown = ({}, {"Authorization": "Bearer ft_x_y"}, {"Authorization": "Basic eDp5"})
    async with quiet_site.client("") as client:
        for method, path in EVERY_CALL:
            answers = [
                await client.request(method, filled(path, "shop"), headers=each) for each in shown
            ]
            statuses = [answer.status_code for answer in answers]
            assert statuses == [OPEN.get(path, 401)] * 3, (method, path)
            for answer in answers:
                if answer.status_code == 401:
                    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
                    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_another_workspace_is_not_told_from_none(quiet_site: Site) -> None:
    theirs = quiet_site.workspaces["shop"].id
    async with quiet_site.client("rival") as client:
        for method, path in (call for call in EVERY_CALL if "{workspaceId}" in call[1]):
            answers = [
                await client.request(method, filled(path, ref), json={})
                for ref in ("shop", theirs, "shoq")
            ]
            assert [one.status_code for one in answers] == [404, 404, 404], (method, path)
            assert answers[0].text.replace("shop", "shoq") == answers[2].text


async def test_an_id_of_another_workspace_is_404_in_ones_own(quiet_site: Site) -> None:
    made = await quiet_site.submit(**NOW)
    async with quiet_site.client("rival") as client:
        own = "/v1/workspaces/rival/deployments"
        theirs = "a0000000-0000-4000-8000-000000000001"
        plan = await client.get(f"{own}/web/plan/{made['id']}")
        stop = await client.delete(f"{own}/web/plan/{made['id']}")
        deployment = await client.get(f"{own}/{theirs}")
        asked = await client.post(f"{own}/{theirs}/plan", json=PLAN_BODY)
        removed = await client.delete(f"{own}/{theirs}")
        taken = await client.put(f"{own}/{theirs}", json={"name": "Mine"})
    statuses = [one.status_code for one in (plan, stop, deployment, asked, removed)]
    assert statuses == [404] * 5
    assert taken.status_code == 409
    async with quiet_site.store.begin() as tx:
        untouched = await tx.deployment(quiet_site.workspaces["shop"].id, theirs)
    assert untouched is not None
    assert untouched.name == "Web"


async def test_each_role_includes_the_one_before(quiet_site: Site) -> None:
    made = await quiet_site.submit(**NOW)
    read, ask, save = [], [], []
    for who in ("viewer", "planner", "admin", "root"):
        async with quiet_site.client(who) as client:
            read.append((await client.get(f"{PLAN}/{made['id']}")).status_code)
            ask.append((await client.post(PLAN, json=PLAN_BODY, headers=NOW)).status_code)
            path = "/v1/workspaces/shop/environments/qa"
            save.append((await client.put(path, json={"name": "qa"})).status_code)
    assert read == [200, 200, 200, 200]
    assert ask == [403, 202, 202, 202]
    assert save == [403, 403, 201, 200]


async def test_a_token_ends_when_it_is_revoked_or_expires(quiet_site: Site) -> None:
    shop = quiet_site.workspaces["shop"].id
    until = quiet_site.clock.now() + timedelta(hours=1)
    quiet_site.tokens["brief"], _ = await create_token(
        quiet_site.store, quiet_site.clock, quiet_site.ids, Grant("b", Role.VIEWER, shop, until)
    )
    quiet_site.tokens["bad"], bad = await create_token(
        quiet_site.store, quiet_site.clock, quiet_site.ids, Grant("c", Role.VIEWER, shop)
    )

    async def status(who: str) -> int:
        async with quiet_site.client(who) as client:
            return (await client.get(PLAN + "s")).status_code

    assert (await status("brief"), await status("bad")) == (200, 200)
    quiet_site.clock.ahead = timedelta(hours=1)
    async with quiet_site.store.begin() as tx:
        await tx.revoke_token(bad.id, quiet_site.clock.now())
    assert (await status("brief"), await status("bad")) == (401, 401)


async def test_where_there_are_tokens_no_first_one_is_made_and_none_is_kept_as_text(
    store: PostgresStore, quiet_site: Site
) -> None:
    assert await ensure_first_token(store, quiet_site.clock, quiet_site.ids) is None
    async with store.begin() as tx:
        for token in await tx.tokens(None):
            assert token.digest != ""
            assert quiet_site.tokens["root"] not in repr(token)
        assert await tx.token(digest_of(quiet_site.tokens["root"])) is not None


async def test_of_two_servers_that_start_at_once_one_makes_the_first_token(
    store: PostgresStore,
) -> None:
    clock, ids = SystemClock(), RandomIds()
    made = await asyncio.gather(*(ensure_first_token(store, clock, ids) for _ in range(4)))
    texts = [text for text in made if text]
    assert len(texts) == 1
    assert await ensure_first_token(store, clock, ids) is None
    async with store.begin() as tx:
        (token,) = await tx.tokens(None)
    assert (token.role, token.workspace_id) == (Role.ADMIN, None)
    assert token.digest == digest_of(texts[0])


async def test_only_the_instances_admin_makes_workspaces(quiet_site: Site) -> None:
    path = "/v1/workspaces/new-one"
    async with quiet_site.client("admin") as client:
        refused = await client.put(path, json={"name": "New"})
        renamed = await client.put("/v1/workspaces/shop", json={"name": "The Shop"})
    async with quiet_site.client("root") as client:
        made = await client.put(path, json={"name": "New"})
        again = await client.put(path, json={"name": "Newer"})
        clash = await client.put(path, json={"slug": "shop"})
        odd = await client.put("/v1/workspaces/Not_a_slug", json={})
    assert refused.status_code == 404
    assert renamed.json()["name"] == "The Shop"
    assert (made.status_code, again.status_code) == (201, 200)
    assert (made.json()["id"], again.json()["name"]) == (again.json()["id"], "Newer")
    assert clash.status_code == 409
    assert "Key" not in clash.text
    assert odd.status_code == 422


async def test_no_token_is_ever_in_a_log_line_or_an_answer(quiet_site: Site) -> None:
    secrets = [*quiet_site.tokens.values(), "ft_0_wr0ng-s3cret"]
    quiet_site.tokens["wrong"] = secrets[-1]
    texts: list[str] = []
    with capture_logs() as lines:
        for who in quiet_site.tokens:
            async with quiet_site.client(who) as client:
                for method, path in EVERY_CALL:
                    headers: dict[str, Any] = {"X-Other": "1"}
                    answer = await client.request(
                        method, filled(path, "shop"), headers=headers, content=b"{"
                    )
                    texts += [answer.text, repr(answer.headers)]
    texts.append(repr(lines))
    assert len(lines) > 50
    assert {type(line["status"]) for line in lines if line["event"] == "request"} == {int}
    for secret in secrets:
        # The part that is secret may hold "_" itself: a short piece of it is in any text.
        own = secret.split("_", 2)[2]
        assert not any(own in text for text in texts)
