"""Who may tell us of events: nothing is read before the signature, and nothing is taken twice."""

import gzip
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from github_events import SECRET, WEBHOOK, Pull, send, signature
from installation import Site
from webhook_desk import Desk, make_desk

from foretell.api.webhook import MAX_BYTES, Webhook
from foretell.domain.errors import InvalidRequest
from foretell.store.postgres import PostgresStore


@pytest.fixture
async def desk(store: PostgresStore, database: str) -> Desk:
    return await make_desk(store, database)


async def told(desk: Desk) -> list[tuple[str, str, str]]:
    await desk.see_to()
    return await desk.told()


async def test_without_a_secret_there_is_nothing_at_the_address(quiet_site: Site) -> None:
    async with quiet_site.client("") as client:
        answer = await send(client, Pull().event("opened"))
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("secret", [b"", b"  ", b"\n"])
def test_an_empty_secret_is_refused(secret: bytes) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        Webhook(secret)


def test_the_secret_is_in_no_text() -> None:
    assert SECRET.decode() not in repr(Webhook(SECRET))


BODY = json.dumps(Pull().event("opened")).encode()


@pytest.mark.parametrize(
    "shown",
    [
        "",
        signature(BODY, b"another secret"),
        signature(BODY, b""),
        signature(BODY + b" "),
        signature(BODY).upper(),
        signature(BODY)[:-1],
        signature(BODY) + "0",
        signature(BODY).removeprefix("sha256="),
        signature(BODY).replace("sha256=", "sha1="),
        "sha1=" + "0" * 40,
        "sha512=" + "0" * 128,
        "none=",
        "sha256=",
        "sha256=" + "é" * 64,
        "sha256=" + "0" * 100_000,
    ],
    ids=range(15),  # by number: the body has ids of its own in every process
)
async def test_a_body_that_was_not_signed_so_is_not_read(desk: Desk, shown: str) -> None:
    value: Any = shown.encode()
    answer = await desk.tell(BODY, X_Hub_Signature_256=value)
    assert answer.status_code == 401, answer.text
    assert SECRET.decode() not in answer.text
    assert signature(BODY).removeprefix("sha256=") not in answer.text
    assert await told(desk) == []


async def test_a_tampered_body_is_not_read(desk: Desk) -> None:
    forged = BODY.replace(b'"acme"', b'"evil"')
    answer = await desk.tell(forged, X_Hub_Signature_256=signature(BODY))
    assert answer.status_code == 401


async def test_the_older_signature_is_none(desk: Desk) -> None:
    answer = await desk.tell(BODY, X_Hub_Signature_256="", X_Hub_Signature="sha1=" + "0" * 40)
    assert answer.status_code == 401


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"[" * 100_000])
async def test_nothing_is_parsed_before_the_signature_is_checked(desk: Desk, body: bytes) -> None:
    answer = await desk.tell(body, X_Hub_Signature_256=signature(body, b"wrong"))
    assert answer.status_code == 401
    assert (await desk.tell(body)).status_code == 422


async def unread() -> AsyncIterator[bytes]:
    raise AssertionError("the body was asked for")
    yield b""


async def test_not_a_byte_is_read_without_a_signature_or_of_a_body_that_is_too_large(
    desk: Desk,
) -> None:
    async with desk.site.client("") as client:
        bare = await client.post(WEBHOOK, content=unread())
        large = await client.post(
            WEBHOOK,
            content=unread(),
            headers={
                "Content-Length": str(MAX_BYTES + 1),
                "X-Hub-Signature-256": signature(b""),
            },
        )
    assert (bare.status_code, large.status_code) == (401, 413)


async def test_a_body_that_does_not_say_how_large_it_is_is_cut_off(desk: Desk) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 2 * MAX_BYTES:
            sent += 1_000_000
            yield b" " * 1_000_000

    async with desk.site.client("") as client:
        answer = await client.post(
            WEBHOOK, content=endless(), headers={"X-Hub-Signature-256": signature(b"")}
        )
    assert answer.status_code == 413
    assert sent <= MAX_BYTES + 1_000_000


async def test_a_large_event_is_taken(desk: Desk) -> None:
    event = desk.pull.event("opened") | {"padding": "x" * 20_000_000}
    assert (await desk.tell(event)).status_code == 202


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X_GitHub_Delivery": ""}, 422),
        ({"X_GitHub_Event": ""}, 422),
        ({"X_GitHub_Delivery": "x" * 201}, 422),
        ({"X_GitHub_Delivery": "with a space"}, 422),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Encoding": "gzip"}, 415),
    ],
)
async def test_what_is_not_as_github_sends_it_is_told_so(
    desk: Desk, headers: dict[str, str], status: int
) -> None:
    body = gzip.compress(BODY) if "Content_Encoding" in headers else BODY
    assert (await desk.tell(body, **headers)).status_code == status
    assert await told(desk) == []


def without(event: dict[str, Any], path: str) -> dict[str, Any]:
    *parents, last = path.split(".")
    part = event
    for name in parents:
        part = part[name]
    del part[last]
    return event


@pytest.mark.parametrize(
    "path",
    [
        "pull_request",
        "pull_request.head.sha",
        "pull_request.base.repo.owner.login",
        "pull_request.base.repo.html_url",
        "pull_request.updated_at",
        "pull_request.state",
        "pull_request.number",
        "sender",
    ],
)
async def test_a_field_that_is_missing_is_named(desk: Desk, path: str) -> None:
    answer = await desk.tell(without(desk.pull.event("opened"), path))
    assert answer.status_code == 422
    (problem,) = answer.json()["errors"]
    assert problem["field"]
    assert path.removeprefix("pull_request.").split(".")[0] in problem["field"] + path


@pytest.mark.parametrize(
    "event",
    [
        [],
        "text",
        {"action": "opened", "pull_request": []},
        {"action": "opened", "pull_request": {"head": {"sha": "../../etc"}}},
        {"action": {"a": 1}, "pull_request": None},
    ],
)
async def test_an_event_of_another_shape_never_crashes(desk: Desk, event: Any) -> None:
    answer = await desk.tell(json.dumps(event).encode())
    assert answer.status_code in (204, 422)
    assert await told(desk) == []


@pytest.mark.parametrize("wrong", ["main", "a" * 39, "G" * 40, "a" * 40 + "\n", "$(id)"])
async def test_a_head_is_the_whole_name_of_a_commit(desk: Desk, wrong: str) -> None:
    desk.pull.sha = wrong
    assert (await desk.tell(desk.pull.event("opened"))).status_code == 422


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("ping", {"zen": "Keep it logically awesome."}),
        ("push", {"ref": "refs/heads/main"}),
        ("pull_request", {"action": "assigned"}),
        ("pull_request", {}),
        ("workflow_run", {"action": "completed"}),
        ("issue_comment", {"action": "edited"}),
        ("check_run", {"action": "completed"}),
        ("something-new", {"action": "opened"}),
    ],
)
async def test_an_event_that_asks_for_nothing_is_no_error(
    desk: Desk, name: str, event: dict[str, Any]
) -> None:
    answer = await desk.tell(event, name)
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_comment_on_an_issue_asks_for_nothing(desk: Desk) -> None:
    event = desk.pull.comment("foretell plan")
    del event["issue"]["pull_request"]
    assert (await desk.tell(event, "issue_comment")).status_code == 204


async def test_a_delivery_is_taken_once(desk: Desk) -> None:
    first = await desk.tell(BODY, X_GitHub_Delivery="d")
    again = await desk.tell(BODY, X_GitHub_Delivery="d")
    assert (first.status_code, again.status_code) == (202, 204)


async def test_a_delivery_replayed_under_another_name_is_known_by_its_bytes(desk: Desk) -> None:
    ask = json.dumps(desk.pull.comment("foretell plan")).encode()
    assert (await desk.tell(ask, "issue_comment")).status_code == 202
    assert len(await told(desk)) == 1
    assert (await desk.tell(ask, "issue_comment")).status_code == 204
    assert len(await told(desk)) == 1


async def test_what_is_older_than_our_memory_of_deliveries_is_not_taken(desk: Desk) -> None:
    opened, ask = desk.pull.event("opened"), desk.pull.comment("foretell plan")
    assert (await desk.tell(opened)).status_code == 202
    desk.site.clock.ahead = timedelta(days=30, seconds=1)
    await desk.see_to()
    for event, name in ((opened, "pull_request"), (ask, "issue_comment")):
        assert (await desk.tell(event, name)).status_code == 204


async def test_deliveries_are_forgotten_after_thirty_days_and_not_before(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    for days, is_known in ((29, True), (31, False)):
        desk.site.clock.ahead = timedelta(days=days)
        other = Pull(number=days)
        other.later(days * 24 * 3600)
        desk.pull, own = other, desk.pull
        await desk.happen(desk.pull.event("opened"))
        desk.pull = own
        async with desk.site.store.begin() as tx:
            state = await tx.pull_request_state("github.com/acme/shop#7")
        assert (state is not None) is is_known


async def test_an_answer_says_that_it_is_kept_and_nothing_is_planned_meanwhile(desk: Desk) -> None:
    answer: httpx.Response = await desk.tell(desk.pull.event("opened"))
    assert (answer.status_code, answer.content) == (202, b"")
    assert await desk.told() == []
