"""When to show how far a plan has come: at once, then ever more seldom.

A job that waits is not put off by a later one, so many targets that settle make one update. The
pace slows down with the plan's age: half an hour is some seven updates, and a burst of pull
requests leaves room for the final states under the limits of whoever shows them.
"""

from datetime import datetime, timedelta

from foretell.domain.plan import Plan
from foretell.ports import Job, Step

FIRST = timedelta(seconds=2)
"""After the targets are known: a plan that is done sooner is shown once, and done."""
SOONEST = timedelta(seconds=10)


def first_report(plan: Plan) -> list[Job]:
    """That it was begun; nothing for a plan that is shown nowhere."""
    return [Job(Step.REPORT, plan.id)] if plan.request.github else []


def progress_report(plan: Plan, now: datetime) -> list[Job]:
    """The next update; nothing for a plan that is shown nowhere."""
    if plan.request.github is None:
        return []
    if plan.fanned_out_at is None:
        return [Job(Step.REPORT, plan.id, after=FIRST)]
    return [Job(Step.REPORT, plan.id, after=max(2 * (now - plan.created_at), SOONEST))]
