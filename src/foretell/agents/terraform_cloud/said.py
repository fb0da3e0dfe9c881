"""What an answer that is no success says, for people: three shapes of errors, and none at all."""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from foretell.domain.errors import AgentError, AgentRejected, AgentUnavailable
from foretell.kit.http import Answer
from foretell.kit.scrub import scrub

_LONGEST: Final = 300
_TAG: Final = re.compile(r"<[^>]{0,500}>")

BAD_TOKEN: Final = (
    "the token was refused (401): it is wrong, expired or revoked; make a new user or team token "
    "and put it where the reference `token` points"
)
HIDDEN_OR_ABSENT: Final = (
    "not found, or no permission: HCP Terraform answers 404 for both, and where the organization's "
    "plan does not include it"
)
MAY_NOT_PLAN: Final = (
    "the workspace was found but a run can't be made in it: the token needs the permission to "
    "queue plans there, and it may not be an organization's token (those can't start runs): use a "
    "team's or a user's"
)


def said(answer: Answer) -> str:
    """The server's own words: JSON:API errors, a list of texts, or the text of a page."""
    try:
        document = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return _page(answer)
    errors = document.get("errors") if isinstance(document, dict) else None
    words = "; ".join(_error(each) for each in errors) if isinstance(errors, list) else ""
    return scrub(words)[:_LONGEST] or f"status {answer.status}"


def _error(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    return " ".join(_parts(error))


def _parts(error: dict[str, Any]) -> Iterator[str]:
    title, detail = error.get("title"), error.get("detail")
    yield ": ".join(str(part) for part in (title, detail) if part) or "no reason given"
    source = error.get("source")
    if isinstance(source, dict) and source.get("pointer"):
        yield f"({source['pointer']})"


def _page(answer: Answer) -> str:
    text = " ".join(_TAG.sub(" ", answer.text()).split())
    if not text:
        return f"status {answer.status}"
    return f"no answer of the API but a page (is a proxy between?): {text[:_LONGEST]}"


def failure(answer: Answer, attempted: str, hint: str = "") -> AgentError:
    """The error to raise for an answer nobody expected; `hint` is what to do about a 404."""
    match answer.status:
        case 401:
            return AgentRejected(f"{attempted}: {BAD_TOKEN}")
        case 404:
            return AgentRejected(f"{attempted}: {hint or HIDDEN_OR_ABSENT}")
        case 403:
            return AgentRejected(f"{attempted}: not allowed with this token: {said(answer)}")
        case status if status >= 500 or status in (408, 425):
            return AgentUnavailable(f"{attempted}: {said(answer)} ({status})")
        case status:
            return AgentRejected(f"{attempted}: {said(answer)} ({status})")
