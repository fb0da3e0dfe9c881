"""What the server's refusals mean: whose move it is, and whether asking again helps."""

import re
from collections.abc import Callable
from typing import Any

from foretell.domain.errors import (
    Conflict,
    Forbidden,
    ForetellError,
    InvalidRequest,
    NotFound,
    Unavailable,
)
from foretell.kit.http import Answer
from foretell.kit.scrub import tail

CACHED = "(cached)"
"""In the message of an error that the renderer remembers and did not look into again."""

_OVERLOAD = frozenset({429, 502, 503, 504})
_NESTED_OVERLOAD = re.compile(r"code = (?:Unavailable|ResourceExhausted|DeadlineExceeded)\b")
_MEANING: dict[int, type[ForetellError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}


def is_overload(answer: Answer) -> bool:
    """Whether the server, or the renderer behind it, is away or has too much to do for now.

    Argo CD reports some of its renderer's refusals as an error of its own (500) that quotes them.
    """
    if answer.status in _OVERLOAD:
        return True
    return answer.status == 500 and _NESTED_OVERLOAD.search(_message(answer)) is not None


def refusal(call: str, answer: Answer, masked: Callable[[str], str]) -> ForetellError:
    """The error for an answer that is none; `masked` takes secrets out of what the server said."""
    told = f"{call.partition('?')[0]}: {answer.status}: {masked(tail(_message(answer)))}"
    if is_overload(answer):
        return Unavailable(f"Argo CD is away or overloaded: {told}")
    if answer.status == 401:
        return Forbidden(f"Argo CD does not accept the apiKey: {told}")
    return _MEANING.get(answer.status, InvalidRequest)(f"Argo CD refused {told}")


def _message(answer: Answer) -> str:
    """The gateway's own message, else the body: proxies answer in pages."""
    try:
        body: Any = answer.json()
    except InvalidRequest:
        return answer.text()
    if isinstance(body, dict):
        return str(body.get("message") or body.get("error") or answer.text())
    return answer.text()
