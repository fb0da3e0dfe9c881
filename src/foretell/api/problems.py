"""Every error as a problem document (RFC 9457), the same members for all of them.

No text of ours that may name what stands behind us is shown: of an unexpected error only an id,
of a store that is away only that it is.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from foretell.domain.errors import (
    Conflict,
    Forbidden,
    ForetellError,
    IllegalTransition,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
_TYPE = "urn:foretell:problem:"
_log = structlog.get_logger()

_STATUS: Mapping[type[ForetellError], tuple[int, str]] = {
    InvalidRequest: (422, "invalid-request"),
    NotFound: (404, "not-found"),
    Forbidden: (403, "forbidden"),
    Conflict: (409, "conflict"),
    RateLimited: (429, "rate-limited"),
    Unavailable: (503, "unavailable"),
    IllegalTransition: (409, "illegal-transition"),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What a problem document says. `errors` name each place; `id` is that of the log line."""

    status: int
    kind: str
    detail: str
    errors: Sequence[Problem] = ()
    id: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The members of RFC 9457, and `errors` and `id` where there are any."""
        document: dict[str, Any] = {
            "type": f"{_TYPE}{self.kind}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [
                {"where": one.where, "field": one.field, "message": one.message}
                for one in self.errors
            ]
        if self.id:
            document["id"] = self.id
        return document

    def response(self) -> Response:
        """As it is sent."""
        return Response(
            _dumped(self.document()),
            status_code=self.status,
            media_type=MEDIA_TYPE,
            headers=dict(self.headers),
        )


def _dumped(document: Mapping[str, Any]) -> bytes:
    # Not orjson: the texts may quote what came in, lone surrogates and all.
    return json.dumps(document, separators=(",", ":")).encode()


def install(app: FastAPI) -> None:
    """Make the application answer with problem documents, whatever raised."""
    app.add_exception_handler(ForetellError, _told)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _parameters)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, ForetellError)
    return failure_of(error).response()


def failure_of(error: ForetellError) -> Failure:
    """The failure that an error of the domain is to the caller."""
    if isinstance(error, Unavailable):
        _log.warning("request.unavailable", error=error.message)
        return Failure(
            503, "unavailable", "the service can't answer now; try again", headers=_retry()
        )
    for kind, (status, name) in _STATUS.items():
        if isinstance(error, kind):
            problems = error.problems if isinstance(error, InvalidRequest) else ()
            headers = _retry(error) if isinstance(error, RateLimited) else {}
            return Failure(status, name, error.message, problems, headers=headers)
    raise error


def _retry(error: RateLimited | None = None) -> dict[str, str]:
    seconds = RETRY_SECONDS if error is None else max(1, round(error.retry_after.total_seconds()))
    return {"Retry-After": str(seconds)}


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    detail = error.detail if error.detail != status.phrase else _DETAILS.get(status, status.phrase)
    name = status.name.lower().replace("_", "-")
    return Failure(int(status), name, detail, headers=error.headers or {}).response()


_DETAILS = {
    HTTPStatus.NOT_FOUND: "there is nothing at this address",
    HTTPStatus.METHOD_NOT_ALLOWED: "this address does not take this method",
}


async def _parameters(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = [
        Problem(str(one["loc"][0]), ".".join(map(str, one["loc"][1:])), one["msg"])
        for one in error.errors()
    ]
    names = ", ".join(problem.field for problem in problems)
    return Failure(422, "invalid-request", f"wrong parameters: {names}", problems).response()
