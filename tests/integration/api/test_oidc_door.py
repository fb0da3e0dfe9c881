"""A pipeline comes in with its own token, and into no other workspace."""

import json
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from installation import NOW, PLAN, Site
from structlog.testing import capture_logs

from foretell.auth.door import Door
from foretell.auth.oidc import Oidc
from foretell.kit.http import Http, Options
from foretell.ports import Role
from foretell.settings import GITHUB_ISSUER, OidcGrant

KEY = rsa.generate_private_key(65537, 2048)
GRANT = OidcGrant(workspace="shop", audience="foretell", repository="acme/shop", ref="refs/pull/*")


def issuer(request: httpx.Request) -> httpx.Response:
    if request.url.path.endswith("openid-configuration"):
        told = {"issuer": GITHUB_ISSUER, "jwks_uri": f"{GITHUB_ISSUER}/keys"}
        return httpx.Response(200, json=told)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
    return httpx.Response(200, json={"keys": [public | {"kid": "k"}]})


def connect(address: str) -> Http:
    return Http(address, Options(transport=httpx.MockTransport(issuer)))


@pytest.fixture
def with_oidc(quiet_site: Site) -> Site:
    return admitted(quiet_site, GRANT)


def admitted(site: Site, *grants: OidcGrant) -> Site:
    site.app.state.door = Door(site.store, site.clock, Oidc(grants, site.clock, connect))
    site.tokens["ci"] = token(site)
    return site


def token(site: Site, **changes: Any) -> str:
    now = int(site.clock.now().timestamp())
    claims = {
        "iss": GITHUB_ISSUER,
        "aud": "foretell",
        "repository": "acme/shop",
        "ref": "refs/pull/7/merge",
        "iat": now,
        "exp": now + 300,
    } | changes
    return jwt.encode(claims, KEY, "RS256", {"kid": "k"})


async def test_a_pipeline_plans_with_its_own_token(with_oidc: Site) -> None:
    async with with_oidc.client("ci") as client:
        answer = await client.post(PLAN, json={"tag": "v2"}, headers=NOW)
        read = await client.get(answer.headers["Location"])
        saved = await client.put("/v1/workspaces/shop/environments/qa", json={"name": "qa"})
    assert (answer.status_code, read.status_code, saved.status_code) == (202, 200, 403)


async def test_into_another_workspace_and_where_none_is_concerned_it_may_not(
    with_oidc: Site,
) -> None:
    admitted(with_oidc, GRANT.model_copy(update={"role": Role.ADMIN}))
    theirs = with_oidc.workspaces["rival"]
    async with with_oidc.client("ci") as client:
        for ref in ("rival", theirs.id, "none"):
            answer = await client.get(f"/v1/workspaces/{ref}/deployments/web/plans")
            assert answer.status_code == 404
        made = await client.put("/v1/workspaces/new", json={"name": "New"})
        renamed = await client.put("/v1/workspaces/shop", json={"name": "New"})
        described = await client.get("/openapi.json")
    assert (made.status_code, renamed.status_code) == (403, 403)
    assert described.status_code == 200


async def test_a_pipeline_answers_for_no_denial_whatever_its_role(with_oidc: Site) -> None:
    """A token of each branch would be another person, and the branch is whoever pushed it."""
    admitted(with_oidc, GRANT.model_copy(update={"role": Role.ADMIN}))
    made = await with_oidc.submit(**NOW)
    async with with_oidc.client("ci") as client:
        body = {"rule": "r", "reason": "because"}
        answer = await client.post(f"{PLAN}/{made['id']}/overrides", json=body)
    assert (answer.status_code, "a pipeline answers for nothing" in answer.text) == (403, True)


async def test_our_own_tokens_are_taken_beside_it(with_oidc: Site) -> None:
    async with with_oidc.client("viewer") as client:
        assert (await client.get(PLAN + "s")).status_code == 200


@pytest.mark.parametrize(
    ("changes", "status", "claim"),
    [
        ({"aud": "other"}, 401, "`aud` is 'other'"),
        ({"exp": 1}, 401, "`exp`"),
        ({"iss": "https://evil.example"}, 401, "`iss` is 'https://evil.example'"),
        ({"repository": "acme/other"}, 403, "`repository` is 'acme/other'"),
        ({"ref": "refs/heads/main"}, 403, "`ref` is 'refs/heads/main'"),
    ],
)
async def test_a_refusal_names_the_claim_and_no_one_prints_the_token(
    with_oidc: Site, changes: dict[str, Any], status: int, claim: str
) -> None:
    shown = with_oidc.tokens["ci"] = token(with_oidc, **changes)
    with capture_logs() as logs:
        async with with_oidc.client("ci") as client:
            answer = await client.get(PLAN + "s")
    assert (answer.status_code, claim in answer.text) == (status, True), answer.text
    assert ('error="invalid_token"' in answer.headers.get("WWW-Authenticate", "")) is (
        status == 401
    )
    for part in shown.split("."):
        assert part not in answer.text
        assert part not in json.dumps(logs, default=str)


async def test_without_mappings_such_a_token_is_as_unknown_as_any(quiet_site: Site) -> None:
    quiet_site.tokens["ci"] = token(quiet_site)
    async with quiet_site.client("ci") as client:
        assert (await client.get(PLAN + "s")).status_code == 401
