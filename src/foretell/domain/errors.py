"""Every error that may cross a layer, and whose move it is.

ForetellError
├── InvalidRequest        the caller must change the request or the file      HTTP 422
├── NotFound              there is no such thing, or not for this caller      HTTP 404
├── Forbidden             the caller's role does not allow it                 HTTP 403
├── Conflict              it is there already, or somebody was faster         HTTP 409
├── RateLimited           wait `retry_after`, then ask again                  HTTP 429
├── Unavailable           something we stand on is away; retry helps          HTTP 503
├── IllegalTransition     a bug, or two writers raced                         HTTP 409
└── AgentError            one target could not be planned
    ├── AgentUnavailable  timeout, 5xx, lock: retried to the deadline, then "errored"
    └── AgentRejected     config, 4xx: retry does not help, "errored" at once

Adapters translate at their door and chain the cause. A message says what was attempted, on what,
what came back (trimmed, redacted) and what to do: it is shown to people as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta


class ForetellError(Exception):
    """The root: catch it where any of the leaves is an answer, never to go on silently."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with one place of the input.

    `where` is `file:line` or `body`; `field` is the path as the author wrote it
    (`deployments[0].variables[1].key`), "" for the whole.
    """

    where: str
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.field}: {self.message}" if self.field else f"{place}{self.message}"


class InvalidRequest(ForetellError):
    """The caller must change what it sent; `problems` names each place."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {problem}" for problem in self.problems)])


class NotFound(ForetellError):
    """No such thing; a thing of another workspace is not told apart from none."""


class Forbidden(ForetellError):
    """The caller is known and its role does not allow this."""


class Conflict(ForetellError):
    """What is there already contradicts the request."""


class RateLimited(ForetellError):
    """A limit is reached; asking again after `retry_after` may succeed."""

    def __init__(self, message: str, retry_after: timedelta) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(ForetellError):
    """A store, a queue or a program that we stand on is away for now."""


class IllegalTransition(ForetellError):
    """A move that the state machine does not know: a bug, or two writers raced."""


class AgentError(ForetellError):
    """One target could not be planned; the others go on.

    `reason` is a word of the target's `reason` field (`timeout`, `rejected`, `unavailable`,
    `conflict`, …).
    """

    reason = "rejected"

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        if reason is not None:
            self.reason = reason


class AgentUnavailable(AgentError):
    """Asking again helps; `retry_after` when the other side named a time."""

    reason = "unavailable"

    def __init__(
        self, message: str, *, reason: str | None = None, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(message, reason=reason)
        self.retry_after = retry_after


class AgentRejected(AgentError):
    """Asking again gives the same answer."""
