"""What GitHub allows an account in a time, and how it says no (its docs, "Rate limits")."""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls an hour, and calls a minute that write; the defaults are GitHub's."""

    calls_per_hour: int = 5000
    writes_per_minute: int = 80


class Meter:
    """Counts an account's calls by the fake's clock."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._calls: dict[str, deque[datetime]] = defaultdict(deque)
        self._writes: dict[str, deque[datetime]] = defaultdict(deque)

    def refusal(
        self, account: str, now: datetime, *, writes: bool
    ) -> tuple[int, Mapping[str, str], str] | None:
        """The status, headers and message of a call too many, or None for one that is counted."""
        calls, written = self._calls[account], self._writes[account]
        _forget(calls, now - _HOUR)
        _forget(written, now - _MINUTE)
        if len(calls) >= self.limits.calls_per_hour:
            return 403, self.headers(account, now), f"API rate limit exceeded for {account}."
        if writes and len(written) >= self.limits.writes_per_minute:
            wait = written[0] + _MINUTE - now
            asked = {"retry-after": str(int(wait.total_seconds()) + 1)}
            return 403, {**self.headers(account, now), **asked}, _SECONDARY
        calls.append(now)
        if writes:
            written.append(now)
        return None

    def headers(self, account: str, now: datetime) -> dict[str, str]:
        """What every answer says of the hourly limit."""
        calls = self._calls[account]
        reset = (calls[0] if calls else now) + _HOUR
        used = len(calls)
        return {
            "x-ratelimit-limit": str(self.limits.calls_per_hour),
            "x-ratelimit-remaining": str(max(self.limits.calls_per_hour - used, 0)),
            "x-ratelimit-used": str(used),
            "x-ratelimit-reset": str(int(reset.timestamp())),
            "x-ratelimit-resource": "core",
        }


def _forget(times: deque[datetime], before: datetime) -> None:
    while times and times[0] <= before:
        times.popleft()
