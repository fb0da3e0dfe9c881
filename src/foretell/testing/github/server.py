"""The fake's door: an ASGI app that authenticates, counts, breaks on demand, and answers."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl

import uvicorn

from foretell.ports import Clock
from foretell.testing.clock import ManualClock
from foretell.testing.github.door import actor, check_permission
from foretell.testing.github.limits import Limits, Meter
from foretell.testing.github.request import Request, Response, Route
from foretell.testing.github.routes import ROUTES
from foretell.testing.github.shapes import API
from foretell.testing.github.state import Call, Refused
from foretell.testing.github.world import World

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
_UNFINISHED = [(b"content-length", b"1000")]
_PATTERN = re.compile(r"\\\{(\w+)\\\}")


@dataclass(slots=True)
class Fault:
    """What goes wrong with the next `times` calls that fit: an answer, or none.

    `after`: it goes wrong on the way back, when the call has already had its effect. `status` 0
    breaks the connection.
    """

    method: str = ""
    path: str = ""
    status: int = 502
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "Server Error"
    times: int = 1
    after: bool = False

    def fits(self, method: str, path: str) -> bool:
        """Whether it is for this call; `path` is a part of it."""
        return self.times > 0 and self.method in ("", method) and self.path in path


class Broken(Exception):
    """The connection broke before an answer came."""


class FakeGithub(World):
    """GitHub, below `prefix` (`/api/v3` on an Enterprise server).

    `calls` are all that came. `faults` are tried in order. `pause`, when set, is awaited before
    each call is answered: a test decides when an answer comes.
    """

    def __init__(
        self, clock: Clock | None = None, limits: Limits | None = None, prefix: str = ""
    ) -> None:
        super().__init__(clock or ManualClock())
        self.meter = Meter(limits or Limits())
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.pause: Callable[[str, str], Awaitable[None]] | None = None
        self.prefix = prefix
        self._routes = [(route, _compiled(route.template)) for route in ROUTES]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _read(receive)
        path = scope["path"]
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        query = scope["query_string"].decode()
        response = await self.answer(scope["method"], path, query, headers, body)
        if response.status == 0:
            await send({"type": "http.response.start", "status": 200, "headers": _UNFINISHED})
            raise Broken(f"{scope['method']} {path}")
        await _send(send, response)

    async def answer(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """What GitHub says; status 0 is nothing. Names of headers are in lower case."""
        path = path.removeprefix(self.prefix)
        if self.pause is not None:
            await self.pause(method, path)
        fault = next((one for one in self.faults if one.fits(method, path)), None)
        if fault is not None and not fault.after:
            call = Call(method, path, fault.status, query)
            response = self._failed(fault)
        else:
            response, call = self._answered(method, path, query, headers, body)
        if fault is not None and fault.after:
            response = self._failed(fault)
        self.calls.append(replace(call, status=response.status, answer=response.body))
        date = {"date": format_datetime(self.clock.now(), usegmt=True)}
        return replace(response, headers={**date, **response.headers})

    def writes(self, path: str = "") -> list[Call]:
        """The calls that changed something, with `path` in their path."""
        wanted = ("POST", "PATCH", "DELETE")
        return [
            one
            for one in self.calls
            if one.method in wanted and path in one.path and 200 <= one.status < 300
        ]

    def _failed(self, fault: Fault) -> Response:
        fault.times -= 1
        return Response(fault.status, {"message": fault.message}, fault.headers)

    def _answered(
        self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Response, Call]:
        call = Call(method, path, 0, query, _parsed(body))
        try:
            who = actor(self, headers.get("authorization", ""))
            call = replace(call, account=who.account)
            moved = self._moved(path)
            if moved is not None:
                return moved, call
            refused = self.meter.refusal(who.account, self.clock.now(), writes=method != "GET")
            if refused is not None:
                status, limits, message = refused
                return Response(status, {"message": message}, limits), call
            route, parts = self._route(method, path)
            call = replace(call, needed=tuple(route.needs))
            check_permission(who, route.needs)
            content = call.body if isinstance(call.body, dict) else {}
            request = Request(method, path, dict(parse_qsl(query)), content, who, parts)
            response = route.answer(self, request)
            limits = self.meter.headers(who.account, self.clock.now())
            return replace(response, headers={**limits, **response.headers}), call
        except Refused as refusal:
            return _refused(refusal), call

    def _route(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        for route, pattern in self._routes:
            match = pattern.fullmatch(path)
            if match and route.method == method:
                return route, match.groupdict()
        raise Refused(404, "Not Found")

    def _moved(self, path: str) -> Response | None:
        match = re.match(r"/repos/([^/]+/[^/]+)(/.*)?$", path)
        repo = self.moved.get(match[1].lower()) if match else None
        if match is None or repo is None:
            return None
        url = f"{API}{self.prefix}/repos/{repo.full_name}{match[2] or ''}"
        return Response(301, {"message": "Moved Permanently", "url": url}, {"location": url})


class _Server(uvicorn.Server):
    """Signals are the test's matter."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(fake: FakeGithub) -> AsyncIterator[str]:
    """Serves the fake on a port of this machine; yields the address of its API."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(fake, log_config=None, access_log=False, lifespan="off")
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}{fake.prefix}"
    finally:
        server.should_exit = True
        await serving
        listener.close()


def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(_PATTERN.sub(r"(?P<\1>[^/]+)", re.escape(template)))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


def _refused(refusal: Refused) -> Response:
    body: dict[str, Any] = {
        "message": refusal.message,
        "documentation_url": "https://docs.github.com/rest",
    }
    if refusal.errors:
        body["errors"] = list(refusal.errors)
    return Response(refusal.status, body, refusal.headers)


async def _read(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body)


async def _send(send: Send, response: Response) -> None:
    named = {"content-type": "application/json; charset=utf-8", **response.headers}
    pairs = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": pairs})
    await send({"type": "http.response.body", "body": response.content})
