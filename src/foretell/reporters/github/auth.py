"""Who we are to GitHub: an App that is installed on repositories, or a token.

GitHub REST docs, "Generating a JSON Web Token for a GitHub App" and "Generating an installation
access token".
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

import jwt

from foretell.domain.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from foretell.kit.http import Answer, Http
from foretell.ports import Clock

ACCEPT = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
INSTALLATION_PERMISSIONS = {"checks": "write", "metadata": "read", "pull_requests": "write"}
"""What an installation's token is asked for: less than the App may have been given."""

_BACKDATED = timedelta(seconds=60)
_JWT_LIVES_FOR = timedelta(minutes=9)  # GitHub refuses more than ten
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_RENEW_BEFORE = timedelta(minutes=5)
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.S)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by its two names, as GitHub spells them or in any case."""

    owner: str
    name: str

    @property
    def path(self) -> str:
        """`repos/org/app`: where its resources begin."""
        return f"repos/{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes what we write; `app_id` where it is an App."""

    login: str
    app_id: int | None = None


class Access(Protocol):
    """Credentials for a repository."""

    can_check: bool
    """Whether check runs can be made: only an App's tokens can."""

    async def token(self, repository: Repository) -> str:
        """A token for it now. Raises Forbidden, NotFound (not installed there), Unavailable."""

    def refused(self, repository: Repository) -> bool:
        """The token was not taken; True where another one may be."""

    def account(self, repository: Repository) -> str:
        """Whose rate limit a call for it counts against."""

    async def author(self) -> Author:
        """Who writes with these credentials."""


class TokenAccess:
    """One token for everything: a personal one, or the `ghs_` one of a workflow (an App's)."""

    def __init__(self, http: Http, token: str) -> None:
        self._http = http
        self._token = token
        self._author: Author | None = None
        self.can_check = token.startswith("ghs_")

    async def token(self, repository: Repository) -> str:
        """Always the one."""
        return self._token

    def refused(self, repository: Repository) -> bool:
        """There is no other."""
        return False

    def account(self, repository: Repository) -> str:
        """The token's owner."""
        return "token"

    async def author(self) -> Author:
        """The owner of a personal token; a workflow's token can't ask who it is."""
        if self.can_check:
            return Author("github-actions[bot]")
        if self._author is None:
            answer = await self._http.request("GET", "user", headers=bearer(self._token))
            self._author = Author(_object(answer, "the token's owner")["login"])
        return self._author


@dataclass(slots=True)
class _Installation:
    id: int
    token: str = field(default="", repr=False)
    expires_at: datetime = _LONG_AGO


class AppAccess:
    """An App: a token for each installation, kept until shortly before it expires.

    `keys` gives the PEM text at each signing, so that a replaced file is taken up while we run;
    of several keys in it the next is tried where one is no longer accepted. A clock that differs
    from GitHub's is corrected by the time that GitHub's refusal names.
    """

    can_check = True

    def __init__(self, http: Http, app_id: str, keys: Callable[[], str], clock: Clock) -> None:
        self._http = http
        self._app_id = app_id
        self._keys = keys
        self._clock = clock
        self._skew = timedelta(0)
        self._installations: dict[Repository, _Installation] = {}
        self._turns: dict[Repository, asyncio.Lock] = {}
        self._author: Author | None = None

    async def token(self, repository: Repository) -> str:
        """The installation's token, made at most once by however many ask at once."""
        key = _lower(repository)
        async with self._turns.setdefault(key, asyncio.Lock()):
            found = self._installations.get(key)
            if found is None:
                found = self._installations[key] = await self._find(repository)
            if found.expires_at <= self._now() + _RENEW_BEFORE:
                await self._renew(found, repository)
            return found.token

    def refused(self, repository: Repository) -> bool:
        """Forgets the token and the installation, which may have been removed and made anew."""
        return self._installations.pop(_lower(repository), None) is not None

    def account(self, repository: Repository) -> str:
        """The limits are those of the installation, which is one for each owner."""
        return repository.owner.lower()

    async def author(self) -> Author:
        """The App's bot."""
        if self._author is None:
            found = await self._ask("GET", "app", "the App")
            self._author = Author(f"{found['slug']}[bot]", int(found["id"]))
        return self._author

    async def _find(self, repository: Repository) -> _Installation:
        what = f"the App's installation on {repository.owner}/{repository.name}"
        try:
            found = await self._ask("GET", f"{repository.path}/installation", what)
        except NotFound as error:
            raise NotFound(f"{error.message}; install the App on this repository") from error
        return _Installation(int(found["id"]))

    async def _renew(self, installation: _Installation, repository: Repository) -> None:
        found = await self._ask(
            "POST",
            f"app/installations/{installation.id}/access_tokens",
            f"a token for {repository.owner}/{repository.name}",
            {"repositories": [repository.name], "permissions": INSTALLATION_PERMISSIONS},
        )
        installation.token = found["token"]
        installation.expires_at = datetime.fromisoformat(found["expires_at"])

    async def _ask(
        self, method: str, path: str, what: str, body: Mapping[str, Any] | None = None
    ) -> Any:
        answer = None
        for key in _pem_keys(self._keys()):
            answer = await self._signed(method, path, key, body)
            if answer.status == 401 and self._corrected(answer):
                answer = await self._signed(method, path, key, body)
            if answer.status != 401:
                break
        assert answer is not None, "there is at least one key"
        return _object(answer, what)

    async def _signed(
        self, method: str, path: str, key: str, body: Mapping[str, Any] | None
    ) -> Answer:
        signed = _sign(key, self._app_id, self._now())
        return await self._http.request(
            method, path, body=body, headers=bearer(signed), idempotent=True
        )

    def _now(self) -> datetime:
        return self._clock.now() + self._skew

    def _corrected(self, answer: Answer) -> bool:
        """Whether the two clocks differ by enough to explain a refusal; from now on they agree."""
        try:
            theirs = parsedate_to_datetime(answer.headers.get("date", ""))
        except ValueError:
            return False
        skew = theirs - self._clock.now()
        differs = abs(skew - self._skew) > timedelta(seconds=20)
        if differs:
            self._skew = skew
        return differs


def check_key(text: str) -> None:
    """Raises InvalidRequest for a PEM text that can't sign, before anything depends on it."""
    for key in _pem_keys(text):
        _sign(key, "0", _LONG_AGO + _BACKDATED)


def _sign(key: str, app_id: str, now: datetime) -> str:
    claims = {"iat": now - _BACKDATED, "exp": now + _JWT_LIVES_FOR, "iss": app_id}
    try:
        return jwt.encode(claims, key, algorithm="RS256")
    except (ValueError, TypeError, jwt.PyJWTError) as error:
        # Chained to nothing: what the library says may quote the key.
        raise InvalidRequest(
            "the GitHub App's private key can't be used: expected an RSA key in PEM form, as"
            f" GitHub hands out ({type(error).__name__})"
        ) from None


def bearer(token: str) -> dict[str, str]:
    """The headers of a call with this token."""
    return {**ACCEPT, "Authorization": f"Bearer {token}"}


def _lower(repository: Repository) -> Repository:
    return Repository(repository.owner.lower(), repository.name.lower())


def _pem_keys(text: str) -> list[str]:
    keys = _KEY.findall(text.replace("\\n", "\n"))
    if not keys:
        raise InvalidRequest(
            "the GitHub App's private key can't be used: expected PEM text with"
            " BEGIN RSA PRIVATE KEY; download one from the App's settings"
        )
    return keys


def _object(answer: Answer, what: str) -> Any:
    if answer.status in (200, 201):
        return answer.json()
    message = f"GitHub gave no answer for {what} (status {answer.status}): {answer.text(200)}"
    if answer.status == 401:
        raise Forbidden(f"{message}; check the credentials, and that the clock is right")
    if answer.status == 404:
        raise NotFound(message)
    if answer.status == 422:
        raise Forbidden(f"{message}; it must have been given these: {INSTALLATION_PERMISSIONS}")
    raise Forbidden(message) if answer.status == 403 else Unavailable(message)
