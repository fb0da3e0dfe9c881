"""Lists of runs: newest first, page by page; those that only plan for those who ask for them."""

from datetime import datetime
from typing import Any

from foretell.testing.terraform_cloud import documents
from foretell.testing.terraform_cloud.reply import Asked, Reply
from foretell.testing.terraform_cloud.world import Run

_PAGE = 20
_LARGEST_PAGE = 100


def listed(call: Asked, runs: list[Run], now: datetime, *, totals: bool = True) -> Reply:
    """The page that was asked for; an organization's list has no `totals`."""
    shown = [documents.run(each, now) for each in reversed(runs) if _wanted(each, call, now)]
    number = int(call.query.get("page[number]", "1"))
    size = min(int(call.query.get("page[size]", str(_PAGE))), _LARGEST_PAGE)
    more = number * size < len(shown)
    pagination: dict[str, Any] = {
        "current-page": number,
        "page-size": size,
        "prev-page": number - 1 or None,
        "next-page": number + 1 if more else None,
    }
    if totals:
        pagination |= {"total-pages": -(-len(shown) // size), "total-count": len(shown)}
    page = shown[(number - 1) * size : number * size]
    return Reply.document(200, {"data": page, "meta": {"pagination": pagination}})


def _wanted(run: Run, call: Asked, now: datetime) -> bool:
    asked = call.query
    plan_only = bool(run.attributes.get("plan-only", run.configuration.speculative))
    operation = "plan_only" if plan_only else "plan_and_apply"
    wanted = asked.get("filter[operation]", "plan_and_apply").split(",")
    statuses = asked.get("filter[status]", "")
    return (
        operation in wanted
        and (not statuses or run.status(now) in statuses.split(","))
        and asked.get("search[basic]", "") in f"{run.id} {run.message}"
    )
