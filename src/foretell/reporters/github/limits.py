"""When GitHub wants to be left alone, and for how long.

GitHub REST docs, "Rate limits for the REST API" and "Best practices for using the REST API".
"""

from datetime import UTC, datetime, timedelta

from foretell.kit.http import Answer

READS_PER_SECOND = 10.0
"""900 points a minute and account, a read being one: below that, with room for others."""
WRITES_PER_SECOND = 1.0
"""80 writes a minute and account create content; and "wait at least one second between each"."""
WRITE_BURST = 10
READ_BURST = 30
UNSAID = timedelta(minutes=1)
"""The shortest wait after a secondary limit whose answer names no time."""
_LONGEST = timedelta(hours=1)


def wait_asked(answer: Answer, now: datetime) -> timedelta | None:
    """How long GitHub asks us to wait, None where its answer is no limit.

    A 403 is a limit only where it says so: without the permission it is one too.
    """
    if answer.status not in (403, 429):
        return None
    asked = answer.headers.get("retry-after", "")
    if asked.isdecimal():
        return _bounded(timedelta(seconds=int(asked)))
    if answer.headers.get("x-ratelimit-remaining") == "0":
        return _bounded(_until(answer.headers.get("x-ratelimit-reset", ""), now))
    text = answer.text().lower()
    if answer.status == 429 or "rate limit" in text or "abuse detection" in text:
        return UNSAID
    return None


def _until(reset: str, now: datetime) -> timedelta:
    if not reset.isdecimal():
        return UNSAID
    # A second more: the reset is given in whole ones.
    return datetime.fromtimestamp(int(reset), UTC) - now + timedelta(seconds=1)


def _bounded(wait: timedelta) -> timedelta:
    return min(max(wait, timedelta(seconds=1)), _LONGEST)
