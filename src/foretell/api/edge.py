"""The outermost layer: each request has an id, a log line, a metric and an answer."""

import time
import traceback
from collections.abc import Callable

import structlog
from prometheus_client import Counter, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foretell.api.problems import Failure

_REQUESTS = Counter(
    "foretell_http_requests", "Requests by route, method and status.", ["route", "method", "status"]
)
_SECONDS = Histogram(
    "foretell_http_request_seconds", "Time to the last byte, by route.", ["route", "method"]
)
_OWN_HEADERS = ((b"x-content-type-options", b"nosniff"),)
_UNKNOWN = "unknown"
_log = structlog.get_logger()


class Edge:
    """ASGI middleware; its log lines hold ids, a path and a status, never a header or a body."""

    def __init__(self, app: ASGIApp, new_id: Callable[[], str]) -> None:
        self._app = app
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, whatever becomes of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, self._new_id())
        with structlog.contextvars.bound_contextvars(request=answer.id):
            began = time.perf_counter()
            try:
                await self._app(scope, receive, answer.send)
            except Exception as error:
                await _fail(scope, receive, answer, error)
            finally:
                _note(scope, answer.status, time.perf_counter() - began)


class _Answer:
    """What was sent so far; each answer bears the request's id."""

    def __init__(self, send: Send, id: str) -> None:
        self.id = id
        self.status = 0
        self._send = send

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [*_OWN_HEADERS, (b"x-request-id", self.id.encode())]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await self._send(message)


async def _fail(scope: Scope, receive: Receive, answer: _Answer, error: Exception) -> None:
    # Where it broke, not what it said: the text of an unknown error may hold anything.
    frames = traceback.extract_tb(error.__traceback__)
    _log.error(
        "request.failed",
        error=type(error).__name__,
        frames=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-15:]],
    )
    if answer.status:
        # Half an answer can't be taken back: the server breaks the connection off.
        raise ConnectionAbortedError("the answer broke off") from None
    detail = "this is a bug of the server; its log has more under the id"
    failure = Failure(500, "internal", detail, id=answer.id)
    await failure.response()(scope, receive, answer.send)


def _note(scope: Scope, status: int, seconds: float) -> None:
    # The route's template, not the path: a path has no bound on its values.
    route = getattr(scope.get("route"), "path", _UNKNOWN)
    method = scope["method"] if route != _UNKNOWN else _UNKNOWN
    _REQUESTS.labels(route, method, status).inc()
    _SECONDS.labels(route, method).observe(seconds)
    _log.info(
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        seconds=round(seconds, 4),
    )
