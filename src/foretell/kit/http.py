"""The one door to HTTP: bounded calls, retries where they are safe, errors without secrets.

A client is for one server and shared by all who talk to it. Any status is an answer for the
caller to judge; what raises is that no answer came.
"""

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import orjson

from foretell.domain.errors import InvalidRequest, Unavailable
from foretell.kit.scrub import MASK, scrub, tail

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
"""RFC 9110, section 9.2.2."""
AWAY = frozenset({502, 503, 504})
"""Statuses by which something between here and there says that it is away for now."""
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what. `read_for` is from one byte to the next, not for the whole."""

    connect_for: timedelta = timedelta(seconds=10)
    read_for: timedelta = timedelta(seconds=60)
    attempts: int = 4
    first_pause: timedelta = timedelta(milliseconds=250)
    longest_pause: timedelta = timedelta(seconds=30)

    def pause(self, attempt: int, asked: str | None = None) -> float:
        """Seconds before the next attempt: what `Retry-After` asks, else doubled, with jitter."""
        longest = self.longest_pause.total_seconds()
        if asked is not None and asked.isdecimal():
            return min(float(asked), longest)
        doubled = self.first_pause.total_seconds() * 2.0 ** min(attempt, 20)
        return min(doubled, longest) * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """The body as JSON; raises InvalidRequest, with the start of it, where it is none."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise InvalidRequest(
                f"expected JSON, found (status {self.status}): {self.text(200)}"
            ) from error

    def text(self, limit: int = 2000) -> str:
        """The end of the body as a message may quote it."""
        return tail(self.body, limit)


@dataclass(frozen=True, slots=True)
class Options:
    """How to reach a server. `secrets` are masked in every error; `ca_file` "" is the system's."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    ca_file: str = ""
    patience: Patience = Patience()
    max_bytes: int = 256 * 1024 * 1024
    transport: Any = None
    """For tests: an httpx transport instead of the network."""
    socket: Path | None = None
    """The Unix socket to connect to, whatever host the address names."""


class Http:
    """A client of one server. Redirects are not followed: credentials stay where they were sent."""

    def __init__(
        self,
        address: str,
        options: Options | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._options = options or Options()
        self._address = checked_address(address)
        self._sleep = sleep
        patience = self._options.patience
        self._client = httpx.AsyncClient(
            base_url=self._address,
            headers=dict(self._options.headers),
            timeout=httpx.Timeout(
                patience.read_for.total_seconds(), connect=patience.connect_for.total_seconds()
            ),
            verify=_trust(self._options.ca_file),
            transport=self._options.transport or _socket_transport(self._options.socket),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def host(self) -> str:
        """The server's name, with the port where one is given."""
        return urlsplit(self._address).netloc

    def path_of(self, address: str) -> str:
        """The path of one of this server's own addresses, "" for any other."""
        return address.removeprefix(self._address) if address.startswith(self._address) else ""

    async def pause(self, attempt: int) -> None:
        """Wait before the attempt after this one, the first being 0."""
        await self._sleep(self._options.patience.pause(attempt))

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        idempotent: bool | None = None,
    ) -> Answer:
        """The answer, of whatever status, to `body`: bytes, or a value sent as JSON.

        Where no connection came about it is tried again. A call that may be repeated (by its
        method, or as `idempotent` says) is so too after a broken one, and after 502, 503 and 504.
        Raises Unavailable when no answer comes in all attempts.
        """
        sent = dict(headers or {})
        content = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        request = self._client.build_request(
            method, path.lstrip("/"), content=content, headers=sent, params=params
        )
        again = method in IDEMPOTENT if idempotent is None else idempotent
        return await self._attempts(request, repeatable=again)

    @asynccontextmanager
    async def lines(
        self, path: str, *, headers: Mapping[str, str] | None = None, read_for: timedelta
    ) -> AsyncIterator[tuple[int, AsyncIterator[str]]]:
        """The status, and the body line by line as it comes: for event streams. Not retried.

        Raises Unavailable when nothing came for `read_for`, or the connection broke.
        """
        timeout = httpx.Timeout(
            read_for.total_seconds(), connect=self._options.patience.connect_for.total_seconds()
        )
        try:
            async with self._client.stream(
                "GET", path.lstrip("/"), headers=dict(headers or {}), timeout=timeout
            ) as response:
                yield response.status_code, response.aiter_lines()
        except httpx.TransportError as error:
            raise self._unavailable("GET", path, error) from error

    async def _attempts(self, request: httpx.Request, *, repeatable: bool) -> Answer:
        patience = self._options.patience
        for attempt in range(patience.attempts - 1):
            try:
                answer = await self._send(request)
            except httpx.TransportError as error:
                if not repeatable and not isinstance(error, _NOT_SENT):
                    raise self._unavailable(request.method, request.url.path, error) from error
                asked = None
            else:
                if not repeatable or answer.status not in AWAY:
                    return answer
                asked = answer.headers.get("retry-after")
            await self._sleep(patience.pause(attempt, asked))
        try:
            return await self._send(request)
        except httpx.TransportError as error:
            raise self._unavailable(request.method, request.url.path, error) from error

    async def _send(self, request: httpx.Request) -> Answer:
        response = await self._client.send(request, stream=True)
        try:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._options.max_bytes:
                    raise InvalidRequest(
                        f"{request.method} {self._named(request.url.path)}: the answer is over "
                        f"{self._options.max_bytes:,} bytes"
                    )
        finally:
            await response.aclose()
        return Answer(response.status_code, dict(response.headers), bytes(body))

    def _named(self, path: str) -> str:
        # Without the query: it may hold a signature.
        server = f"{urlsplit(self._address).scheme}://{urlsplit(self._address).netloc}"
        return scrub(f"{server}/{path.partition('?')[0].lstrip('/')}")

    def _unavailable(self, method: str, path: str, error: httpx.TransportError) -> Unavailable:
        said = self.masked(str(error)) or type(error).__name__
        return Unavailable(f"{method} {self._named(path)}: no answer: {said}")

    def masked(self, text: str) -> str:
        """`text` without this client's secrets, and without whatever looks like one."""
        for secret in sorted(self._options.secrets, key=len, reverse=True):
            text = text.replace(secret, MASK) if secret else text
        return scrub(text)


def _socket_transport(socket: Path | None) -> httpx.AsyncHTTPTransport | None:
    return httpx.AsyncHTTPTransport(uds=str(socket)) if socket else None


def checked_address(address: str) -> str:
    """The address with "/" at its end; raises InvalidRequest where it is none."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query
    except ValueError:
        usable = False
    if not usable:
        raise InvalidRequest(
            f"expected an address such as https://foretell.example.com, found {scrub(address)!r}"
        )
    return address.rstrip("/") + "/"


def _trust(ca_file: str) -> Any:
    try:
        return ssl.create_default_context(cafile=ca_file) if ca_file else True
    except (OSError, ssl.SSLError) as error:
        raise InvalidRequest(f"the CA file {ca_file} can't be used: {error}") from error


def in_process(app: Any) -> Any:
    """A transport for `Options.transport`: the ASGI application `app`, without a socket.

    A ConnectionError that it raises breaks the line, as a network does.
    """
    wire = httpx.ASGITransport(app=app)

    async def answered(request: httpx.Request) -> httpx.Response:
        try:
            return await wire.handle_async_request(request)
        except ConnectionError as error:
            raise httpx.ReadError(str(error), request=request) from error

    return httpx.MockTransport(answered)
