"""How fast a server may be asked with one token: one budget for all workers, as the server says.

HCP Terraform counts 30 requests a second for a user, not for a token's process or a workspace.
"""

from datetime import timedelta
from typing import Final

from foretell.kit.http import Answer
from foretell.ports import Budget

ADVERTISED: Final = 30.0
"""Requests a second (HCP Terraform, "API rate limiting"); until an answer says otherwise."""
_SHARE: Final = 0.97
"""A little under the limit: two clocks never agree on where a second begins."""
_FASTEST: Final = 200.0
"""Where the server says that it has no limit (Terraform Enterprise can be set so)."""
_LISTS_PER_SECOND: Final = 0.5
"""Lists of runs: 30 a minute (HCP Terraform, "List runs in a workspace")."""
_LONGEST_HOLD: Final = timedelta(minutes=5)
_SHORTEST_HOLD: Final = timedelta(milliseconds=50)
TOO_MANY: Final = 429


class Pace:
    """The turns of one host with one token, which `token_id` tells from others.

    The name of the budget is stored, so the token itself has no place in it.
    """

    def __init__(self, budget: Budget, host: str, token_id: str) -> None:
        name = f"{host}:{token_id}"
        self._budget = budget
        self.name = f"tfc:{name}"
        self._lists = f"tfc-lists:{name}"
        self.per_second = ADVERTISED * _SHARE

    async def turn(self, *, listing: bool = False) -> None:
        """Returns when a call may be made; `listing` for one of the lists of runs."""
        if listing:
            await self._budget.take(self._lists, per_second=_LISTS_PER_SECOND, burst=5)
        await self._budget.take(self.name, per_second=self.per_second)

    async def learn(self, answer: Answer) -> timedelta:
        """Takes the limit from the answer's headers; how long nobody may ask, 0 for not at all.

        `X-RateLimit-Limit` 0 means no limit, and `X-RateLimit-Reset` is in seconds with a
        fraction. `Retry-After` is not always there.
        """
        limit = _number(answer, "x-ratelimit-limit")
        if limit is not None:
            self.per_second = max(limit, 1.0) * _SHARE if limit > 0 else _FASTEST
        wait_for = _asked_to_wait(answer)
        if wait_for:
            await self._budget.hold(self.name, wait_for)
        return wait_for


def _asked_to_wait(answer: Answer) -> timedelta:
    reset = _number(answer, "x-ratelimit-reset")
    if answer.status == TOO_MANY:
        asked = _number(answer, "retry-after")
        seconds = max((each for each in (asked, reset) if each is not None), default=1.0)
        return min(max(timedelta(seconds=seconds), _SHORTEST_HOLD), _LONGEST_HOLD)
    if _number(answer, "x-ratelimit-remaining") == 0 and _number(answer, "x-ratelimit-limit"):
        return min(timedelta(seconds=reset or 0.0), _LONGEST_HOLD)
    return timedelta(0)


def _number(answer: Answer, header: str) -> float | None:
    try:
        value = float(answer.headers[header])
    except (KeyError, ValueError):
        return None
    return value if 0 <= value < 1e6 else None
