"""Fields of GitHub's JSON by their path, each of the kind that its schema promises."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from foretell.domain.errors import InvalidRequest, Problem

_WORD = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
_SHA = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\Z")


def at(value: Any, path: str) -> Any:
    """What is at `a.b.c`, None where there is nothing."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def text(value: Any, path: str) -> str:
    """A text; raises InvalidRequest that names the path, as all of these do."""
    found = at(value, path)
    if not isinstance(found, str):
        raise _wrong(path, "a text")
    return found


def number(value: Any, path: str) -> int:
    """A number of GitHub's: from 1 up."""
    found = at(value, path)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise _wrong(path, "a number from 1 up")
    return found


def flag(value: Any, path: str) -> bool:
    """True or false; absent is false."""
    found = at(value, path)
    if found is not None and not isinstance(found, bool):
        raise _wrong(path, "true or false")
    return found is True


def time(value: Any, path: str) -> datetime:
    """A time with its offset (RFC 3339)."""
    try:
        found = datetime.fromisoformat(text(value, path))
    except ValueError:
        raise _wrong(path, "a time such as 2026-01-31T09:00:00Z") from None
    if found.tzinfo is None:
        raise _wrong(path, "a time with its offset")
    return found


def word(value: Any, path: str) -> str:
    """The name of an owner or a repository."""
    found = text(value, path)
    if not _WORD.match(found):
        raise _wrong(path, "letters, digits and . _ -")
    return found


def host(value: Any, path: str) -> str:
    """The host of an address, in lower case."""
    try:
        found = urlsplit(text(value, path)).hostname
    except ValueError:
        found = None
    if not found:
        raise _wrong(path, "an address such as https://github.com/acme/shop")
    return found.lower()


def sha(value: Any, path: str) -> str:
    """The whole name of a commit."""
    found = text(value, path)
    if not _SHA.match(found):
        raise _wrong(path, "40 or 64 hexadecimal digits")
    return found


def _wrong(path: str, expected: str) -> InvalidRequest:
    # Never the value: it is somebody else's text, and no reader needs it to find the place.
    message = f"expected {expected}"
    return InvalidRequest(f"{path}: {message}", [Problem("body", path, message)])
