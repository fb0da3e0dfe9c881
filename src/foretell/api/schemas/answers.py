"""The answers that every route may give, for OpenAPI."""

from typing import Any

from pydantic import BaseModel

from foretell.api.schemas.documents import ProblemDocument

_PROBLEMS = {
    401: "No token, or one that is unknown, revoked or expired.",
    403: "The token's role does not allow this.",
    404: "No such thing, or not for this token.",
    409: "What is there contradicts the request.",
    413: "The body is over 5 MB.",
    415: "The body is of a type that is not taken.",
    422: "The request is wrong; `errors` names each field.",
    429: "A limit is reached; `Retry-After` says when to try again.",
    503: "Something we stand on is away; `Retry-After` says when to try again.",
}
READING = (401, 403, 404, 422, 503)
WRITING = (401, 403, 404, 409, 413, 415, 422, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The entries of `responses` for these statuses."""
    schema = {"schema": {"$ref": f"#/components/schemas/{ProblemDocument.__name__}"}}
    return {
        status: {
            "description": _PROBLEMS[status],
            "content": {"application/problem+json": schema},
        }
        for status in statuses
    }


def answer(model: type[BaseModel], description: str, *headers: str) -> dict[str, Any]:
    """The entry of `responses` for one that went well."""
    return {
        "model": model,
        "description": description,
        "headers": {name: {"schema": {"type": "string"}} for name in headers},
    }


def body_of(*models: type[BaseModel], media: tuple[str, ...] = ("application/json",)) -> Any:
    """`openapi_extra` for a body that the route reads itself."""
    references = [{"$ref": f"#/components/schemas/{one.__name__}"} for one in models]
    schema = references[0] if len(references) == 1 else {"oneOf": references}
    content = {kind: {"schema": schema} for kind in media}
    return {"requestBody": {"required": True, "content": content}}
