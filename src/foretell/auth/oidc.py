"""Tokens of an identity provider instead of one of ours: a pipeline needs no stored secret.

Sources: RFC 7519 (JSON Web Token), RFC 8725 (its best current practices), and GitHub's
documentation "OpenID Connect" for the claims of GitHub Actions.
"""

import base64
import binascii
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from foretell.auth.jwks import ALGORITHM, Connect, IssuerKeys, connect
from foretell.auth.roles import Caller, includes
from foretell.domain.errors import Forbidden, NotFound
from foretell.domain.plan import WorkspaceId
from foretell.ports import Clock, Role, Workspace
from foretell.settings import OidcGrant

SKEW = timedelta(seconds=60)
_LONGEST = 16_384
_SHOWN = 100
_NOWHERE = WorkspaceId("")
"""No workspace has this id; None would be the instance's own."""


class Refused(Exception):
    """The token is not to be believed; the text says why, and holds no part of a signature."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose token is genuine, in force, and has a role somewhere."""

    name: str
    grants: tuple[OidcGrant, ...]

    def caller_in(self, workspace: Workspace | None, ref: str) -> Caller:
        """The caller with the highest role in that workspace; raises NotFound without one."""
        names = (workspace.slug, workspace.id) if workspace else ()
        roles = [grant.role for grant in self.grants if grant.workspace in names]
        if workspace is None or not roles:
            known = ", ".join(sorted({grant.workspace for grant in self.grants}))
            raise NotFound(f"there is no workspace {ref!r} for this token, only: {known}")
        return Caller(self.id, self.name, _highest(roles), workspace.id, is_pipeline=True)

    def caller_outside(self) -> Caller:
        """The caller where no workspace is concerned: it reads, and no more than that."""
        return Caller(self.id, self.name, Role.VIEWER, _NOWHERE, is_pipeline=True)

    @property
    def id(self) -> str:
        """What the log knows it by."""
        return f"oidc:{self.name}"


def _highest(roles: Iterable[Role]) -> Role:
    found = Role.VIEWER
    for role in roles:
        found = role if includes(role, found) else found
    return found


class Oidc:
    """Reads tokens of the issuers that the grants name."""

    def __init__(
        self, grants: Sequence[OidcGrant], clock: Clock, connect: Connect = connect
    ) -> None:
        self._grants = tuple(grants)
        self._clock = clock
        issuers = {grant.issuer for grant in grants}
        self._keys = {issuer: IssuerKeys(issuer, clock, connect) for issuer in issuers}

    async def bearer(self, token: str) -> Bearer:
        """Whose token it is.

        Raises Refused for one that is not genuine, not in force or not for us, Forbidden for one
        that no grant takes (both name the claim), and Unavailable without the issuer's keys.
        """
        key_id, issuer = _looked_at(token)
        if issuer not in self._keys:
            raise Refused(f"its `iss` is {_quoted(issuer)}, an issuer that no mapping names")
        key = await self._keys[issuer].find(key_id)
        if key is None:
            raise Refused(f"its `kid` is {_quoted(key_id)}, a key that the issuer does not have")
        claims = _signed_claims(token, key)
        _check_times(claims, self._clock.now())
        return _granted(claims, [one for one in self._grants if one.issuer == issuer])


def is_jwt(text: str) -> bool:
    """Whether it has the form of a JSON Web Token in its compact serialization."""
    return len(text) <= _LONGEST and text.count(".") == 2 and text.startswith("ey")


def _looked_at(token: str) -> tuple[str, Any]:
    """The key id and the issuer that the token claims: enough to find the key, not to believe."""
    head, body, _ = token.split(".")
    header, claims = _decoded(head), _decoded(body)
    if header.get("alg") != ALGORITHM:
        raise Refused(f"its `alg` is {_quoted(header.get('alg'))}, and only {ALGORITHM} is taken")
    key_id = header.get("kid")
    if not isinstance(key_id, str):
        raise Refused("its header has no `kid`")
    if "crit" in header:
        raise Refused("its header asks for an extension (`crit`) that is not known here")
    issuer = claims.get("iss")
    return key_id, issuer if isinstance(issuer, str) else None


def _decoded(part: str) -> Mapping[str, Any]:
    try:
        found = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused("it is no JSON Web Token")
    return found


def _signed_claims(token: str, key: RSAPublicKey) -> Mapping[str, Any]:
    try:
        signed = jwt.PyJWS(algorithms=[ALGORITHM]).decode(token, key, algorithms=[ALGORITHM])
    except jwt.PyJWTError:
        # Not chained: what it says may quote the token.
        raise Refused("its signature is not that of the issuer") from None
    claims = json.loads(signed)
    assert isinstance(claims, dict), "it was looked at before"
    return claims


def _check_times(claims: Mapping[str, Any], now: datetime) -> None:
    moment, skew = now.timestamp(), SKEW.total_seconds()
    if _seconds(claims, "exp") <= moment - skew:
        raise Refused("its `exp` has passed: ask for a new one")
    for name in ("iat", "nbf"):
        if (name == "iat" or name in claims) and _seconds(claims, name) > moment + skew:
            raise Refused(f"its `{name}` is yet to come: compare the clocks")


def _seconds(claims: Mapping[str, Any], name: str) -> float:
    match claims.get(name):
        case bool():
            pass
        case int() as found:
            return found
        case float() as found if math.isfinite(found):
            return found
        case _:
            pass
    raise Refused(f"its `{name}` is missing, or no number of seconds")


def _granted(claims: Mapping[str, Any], grants: Sequence[OidcGrant]) -> Bearer:
    told = claims.get("aud")
    audiences = told if isinstance(told, list) else [told]
    for_us = [grant for grant in grants if grant.audience in audiences]
    if not for_us:
        raise Refused(f"its `aud` is {_quoted(told)}, an audience that no mapping names")
    wrong = [(grant, _mismatches(claims, grant)) for grant in for_us]
    taken = tuple(grant for grant, names in wrong if not names)
    if not taken:
        _, names = min(wrong, key=lambda pair: len(pair[1]))
        value = _quoted(claims.get(names[0]))
        raise Forbidden(f"the token's `{names[0]}` is {value}, which no mapping takes")
    return Bearer(f"{claims.get('repository')}@{claims.get('ref')}"[:300], taken)


def _mismatches(claims: Mapping[str, Any], grant: OidcGrant) -> list[str]:
    """The claims that are not as the grant wants them, in its order."""
    wanted = {"ref": grant.ref, **grant.claims}
    # GitHub's names have no case of their own; all else does.
    repository = fits(grant.repository.lower(), str(claims.get("repository", "")).lower())
    wrong = [] if repository else ["repository"]
    return wrong + [name for name, pattern in wanted.items() if not fits(pattern, claims.get(name))]


def fits(pattern: str, value: Any) -> bool:
    """Whether a text fits, `*` being any text. A claim that is no text fits nothing."""
    if not isinstance(value, str):
        return False
    first, *others = pattern.split("*")
    if not others:
        return value == pattern
    if not value.startswith(first):
        return False
    place = len(first)
    for part in others[:-1]:
        place = value.find(part, place) + len(part)
        if place < len(part):
            return False
    return value.endswith(others[-1]) and place <= len(value) - len(others[-1])


def _quoted(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
