"""How long a caller is willing to wait: the `Prefer` header (RFC 7240)."""

import re
from collections.abc import Iterable

DEFAULT_WAIT_SECONDS = 5
MAX_WAIT_SECONDS = 30
"""Below the idle timeout of the usual load balancers, 60 s."""

_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?', re.IGNORECASE)
_ASYNC = re.compile(r"respond-async\s*(?:;.*)?", re.IGNORECASE)


def wait_seconds(headers: Iterable[str]) -> int:
    """Of `Prefer: wait=N`, at most 30; of `respond-async` alone 0; 5 where nothing is said.

    What can't be read is passed over, as RFC 7240 section 2 asks.
    """
    preferences = [one.strip() for header in headers for one in header.split(",")]
    for preference in preferences:
        if found := _WAIT.fullmatch(preference):
            return min(int(found[1]), MAX_WAIT_SECONDS)
    return 0 if any(map(_ASYNC.fullmatch, preferences)) else DEFAULT_WAIT_SECONDS
