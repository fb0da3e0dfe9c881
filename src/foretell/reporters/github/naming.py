"""Names of checks: what people see in the list, and what tells us which target is meant."""

from collections.abc import Sequence

from foretell.domain.digest import digest
from foretell.domain.plan import PlanRequest
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import PlanReport
from foretell.formats.markdown import NAME_LIMIT, distinct_places, short

_DIGITS = 8


def external_id(report: PlanReport, row: TargetRollup | None, request: PlanRequest) -> str:
    """`DEPLOYMENT/ENVIRONMENT/RESOURCE`; of the check for all `DEPLOYMENT`, and its scope if any.

    All are ids, which stay the same from plan to plan.
    """
    if row is not None:
        target = row.target
        return f"{report.deployment_id}/{target.environment_id}/{target.resource_id}"
    scope = _scope(request)
    return f"{report.deployment_id}?{scope}" if scope else report.deployment_id


def names(
    prefix: str, report: PlanReport, *, with_deployment: bool
) -> Sequence[tuple[str, TargetRollup]]:
    """`foretell / production / us-east-1` for each target, all different."""
    first = [prefix, report.deployment_name] if with_deployment else [prefix]
    places = distinct_places(report.targets)
    return [
        (short(" / ".join([*first, place]), NAME_LIMIT), row)
        for place, row in zip(places, report.targets, strict=True)
    ]


def name_for_all(prefix: str, report: PlanReport, request: PlanRequest) -> str:
    """`foretell / api`: one check for all of a deployment's targets."""
    scope = _scope(request)
    scoped = f" ({scope})" if scope else ""
    return short(f"{prefix} / {report.deployment_name}{scoped}", NAME_LIMIT)


def _scope(request: PlanRequest) -> str:
    if not request.environment_selector and not request.resource_selector:
        return ""
    found = digest("scope1", request.environment_selector, request.resource_selector)
    return found.partition(":")[2][:_DIGITS]
