"""A token of an identity provider is believed for what it is, and never for what it says it is."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from foretell.auth.jwks import ASK_AGAIN_AFTER, FRESH_FOR, USABLE_FOR, usable_keys
from foretell.auth.oidc import Oidc, Refused, fits, is_jwt
from foretell.domain.errors import Forbidden, NotFound, Unavailable
from foretell.domain.plan import WorkspaceId
from foretell.kit.http import Http, Options, Patience
from foretell.ports import Role, Workspace
from foretell.settings import GITHUB_ISSUER, OidcGrant
from foretell.testing.clock import ManualClock

KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)
SHOP = Workspace(WorkspaceId("11111111-0000-4000-8000-000000000000"), "shop", "Shop")
LAB = Workspace(WorkspaceId("22222222-0000-4000-8000-000000000000"), "lab", "Lab")
GRANT = OidcGrant(
    workspace="shop", audience="foretell", repository="acme/shop", ref="refs/pull/*/merge"
)


def jwk(key: Any, kid: str = "k1", **more: Any) -> dict[str, Any]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return public | {"kid": kid, "use": "sig", "alg": "RS256"} | more


@dataclass
class Provider:
    """An issuer on no network, which counts how often it is asked."""

    keys: list[Any] = field(default_factory=lambda: [jwk(KEY)])
    issuer: str = GITHUB_ISSUER
    jwks_uri: str = f"{GITHUB_ISSUER}/.well-known/jwks?v=1"
    asked: int = 0
    is_away: bool = False

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("no route")
        match str(request.url).partition("token.actions.githubusercontent.com")[2]:
            case "/.well-known/openid-configuration":
                self.asked += 1
                return httpx.Response(200, json={"issuer": self.issuer, "jwks_uri": self.jwks_uri})
            case "/.well-known/jwks?v=1":
                return httpx.Response(200, json={"keys": self.keys})
        return httpx.Response(404)

    def connect(self, address: str) -> Http:
        async def at_once(_: float) -> None:
            return None

        transport = httpx.MockTransport(self.answer)
        return Http(
            address, Options(patience=Patience(attempts=1), transport=transport), sleep=at_once
        )


@dataclass
class Gate:
    provider: Provider
    clock: ManualClock
    oidc: Oidc

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(self.clock.now().timestamp())
        claims = {
            "iss": GITHUB_ISSUER,
            "aud": "foretell",
            "sub": "repo:acme/shop:pull_request",
            "repository": "acme/shop",
            "ref": "refs/pull/7/merge",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key: Any = KEY, kid: str | None = "k1", **changes: Any) -> str:
        headers = {} if kid is None else {"kid": kid}
        return jwt.encode(self.claims(**changes), key, "RS256", headers)


def gate_of(*grants: OidcGrant) -> Gate:
    provider, clock = Provider(), ManualClock()
    return Gate(provider, clock, Oidc(grants or [GRANT], clock, provider.connect))


async def refusal(gate: Gate, token: str) -> str:
    """Why the token is not believed."""
    with pytest.raises(Refused) as caught:
        await gate.oidc.bearer(token)
    text = str(caught.value)
    assert caught.value.__cause__ is None
    for part in token.split("."):
        assert len(part) < 20 or part not in text, "the token is in the message"
    return text


async def test_a_genuine_token_has_the_role_of_its_mapping() -> None:
    gate = gate_of()
    bearer = await gate.oidc.bearer(gate.token())
    caller = bearer.caller_in(SHOP, "shop")
    assert (caller.role, caller.workspace_id) == (Role.PLANNER, SHOP.id)
    assert caller.name == "acme/shop@refs/pull/7/merge"


async def test_of_several_mappings_the_highest_role_counts_in_each_workspace() -> None:
    gate = gate_of(
        GRANT,
        GRANT.model_copy(update={"role": Role.VIEWER}),
        GRANT.model_copy(update={"role": Role.ADMIN, "workspace": LAB.id}),
    )
    bearer = await gate.oidc.bearer(gate.token())
    assert bearer.caller_in(SHOP, "shop").role is Role.PLANNER
    assert bearer.caller_in(LAB, "lab").role is Role.ADMIN


async def test_a_workspace_without_a_mapping_is_not_told_from_none() -> None:
    gate = gate_of()
    bearer = await gate.oidc.bearer(gate.token())
    texts = set()
    for workspace in (LAB, None):
        with pytest.raises(NotFound) as caught:
            bearer.caller_in(workspace, "lab")
        texts.add(str(caught.value))
    assert len(texts) == 1


async def test_outside_of_workspaces_it_reads_and_is_never_the_instances_own() -> None:
    gate = gate_of(GRANT.model_copy(update={"role": Role.ADMIN}))
    caller = (await gate.oidc.bearer(gate.token())).caller_outside()
    assert caller.role is Role.VIEWER
    assert caller.workspace_id is not None


def signed_by_hand(header: Mapping[str, Any], claims: Mapping[str, Any], key: bytes) -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in (header, claims)
    ]
    signature = hmac.new(key, b".".join(parts), hashlib.sha256).digest()
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


async def test_the_public_key_is_no_secret_to_sign_with() -> None:
    gate = gate_of()
    public = KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    for algorithm in ("HS256", "RS256"):
        header = {"alg": algorithm, "kid": "k1", "typ": "JWT"}
        assert await refusal(gate, signed_by_hand(header, gate.claims(), public))


@pytest.mark.parametrize(
    "algorithm", ["none", "None", "NONE", "", None, 1, "HS256", "RS512", "PS256", "ES256", "rs256"]
)
async def test_only_one_algorithm_is_taken_whatever_the_token_says(algorithm: Any) -> None:
    gate = gate_of()
    header = {"alg": algorithm, "kid": "k1"}
    token = signed_by_hand(header, gate.claims(), b"x")
    assert "`alg`" in await refusal(gate, token)
    head, body, _ = token.split(".")
    assert "`alg`" in await refusal(gate, f"{head}.{body}.")


@pytest.mark.parametrize("make", ["ec", "rs512", "ps256"])
async def test_a_real_signature_of_another_algorithm_is_refused(make: str) -> None:
    gate = gate_of()
    key: Any = ec.generate_private_key(ec.SECP256R1()) if make == "ec" else KEY
    algorithm = {"ec": "ES256", "rs512": "RS512", "ps256": "PS256"}[make]
    token = jwt.encode(gate.claims(), key, algorithm, {"kid": "k1"})
    assert "`alg`" in await refusal(gate, token)


async def test_a_key_that_the_token_brings_itself_is_not_looked_at() -> None:
    gate = gate_of()
    for header in ({"jwk": jwk(OTHER_KEY)}, {"jku": "https://evil.example/keys"}):
        token = jwt.encode(gate.claims(), OTHER_KEY, "RS256", {"kid": "k1", **header})
        assert "signature" in await refusal(gate, token)


async def test_an_extension_that_is_not_known_is_refused() -> None:
    gate = gate_of()
    token = jwt.encode(gate.claims(), KEY, "RS256", {"kid": "k1", "crit": ["x"], "x": 1})
    assert "crit" in await refusal(gate, token)


async def test_a_changed_claim_or_another_key_is_refused() -> None:
    gate = gate_of()
    head, _, signature = gate.token(repository="evil/shop").split(".")
    body = gate.token().split(".")[1]
    assert "signature" in await refusal(gate, f"{head}.{body}.{signature}")
    assert "signature" in await refusal(gate, gate.token(OTHER_KEY))
    assert "signature" in await refusal(gate, gate.token()[:-4])


@pytest.mark.parametrize(
    ("name", "at", "is_taken"),
    [
        ("exp", -59, True),
        ("exp", -60, False),
        ("exp", -3600, False),
        ("nbf", 60, True),
        ("nbf", 61, False),
        ("iat", 60, True),
        ("iat", 61, False),
        ("exp", 10**400, True),
    ],
)
async def test_a_token_is_in_force_with_a_minute_of_skew(
    name: str, at: int, is_taken: bool
) -> None:
    gate = gate_of()
    token = gate.token(**{name: int(gate.clock.now().timestamp()) + at})
    if is_taken:
        assert await gate.oidc.bearer(token)
    else:
        assert f"`{name}`" in await refusal(gate, token)


@pytest.mark.parametrize("value", [None, "tomorrow", True, [], {}, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["exp", "iat"])
async def test_a_token_says_when_it_was_made_and_when_it_ends(name: str, value: Any) -> None:
    gate = gate_of()
    claims = gate.claims() | {name: value}
    claims = {key: one for key, one in claims.items() if one is not None}
    token = jwt.PyJWS().encode(json.dumps(claims).encode(), KEY, "RS256", {"kid": "k1"})
    assert f"`{name}`" in await refusal(gate, token)


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"iss": "https://evil.example"}, "`iss` is 'https://evil.example'"),
        ({"iss": None}, "`iss` is None"),
        ({"aud": "https://github.com/acme"}, "`aud` is 'https://github.com/acme'"),
        ({"aud": ["a", "b"]}, "`aud` is ['a', 'b']"),
        ({"aud": None}, "`aud` is None"),
    ],
)
async def test_a_token_that_is_not_for_us_says_which_claim(
    changes: dict[str, Any], claim: str
) -> None:
    gate = gate_of()
    assert claim in await refusal(gate, gate.token(**changes))


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"repository": "evil/shop"}, "`repository` is 'evil/shop'"),
        ({"repository": "acme/shop/x"}, "`repository`"),
        ({"repository": None}, "`repository` is None"),
        ({"repository": ["acme/shop"]}, "`repository`"),
        ({"ref": "refs/heads/topic"}, "`ref` is 'refs/heads/topic'"),
        ({"ref": "refs/pull/7/merge\n"}, "`ref`"),
        ({"environment": "staging"}, "`environment` is 'staging'"),
        ({"ref": "x" * 5000}, "…"),
    ],
)
async def test_a_genuine_token_without_a_mapping_says_which_claim_and_not_what_is_wanted(
    changes: dict[str, Any], claim: str
) -> None:
    wanted = GRANT.model_copy(update={"claims": {"environment": "production"}})
    gate = gate_of(wanted)
    given = {"environment": "production"} | changes
    with pytest.raises(Forbidden) as caught:
        await gate.oidc.bearer(gate.token(**given))
    assert claim in str(caught.value)
    assert "refs/pull/*" not in str(caught.value)
    assert "'production'" not in str(caught.value)
    assert len(str(caught.value)) < 300


async def test_the_claim_is_that_of_the_mapping_that_nearlyfits() -> None:
    gate = gate_of(GRANT.model_copy(update={"repository": "other/one", "ref": "x"}), GRANT)
    with pytest.raises(Forbidden, match="`ref`"):
        await gate.oidc.bearer(gate.token(ref="refs/heads/a"))


async def test_an_audience_of_several_is_enough_and_case_of_a_repository_is_none() -> None:
    gate = gate_of()
    token = gate.token(aud=["x", "foretell"], repository="Acme/Shop")
    assert await gate.oidc.bearer(token)


async def test_all_of_an_owner_is_all_of_that_owner_only() -> None:
    gate = gate_of(GRANT.model_copy(update={"repository": "acme/*"}))
    assert await gate.oidc.bearer(gate.token(repository="acme/anything"))
    with pytest.raises(Forbidden):
        await gate.oidc.bearer(gate.token(repository="acmeevil/shop"))


@given(st.text("ab*", max_size=8), st.text("ab", max_size=12))
def test_a_star_is_any_text_and_all_else_itself(pattern: str, value: str) -> None:
    def slow(pattern: str, value: str) -> bool:
        if not pattern:
            return not value
        if pattern[0] == "*":
            return any(slow(pattern[1:], value[at:]) for at in range(len(value) + 1))
        return bool(value) and value[0] == pattern[0] and slow(pattern[1:], value[1:])

    assert fits(pattern, value) is slow(pattern, value)


@pytest.mark.parametrize(
    "token",
    ["ey..", "eyA.eyA.x", "ey.ey.ey", "eyJ9.é.x", "eyJ9.eyJhIjoxfQ.", "ey" + "[" * 9000 + ".."],
)
async def test_what_is_no_token_is_told_so(token: str) -> None:
    assert is_jwt(token) or token.count(".") != 2
    assert "JSON Web Token" in await refusal(gate_of(), token)


@given(st.text(max_size=100))
def test_our_own_tokens_and_any_text_are_no_jwt_unless_they_look_like_one(text: str) -> None:
    assert not is_jwt("ft_" + text)
    assert not is_jwt("ey" + "a" * 20_000 + "..")


async def test_keys_are_fetched_once_an_hour_however_many_ask() -> None:
    gate = gate_of()
    await asyncio.gather(*(gate.oidc.bearer(gate.token()) for _ in range(20)))
    assert gate.provider.asked == 1
    gate.clock.advance(FRESH_FOR - timedelta(seconds=1))
    await gate.oidc.bearer(gate.token())
    assert gate.provider.asked == 1
    gate.clock.advance(timedelta(seconds=1))
    await gate.oidc.bearer(gate.token())
    assert gate.provider.asked == 2


async def test_a_new_key_is_found_at_once_and_an_old_one_is_gone_with_it() -> None:
    gate = gate_of()
    await gate.oidc.bearer(gate.token())
    gate.provider.keys = [jwk(OTHER_KEY, "k2")]
    gate.clock.advance(ASK_AGAIN_AFTER)
    assert await gate.oidc.bearer(gate.token(OTHER_KEY, "k2"))
    gate.clock.advance(ASK_AGAIN_AFTER)
    assert "`kid`" in await refusal(gate, gate.token())


async def test_tokens_with_made_up_keys_do_not_make_us_ask_without_end() -> None:
    gate = gate_of()
    for number in range(50):
        assert "`kid`" in await refusal(gate, gate.token(kid=f"made-up-{number}"))
    assert gate.provider.asked == 1


async def test_while_the_provider_is_away_yesterdays_keys_are_good_enough() -> None:
    gate = gate_of()
    await gate.oidc.bearer(gate.token())
    gate.provider.is_away = True
    with capture_logs():
        gate.clock.advance(USABLE_FOR - timedelta(seconds=1))
        assert await gate.oidc.bearer(gate.token())
        gate.clock.advance(timedelta(hours=1))
        with pytest.raises(Unavailable):
            await gate.oidc.bearer(gate.token())


async def test_without_any_keys_the_provider_is_asked_again_soon_but_not_by_everybody() -> None:
    gate = gate_of()
    gate.provider.is_away = True
    with capture_logs() as logs:
        for _ in range(5):
            with pytest.raises(Unavailable):
                await gate.oidc.bearer(gate.token())
    assert len(logs) == 1
    gate.provider.is_away = False
    gate.clock.advance(ASK_AGAIN_AFTER)
    assert await gate.oidc.bearer(gate.token())


def changed(change: Callable[[Provider], None]) -> Gate:
    gate = gate_of()
    change(gate.provider)
    return gate


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "issuer", "https://evil.example"),
        lambda one: setattr(one, "jwks_uri", "http://token.actions.githubusercontent.com/keys"),
        lambda one: setattr(one, "jwks_uri", "https://token.actions.githubusercontent.com/none"),
        lambda one: setattr(one, "jwks_uri", 7),
    ],
)
async def test_a_configuration_that_is_not_right_gives_no_keys(
    change: Callable[[Provider], None],
) -> None:
    gate = changed(change)
    with capture_logs(), pytest.raises(Unavailable):
        await gate.oidc.bearer(gate.token())


def test_only_public_rsa_keys_for_signatures_are_used() -> None:
    small = rsa.generate_private_key(65537, 1024)
    curve = json.loads(
        jwt.algorithms.ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key())
    )
    private = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY))
    listed: list[Any] = [
        jwk(small, "small"),
        curve | {"kid": "curve"},
        private | {"kid": "private"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        jwk(KEY, "encrypts", use="enc"),
        jwk(KEY, "other", alg="RS512"),
        jwk(KEY, "broken", n="!"),
        {"kty": "RSA", "kid": "empty"},
        jwk(KEY) | {"kid": 7},
        "text",
        None,
        jwk(KEY, "good"),
        jwk(OTHER_KEY, "good"),
    ]
    found = usable_keys(listed)
    assert list(found) == ["good"]
    assert found["good"] == KEY.public_key()
