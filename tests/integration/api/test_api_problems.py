"""Every error is a problem document that names what is wrong and tells nothing of what is ours."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from installation import CANARY, NOW, PLAN, Site
from structlog.testing import capture_logs

from foretell.api.schemas.documents import ProblemDocument
from foretell.domain.errors import Unavailable

DEEP = b'{"tag":"v2","config":' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}"


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert ProblemDocument.model_validate(document).status == status
    return document


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["tag"]),
        ({"tag": 7}, ["tag"]),
        ({"tag": ""}, ["tag"]),
        ({"tag": "a\x00b"}, ["tag"]),
        ({"tag": "v2", "config": []}, ["config"]),
        ({"tag": "v2", "colour": "red", "metadata": "x"}, ["metadata", "colour"]),
        ({"tag": "v2", "github": {"owner": "o", "repo": "r"}}, ["github.sha"]),
        (
            {"tag": "v2", "github": {"owner": "a/b", "repo": "r", "sha": "zz", "prNumber": 0}},
            ["github.owner", "github.sha", "github.prNumber"],
        ),
        ({"tag": "v2", "github": {"prNumber": True}}, None),
        ({"version": {}}, ["version.tag"]),
        ({"version": {"tag": "v2"}, "tag": "v3"}, ["tag"]),
        ({"tag": "v2", "environmentSelector": "environment.name =="}, ["environmentSelector"]),
        ({"tag": "v2", "resourceSelector": "1 + 1"}, ["resourceSelector"]),
        ({"tag": "v2", "resourceSelector": "true || " * 1000 + "true"}, ["resourceSelector"]),
        (
            {"tag": "v2", "metadata": {"github/owner": "o", "github/repo": "r", "git/sha": "?"}},
            ["metadata.git/sha"],
        ),
    ],
)
async def test_each_wrong_field_of_a_plan_is_named(
    quiet_site: Site, body: dict[str, Any], fields: list[str] | None
) -> None:
    async with quiet_site.client() as client:
        document = problem(await client.post(PLAN, json=body), 422)
    found = [one["field"] for one in document["errors"]]
    assert found
    assert fields is None or sorted(found) == sorted(fields)
    assert all(one["message"] for one in document["errors"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"tag=v2",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"tag":"v2"',
        b'{"tag":"v2","tag":"v3"}',
        b'{"tag":"v2","config":{"a":NaN}}',
        b'{"tag":"v2","config":{"a":1' + b"0" * 5000 + b"}}",
        DEEP,
        b"[" * 100_000,
    ],
    ids=lambda body: body[:24].decode(errors="replace"),
)
async def test_a_body_that_is_no_json_object_is_refused_and_says_why(
    quiet_site: Site, body: bytes
) -> None:
    async with quiet_site.client() as client:
        document = problem(await client.post(PLAN, content=body), 422)
    assert document["detail"].startswith("the body ")


async def test_values_that_json_knows_come_back_as_they_were(quiet_site: Site) -> None:
    config = {"big": 2**80, "text": "\u2028 \U0001f600", "half": "\ud800", "none": None, "f": 1.0}
    async with quiet_site.client() as client:
        answer = await client.post(
            PLAN,
            content=b'{"tag":"v2","config":{"big":1208925819614629174706176,'
            b'"text":"\\u2028 \\ud83d\\ude00","half":"\\ud800","none":null,"f":1.0}}',
            headers=NOW,
        )
    assert answer.status_code == 202, answer.text
    async with quiet_site.store.begin() as tx:
        plan = await tx.plan(answer.json()["id"])
    assert plan is not None
    assert plan.request.config == config


async def test_a_body_over_the_limit_is_refused_before_it_is_read(quiet_site: Site) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1_000_000
            yield b" " * 1_000_000

    async with quiet_site.client() as client:
        claimed = await client.post(PLAN, content=b" " * 10_000_000)
        streamed = await client.post(PLAN, content=endless())
    problem(claimed, 413)
    problem(streamed, 413)
    assert sent <= 7_000_000


async def test_what_is_not_there_is_a_problem_too(quiet_site: Site) -> None:
    async with quiet_site.client("root") as client:
        for path in (
            "/",
            "/v1",
            "/v1/workspaces/shop/",
            "/docs",
            "/v1/workspaces/shop/deployments/nope/plans",
            "/v1/workspaces/nope/deployments/web/plans",
            f"{PLAN}/x",
            f"{PLAN}/%00",
            f"{PLAN}/00000000-0000-4000-8000-000000000000",
            "/v1/workspaces/shop/resources/no/such/thing",
            "/v1/workspaces/%00/resources/x",
        ):
            problem(await client.get(path), 404)
        refused = await client.patch(PLAN)
        problem(refused, 405)
        assert refused.headers["Allow"] == "POST"


async def test_a_body_of_another_type_is_refused(quiet_site: Site) -> None:
    async with quiet_site.client("admin") as client:
        path = "/v1/workspaces/shop/environments/qa"
        xml = await client.put(path, content=b"<a/>", headers={"Content-Type": "text/xml"})
        packed = await client.put(path, content=b"x", headers={"Content-Encoding": "gzip"})
    assert "application/json" in problem(xml, 415)["detail"]
    problem(packed, 415)


async def test_wrong_parameters_are_named(quiet_site: Site) -> None:
    made = await quiet_site.submit(**NOW)
    async with quiet_site.client("viewer") as client:
        diff = problem(await client.get(f"{PLAN}/{made['id']}", params={"diff": "all"}), 422)
        limit = problem(await client.get(PLAN + "s", params={"limit": "0"}), 422)
    assert [one["field"] for one in diff["errors"]] == ["diff"]
    assert [one["field"] for one in limit["errors"]] == ["limit"]


class Failing:
    """A store whose every transaction raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def begin(self) -> Any:
        raise self._error


async def test_a_store_that_is_away_is_503_and_tells_no_address(quiet_site: Site) -> None:
    broken = Failing(Unavailable(f"connection to server at 10.0.0.1 failed: {CANARY}"))
    quiet_site.app.state.door = type(quiet_site.app.state.door)(broken, quiet_site.clock)
    async with quiet_site.client() as client:
        answer = await client.get(PLAN + "s")
    problem(answer, 503)
    assert int(answer.headers["Retry-After"]) > 0
    assert CANARY not in answer.text
    assert "10.0.0.1" not in answer.text


async def test_a_bug_is_told_by_an_id_that_the_log_has_too(quiet_site: Site) -> None:
    broken = Failing(RuntimeError(f"password={CANARY}"))
    quiet_site.app.state.door = type(quiet_site.app.state.door)(broken, quiet_site.clock)
    with capture_logs() as lines:
        async with quiet_site.client() as client:
            answer = await client.get(PLAN + "s")
    document = problem(answer, 500)
    assert answer.headers["X-Request-Id"] == document["id"]
    assert CANARY not in answer.text + repr(lines)
    (failed,) = [line for line in lines if line["event"] == "request.failed"]
    assert failed["error"] == "RuntimeError"
    assert any("door.py" in frame for frame in failed["frames"])
