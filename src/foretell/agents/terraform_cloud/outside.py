"""Addresses that the server hands out: uploads, logs, plan output. Our token never goes there.

Such an address is a secret itself, for a minute to a day: it is neither stored nor told.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from foretell.domain.errors import AgentRejected, AgentUnavailable, Unavailable
from foretell.kit.http import Answer, Http, Options, Patience

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_HOPS: Final = 3
_MOST_HOSTS: Final = 16


class Outside:
    """Clients without credentials, one for each server that an address led to."""

    def __init__(self, transport: Any = None) -> None:
        self._options = Options(patience=Patience(attempts=3), transport=transport)
        self._clients: OrderedDict[str, Http] = OrderedDict()

    async def get(
        self, address: str, what: str, *, secure: bool, params: Mapping[str, str] | None = None
    ) -> Answer:
        """The answer, redirects followed. `secure`: nothing but https is followed."""
        for _ in range(_MOST_HOPS):
            answer = await self._send("GET", address, what, secure=secure, params=params)
            if answer.status not in REDIRECTS:
                return answer
            address = answer.headers.get("location", "")
        raise AgentRejected(f"{what}: redirected over {_MOST_HOPS} times")

    async def put(self, address: str, content: bytes, what: str, *, secure: bool) -> Answer:
        """The answer to an upload."""
        return await self._send("PUT", address, what, secure=secure, content=content)

    async def _send(
        self,
        method: str,
        address: str,
        what: str,
        *,
        secure: bool,
        params: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Answer:
        origin, path = _parts(address, what, secure)
        headers = {"Content-Type": "application/octet-stream"} if content is not None else None
        try:
            return await self._client(origin).request(
                method, _with(path, params), body=content, headers=headers
            )
        except Unavailable as error:
            # The error names the address, without its query; the path may be the secret.
            raise AgentUnavailable(f"{what}: {origin} gave no answer") from error

    def _client(self, origin: str) -> Http:
        client = self._clients.pop(origin, None) or Http(origin, self._options)
        self._clients[origin] = client
        if len(self._clients) > _MOST_HOSTS:
            self._clients.popitem(last=False)
        return client


def _parts(address: str, what: str, secure: bool) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
        scheme, host = parts.scheme, parts.netloc
    except ValueError:
        scheme, host = "", ""
    if not host or "@" in host or scheme not in (("https",) if secure else ("https", "http")):
        raise AgentRejected(f"{what}: the server led to an address that is not https")
    return f"{scheme}://{host}", address.split(host, 1)[1].lstrip("/")


def _with(path: str, params: Mapping[str, str] | None) -> str:
    """The query is the server's own and stays as it is: a signature may cover it."""
    if not params:
        return path
    more = "&".join(f"{name}={value}" for name, value in params.items())
    return f"{path}{'&' if '?' in path else '?'}{more}"
