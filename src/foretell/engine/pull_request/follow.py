"""The step: what came in about one subject becomes plans, cancelled plans, or nothing."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from foretell.domain.errors import RateLimited, Unavailable
from foretell.engine.pull_request.again import plan_again
from foretell.engine.pull_request.headway import follow_head
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import CheckAsked, Moved
from foretell.ports import Delivery, Job, Step, Tx

MEMORY = timedelta(days=30)
"""How long a delivery is known: what is older than this is not taken at the door either."""
GIVE_UP_AFTER = timedelta(hours=1)
"""A plan that could not be asked for by then is no longer waited for: a push asks anew."""
_NEXT_TRY = timedelta(seconds=1)
_NOT_AT_ALL = timedelta(0)
_log = structlog.get_logger()


async def pull_request(tools: Tools, subject: str) -> None:
    """See to every delivery about `subject` that is not finished, in order and alone.

    Twice is once: until the commit that finishes them, the same deliveries ask for the same plans.
    Raises Unavailable to be called again.
    """
    now = tools.clock.now()
    async with tools.store.begin() as tx:
        if not await tx.hold(subject):
            await tx.enqueue([Job(Step.PULL_REQUEST, subject, _NEXT_TRY)])
            return
        deliveries = await tx.pending(subject)
        if not deliveries:
            return
        if wait_for := _unrest(tools, deliveries, now):
            await tx.enqueue([Job(Step.PULL_REQUEST, subject, wait_for)])
            return
        try:
            if not await _see_to(tools, tx, subject, deliveries):
                await tx.enqueue([Job(Step.PULL_REQUEST, subject, _NEXT_TRY)])
                return
        except (RateLimited, Unavailable) as error:
            if now - deliveries[0].received_at < GIVE_UP_AFTER:
                await _later(tx, subject, error)
                return
            _log.error("webhook.given_up", subject=subject, error=error.message)
        await tx.finish(deliveries)
        await tx.forget(now - MEMORY)


def _unrest(tools: Tools, deliveries: Sequence[Delivery], now: datetime) -> timedelta:
    """How long to wait for more pushes; for a person who asks, not at all."""
    if not all(isinstance(delivery.event, Moved) for delivery in deliveries):
        return _NOT_AT_ALL
    oldest, newest = now - deliveries[0].received_at, now - deliveries[-1].received_at
    # Another machine's clock took the time: a moment that is yet to come is no reason to wait.
    is_quiet = newest < _NOT_AT_ALL or newest >= tools.quiet_for
    return _NOT_AT_ALL if is_quiet or oldest >= tools.quiet_at_most else tools.quiet_for - newest


async def _later(tx: Tx, subject: str, error: RateLimited | Unavailable) -> None:
    """Try again when that was asked for; what is merely away is the queue's to try again."""
    if isinstance(error, Unavailable):
        raise error
    await tx.enqueue([Job(Step.PULL_REQUEST, subject, max(error.retry_after, _NEXT_TRY))])


async def _see_to(tools: Tools, tx: Tx, subject: str, deliveries: Sequence[Delivery]) -> bool:
    """A subject is a commit or a pull request: its events are all of one sort. False: later."""
    asks = [one.event for one in deliveries if isinstance(one.event, CheckAsked)]
    if len(asks) < len(deliveries):
        await follow_head(tools, tx, subject, deliveries)
    for ask in asks:
        # Several buttons pressed at once are one wish, so they have one cause.
        if not await plan_again(tools, tx, ask, deliveries[0].id):
            return False
    return True
