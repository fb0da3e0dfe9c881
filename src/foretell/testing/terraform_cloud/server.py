"""The fake on the wire: routes, records of every call, and the rules of the API."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from foretell.ports import Clock
from foretell.testing.terraform_cloud.limits import Break, Fault, Limit
from foretell.testing.terraform_cloud.reply import Reply
from foretell.testing.terraform_cloud.routes import Routes
from foretell.testing.terraform_cloud.world import (
    Access,
    Dialect,
    Organization,
    Run,
    Script,
    Workspace,
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ARCHIVE = "/_object/"
"""Where uploads, logs and plan output are: another host, that no token is sent to."""


@dataclass(frozen=True)
class Call:
    """One request and its answer, as they were on the wire."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    authorization: str = field(repr=False)
    content_type: str
    body: bytes = field(repr=False)
    status: int = 0
    answer: bytes = field(repr=False, default=b"")

    @property
    def document(self) -> Any:
        return json.loads(self.answer) if self.answer else None


class FakeTerraformCloud:
    """An ASGI application. `tokens` says what each may do; every call is kept in `calls`."""

    def __init__(
        self,
        clock: Clock,
        tokens: Mapping[str, Access],
        *,
        address: str = "https://app.terraform.io",
        archive_address: str = "https://archivist.terraform.io",
    ) -> None:
        self.clock = clock
        self.tokens = dict(tokens)
        self.address = address
        self.archive_address = archive_address
        self.dialect = Dialect()
        self.limit = Limit()
        self.lists = Limit(window=60.0)
        self.faults: list[Fault] = []
        self.calls: list[Call] = []
        self.organizations: dict[str, Organization] = {}
        self._routes = Routes(self)

    @property
    def runs(self) -> list[Run]:
        """In the order of their making."""
        return list(self._routes.runs.values())

    def add(self, organization: str, name: str, script: Script | None = None) -> Workspace:
        """A new workspace, whose runs go as `script` says."""
        place = self.organizations.setdefault(organization, Organization(organization))
        number = sum(len(each.workspaces) for each in self.organizations.values()) + 1
        made = Workspace(f"ws-{number:016d}", name, script or Script())
        place.workspaces[name] = made
        return made

    def seen(self, method: str, path: str = "") -> list[Call]:
        """The calls of that method whose path holds `path`."""
        return [each for each in self.calls if each.method == method and path in each.path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        call = await _call_of(scope, receive)
        reply = self._reply(call)
        self.calls.append(_answered(call, reply))
        headers = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    def _reply(self, call: Call) -> Reply:
        if call.path.startswith(ARCHIVE):
            return self._faulty(call, lambda: self._routes.archive(call))
        token = call.authorization.removeprefix("Bearer ")
        if token not in self.tokens:
            return Reply.failed(401, "unauthorized")
        over, headers = self.limit.headers(token)
        if call.path.endswith("/runs") and call.method == "GET" and not over:
            over = self.lists.headers(token)[0]
        if over:
            reply = Reply.failed(429, "rate limited")
        else:
            reply = self._faulty(call, lambda: self._routes.api(call, self.tokens[token]))
        return Reply(reply.status, reply.body, {**reply.headers, **headers})

    def _faulty(self, call: Call, answer: Callable[[], Reply]) -> Reply:
        fault = next((each for each in self.faults if each.hits(call.method, call.path)), None)
        match fault.how if fault else None:
            case None:
                return answer()
            case Break.BEFORE:
                self.calls.append(call)
                raise ConnectionResetError("the connection was closed")
            case Break.AFTER:
                self.calls.append(_answered(call, answer()))
                raise ConnectionResetError("the connection was closed before the answer")
            case Break.PAGE:
                return Reply(502, b"<html><body><h1>Bad Gateway</h1></body></html>", {})
            case int() as status:
                return Reply.failed(status, f"made to fail with {status}")


async def _call_of(scope: Scope, receive: Receive) -> Call:
    headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return Call(
        method=scope["method"],
        host=headers.get("host", ""),
        path=scope["path"],
        query=dict(parse_qsl(scope["query_string"].decode())),
        authorization=headers.get("authorization", ""),
        content_type=headers.get("content-type", ""),
        body=body,
    )


def _answered(call: Call, reply: Reply) -> Call:
    return Call(
        call.method,
        call.host,
        call.path,
        call.query,
        call.authorization,
        call.content_type,
        call.body,
        reply.status,
        reply.body,
    )
