"""An identity provider's keys: fetched, remembered, and fetched again when they rotate.

Source: OpenID Connect Discovery 1.0, section 4, and RFC 7517 (JSON Web Key).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from foretell.domain.errors import ForetellError, Unavailable
from foretell.kit.http import Http, Options, Patience
from foretell.ports import Clock

ALGORITHM = "RS256"
MIN_BITS = 2048
FRESH_FOR = timedelta(hours=1)
"""For so long nobody is asked whether the keys are still those."""
USABLE_FOR = timedelta(hours=24)
"""For so long the keys are good enough while the provider does not answer."""
ASK_AGAIN_AFTER = timedelta(seconds=10)
"""A token with an unknown key makes us ask, and anybody can make such tokens."""
_MAX_BYTES = 1_000_000
_PATIENCE = Patience(connect_for=timedelta(seconds=5), read_for=timedelta(seconds=5), attempts=2)
_log = structlog.get_logger()

Connect = Callable[[str], Http]
"""(address) -> a client of that server, closed by whoever asked for it."""


def connect(address: str) -> Http:
    """A client with little patience: somebody waits at the door."""
    return Http(address, Options(patience=_PATIENCE, max_bytes=_MAX_BYTES))


@dataclass(frozen=True, slots=True)
class _Known:
    keys: Mapping[str, RSAPublicKey]
    fetched_at: datetime


class IssuerKeys:
    """The public keys of one issuer, by their id."""

    def __init__(self, issuer: str, clock: Clock, connect: Connect = connect) -> None:
        self._issuer = issuer
        self._clock = clock
        self._connect = connect
        self._known: _Known | None = None
        self._asked_at: datetime | None = None
        self._lock = asyncio.Lock()

    async def find(self, key_id: str) -> RSAPublicKey | None:
        """The key; None: the issuer has none of that id. Raises Unavailable without any keys."""
        if found := self._fresh(key_id):
            return found
        async with self._lock:
            # Whoever waited here finds what the one before them fetched.
            return self._fresh(key_id) or (await self._newest()).get(key_id)

    def _fresh(self, key_id: str) -> RSAPublicKey | None:
        keys = self._keys_until(FRESH_FOR)
        return keys.get(key_id) if keys is not None else None

    def _keys_until(self, age: timedelta) -> Mapping[str, RSAPublicKey] | None:
        known = self._known
        is_young = known is not None and self._clock.now() - known.fetched_at < age
        return known.keys if known is not None and is_young else None

    async def _newest(self) -> Mapping[str, RSAPublicKey]:
        now = self._clock.now()
        if self._asked_at is None or now - self._asked_at >= ASK_AGAIN_AFTER:
            self._asked_at = now
            try:
                self._known = _Known(await self._fetch(), now)
            except ForetellError as error:
                _log.warning("oidc.no_keys", issuer=self._issuer, error=error.message)
        keys = self._keys_until(USABLE_FOR)
        if keys is None:
            raise Unavailable(f"the keys of {self._issuer} can't be had now")
        return keys

    async def _fetch(self) -> Mapping[str, RSAPublicKey]:
        told = await self._get(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        address = told.get("jwks_uri")
        if told.get("issuer") != self._issuer:
            raise Unavailable(f"{self._issuer} says that it is another issuer")
        if not isinstance(address, str) or not address.startswith("https://"):
            raise Unavailable(f"{self._issuer} names no jwks_uri with https://")
        listed = (await self._get(address)).get("keys")
        return usable_keys(listed if isinstance(listed, list) else [])

    async def _get(self, address: str) -> Mapping[str, Any]:
        parts = urlsplit(address)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        async with self._connect(f"{parts.scheme}://{parts.netloc}") as http:
            answer = await http.request("GET", path)
        if answer.status != 200:
            raise Unavailable(f"GET {address}: status {answer.status}")
        found = answer.json()
        if not isinstance(found, dict):
            raise Unavailable(f"GET {address}: expected a JSON object")
        return found


def usable_keys(listed: list[Any]) -> Mapping[str, RSAPublicKey]:
    """The keys of a JWKS that may have signed a token; the others are passed over."""
    found: dict[str, RSAPublicKey] = {}
    for one in listed:
        if isinstance(one, dict) and isinstance(one.get("kid"), str) and (key := _usable(one)):
            found.setdefault(one["kid"], key)
    return found


def _usable(jwk: Mapping[str, Any]) -> RSAPublicKey | None:
    is_for_us = (
        jwk.get("kty") == "RSA"
        and jwk.get("use", "sig") == "sig"
        and jwk.get("alg", ALGORITHM) == ALGORITHM
    )
    if not is_for_us:
        return None
    try:
        key = jwt.PyJWK(dict(jwk), algorithm=ALGORITHM).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return key if isinstance(key, RSAPublicKey) and key.key_size >= MIN_BITS else None
