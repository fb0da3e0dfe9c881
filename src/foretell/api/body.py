"""Bodies in: bounded before they are parsed, and every wrong field is named."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from pydantic import BaseModel, ValidationError

from foretell.domain.errors import InvalidRequest, Problem
from foretell.inventory.wording import complaints

MAX_BYTES = 5_000_000
"""Room for an inventory of 10,000 resources."""
MAX_DEPTH = 60
"""As deep as an inventory file may be nested."""

M = TypeVar("M", bound=BaseModel)

_JSON = {"", "application/json", "application/x-www-form-urlencoded"}
"""No type, and that which `curl -d` claims: RFC 0004's own example sends JSON under it."""


async def read_body(request: Request) -> bytes:
    """The body. 413 over 5 MB, without reading further; 415 for one that is packed."""
    return b"".join([chunk async for chunk in body_chunks(request, MAX_BYTES)])


async def body_chunks(request: Request, at_most: int) -> AsyncIterator[bytes]:
    """The body as it comes. 413 over `at_most` bytes, 415 for one that is packed."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise HTTPException(415, "send the body as it is, without a Content-Encoding")
    claimed = request.headers.get("content-length", "")
    _check_length(int(claimed) if claimed.isdecimal() else 0, at_most)
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        _check_length(size, at_most)
        yield chunk


def _check_length(size: int, at_most: int) -> None:
    if size > at_most:
        raise HTTPException(413, f"a body has at most {at_most:,} bytes")


def media_type(request: Request) -> str:
    """The body's type without its parameters, "" when none is given."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request, model: type[M], *, any_type: bool = False) -> M:
    """The body as `model`; `any_type`: whatever the content type claims.

    Raises InvalidRequest whose problems name each field.
    """
    return validated(await read_object(request, any_type=any_type), model)


async def read_object(request: Request, *, any_type: bool = False) -> dict[str, Any]:
    """The body's JSON object, bounded in depth."""
    kind = media_type(request)
    if not any_type and kind not in _JSON and not kind.endswith("+json"):
        raise HTTPException(415, f"expected a body of type application/json, not {kind}")
    return parsed_object(await read_body(request))


def parsed_object(body: bytes) -> dict[str, Any]:
    """A JSON object; raises InvalidRequest that says at which line and column it is none."""
    try:
        value = json.loads(
            body.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise _wrong(f"is not UTF-8 text (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise _wrong(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise _wrong(f"is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise _wrong(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _wrong("is not a JSON object")
    _check_depth(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _wrong(f"has the key {twice!r} twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _wrong(message: str) -> InvalidRequest:
    return InvalidRequest(f"the body {message}", [Problem("body", "", message)])


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise _wrong(f"is nested deeper than {MAX_DEPTH} levels")
        level = [inner for outer in level for inner in _members(outer)]
        depth += 1


def _members(value: Any) -> list[Any]:
    members = value.values() if isinstance(value, dict) else value
    return [one for one in members if isinstance(one, dict | list)]


def validated(value: Mapping[str, Any], model: type[M]) -> M:
    """`value` as `model`; raises InvalidRequest whose problems name each field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = [Problem("body", each.field, each.message) for each in complaints(error, model)]
        names = ", ".join(problem.field or "the whole" for problem in found)
        raise InvalidRequest(f"the body is wrong in: {names}", found) from error
