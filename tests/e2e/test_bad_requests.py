"""What a caller gets wrong is answered by the running program, and it goes on serving."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from program import PLAN, Home, Server, ask, fill, followed, home, inventory

NOW = {"Prefer": "wait=0"}
RIVAL = PLAN.replace("shop", "rival")
GITHUB = {"owner": "acme", "repo": "web", "sha": "3f9c1d2", "prNumber": 7}


@pytest.fixture(scope="module")
def site_home() -> Iterator[Home]:
    """A server with two workspaces, whose targets take long."""
    with home() as made:
        made.env = {"FORETELL_PLANS_PER_MINUTE": "1000", "FORETELL_PLANS_COMPUTING": "1000"}
        server = made.serve()
        fill(server, inventory(delay=600))
        fill(server, {**inventory(), "workspace": "rival"})
        yield made
        # What still runs is handed back, and nobody waits for it.
        assert server.terminate() == 0


@pytest.fixture
def site(site_home: Home) -> Server:
    return site_home.servers[0]


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        (PLAN, b"tag=v2", 422, ""),
        (PLAN, b'{"tag": 7}', 422, "tag"),
        (PLAN, b'{"tag": "v2", "colour": "red"}', 422, "colour"),
        (PLAN, b'{"tag": "' + b"x" * 10_000_000 + b'"}', 413, None),
        (PLAN, b'{"tag": "v", "environmentSelector": "a =="}', 422, "environmentSelector"),
        (PLAN, b'{"tag": "v", "environmentSelector": "1 + 1"}', 422, "environmentSelector"),
        (
            PLAN,
            b'{"tag": "v", "environmentSelector": "' + b"true || " * 1000 + b'true"}',
            422,
            "environmentSelector",
        ),
        (
            PLAN,
            b'{"tag": "v", "jobAgentConfig": {"values": {"x": {"env": "HOME"}}}}',
            422,
            "jobAgentConfig.values.x",
        ),
        (PLAN.replace("shop", "nowhere"), b'{"tag": "v"}', 404, None),
        (PLAN.replace("/web/", "/nothing/"), b'{"tag": "v"}', 404, None),
    ],
    ids=lambda value: value[:50] if isinstance(value, bytes) else None,
)
def test_a_request_that_cannot_be_planned_says_why(
    site: Server, path: str, body: bytes, status: int, field: str | None
) -> None:
    with site.client() as client:
        answer = client.post(path, content=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    if field is not None:
        assert [each["field"] for each in answer.json()["errors"]] == [field]


def test_a_token_opens_its_own_workspace_to_its_own_role(site_home: Home, site: Server) -> None:
    made = site_home.run("token", "create", "reader", "--workspace", "shop", "--role", "viewer")
    assert made.returncode == 0, made.stderr
    token = next(word for word in made.stdout.split() if word.startswith("ft_"))
    with site.client() as admin:
        theirs = admin.post(RIVAL, json={"tag": "v1"}).json()["id"]
    with site.client("") as nobody, site.client(token) as reader:
        assert nobody.get(PLAN + "s").status_code == 401
        assert nobody.get("/healthz").status_code == 200
        assert reader.get(PLAN + "s").status_code == 200
        assert reader.post(PLAN, json={"tag": "v2"}).status_code == 403
        assert reader.get(f"{RIVAL}/{theirs}").status_code == 404
        assert reader.get(f"{PLAN}/{theirs}").status_code == 404


def test_a_key_is_for_one_request(site: Server) -> None:
    headers = {**NOW, "Idempotency-Key": str(uuid4())}
    with site.client() as client:
        first = client.post(PLAN, json={"tag": "v2"}, headers=headers)
        again = client.post(PLAN, json={"tag": "v2"}, headers=headers)
        other = client.post(PLAN, json={"tag": "v3"}, headers=headers)
    assert first.status_code == again.status_code == 202
    assert first.json()["id"] == again.json()["id"]
    assert other.status_code == 422


def test_a_newer_plan_of_a_pull_request_ends_the_older(site: Server) -> None:
    older = ask(site, "v2", github=GITHUB)
    newer = ask(site, "v3", github=GITHUB)
    ended = followed(site, older["id"])
    assert (ended["status"], ended["reason"]) == ("failed", "superseded")
    with site.client() as client:
        assert client.get(f"{PLAN}/{newer['id']}").json()["status"] == "computing"


def test_a_plan_can_be_stopped(site: Server) -> None:
    plan = ask(site)
    with site.client() as client:
        stopped = client.delete(f"{PLAN}/{plan['id']}").json()
    assert (stopped["status"], stopped["reason"]) == ("failed", "cancelled")
    assert followed(site, plan["id"])["reason"] == "cancelled"


def test_an_expired_plan_is_gone(site_home: Home, site: Server) -> None:
    plan = ask(site)
    with site.client() as client:
        client.delete(f"{PLAN}/{plan['id']}")
        with psycopg.connect(site_home.dsn(), autocommit=True) as connection:
            connection.execute(
                "UPDATE deployment_plan SET expires_at = now() WHERE id = %s", [plan["id"]]
            )
        answer = client.get(f"{PLAN}/{plan['id']}")
    assert answer.status_code == 404


def test_over_the_limit_a_caller_hears_when_to_come_back(site_home: Home) -> None:
    strict: dict[str, Any] = {"FORETELL_PLANS_PER_MINUTE": "1", "FORETELL_PLANS_COMPUTING": "1"}
    server = site_home.serve(**strict)
    ask(site_home.servers[0])
    with server.client() as client:
        answer = client.post(PLAN, json={"tag": "v9"})
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert server.terminate() == 0
