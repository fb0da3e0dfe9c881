"""The fake over HTTP: a small ASGI application, in memory or behind a socket."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from foretell.api.server import listening
from foretell.testing.argocd.refused import Refused

Permission = tuple[str, str, str]


@dataclass(slots=True)
class Request:
    """One call and, once it was answered, what of it was permitted and what came of it."""

    method: str
    path: str
    query: dict[str, list[str]]
    token: str = field(repr=False)
    body: Any = field(default=None, repr=False)
    needed: list[Permission] = field(default_factory=list)
    status: int = 0

    def one(self, name: str) -> str:
        """A query parameter, "" where it is not given."""
        return self.query.get(name, [""])[0]

    def __str__(self) -> str:
        pairs = [f"{name}={value}" for name, values in self.query.items() for value in values]
        return f"{self.method} {self.path}{'?' if pairs else ''}{'&'.join(pairs)}"


App = Callable[[Any, Any, Any], Awaitable[None]]


def as_app(answer: Callable[[Request], Awaitable[Any]]) -> App:
    """The ASGI application whose answers `answer` makes."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["method"] != "GET" and _type(scope) != "application/json":
            await _refuse_type(send)
        else:
            await _reply(answer, await _request(scope, receive), send)

    return app


@asynccontextmanager
async def serving(app: App) -> AsyncIterator[str]:
    """The application on a free loopback port; yields its address."""
    made: Any = app
    async with listening(made, "127.0.0.1", 0) as address:
        yield address


async def _reply(answer: Callable[[Request], Awaitable[Any]], request: Request, send: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    try:
        body, request.status = await answer(request), 200
    except Refused as refused:
        body, request.status = refused.body(), refused.status
        if refused.retry_after is not None:
            headers.append((b"retry-after", str(refused.retry_after).encode()))
    await send({"type": "http.response.start", "status": request.status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def _refuse_type(send: Any) -> None:
    """As the real one, which says it in plain text, whether there is a body or not."""
    await send({"type": "http.response.start", "status": 415, "headers": []})
    await send({"type": "http.response.body", "body": b"Invalid content type\n"})


def _type(scope: Any) -> str:
    return _headers(scope).get("content-type", "").lower()


def _headers(scope: Any) -> dict[str, str]:
    return {name.decode().lower(): value.decode() for name, value in scope["headers"]}


async def _request(scope: Any, receive: Any) -> Request:
    body = b""
    while True:
        part = await receive()
        body += part.get("body", b"")
        if not part.get("more_body"):
            break
    return Request(
        scope["method"],
        scope["raw_path"].decode(),
        parse_qs(scope["query_string"].decode(), keep_blank_values=True),
        _headers(scope).get("authorization", "").removeprefix("Bearer "),
        json.loads(body) if body else None,
    )


async def _live(receive: Any, send: Any) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return
