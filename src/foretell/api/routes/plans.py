"""Plans: ask for one, read it, stop it (RFC 0004 "API")."""

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Request, Response

from foretell.api.body import read_object, validated
from foretell.api.plans import (
    document_of,
    entry_document,
    find_deployment,
    find_plan,
    is_expired,
    json_response,
    plan_path,
    settled_within,
    uuid_of,
    with_etag,
)
from foretell.api.prefer import wait_seconds
from foretell.api.schemas.answers import READING, WRITING, answer, body_of, problems
from foretell.api.schemas.documents import PlanDocument, PlanPageDocument
from foretell.api.schemas.requests import NestedPlanBody, PlanBody, plan_model
from foretell.api.services import Services, services_of
from foretell.auth.door import Entrance, Planner, Viewer
from foretell.domain.errors import InvalidRequest, NotFound, Problem
from foretell.domain.plan import Plan, PlanId, PlanStatus
from foretell.domain.target import Deployment
from foretell.engine.cancel import cancel
from foretell.engine.submit import Submission, submit
from foretell.formats.document import DiffMode, encode
from foretell.ports import Tx

router = APIRouter(prefix="/v1/workspaces/{workspaceId}/deployments/{deploymentId}", tags=["plans"])

POLL_SECONDS = 2
PAGE = 20
LARGEST_PAGE = 100

DeploymentRef = Annotated[str, Path(alias="deploymentId", description="A UUID or a slug.")]
PlanRef = Annotated[str, Path(alias="planId")]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=255, description="The same key, the same plan."),
]
Diff = Annotated[DiffMode, Query(description="How much of the diffs is wanted.")]


@router.post(
    "/plan",
    operation_id="createPlan",
    summary="Plan a version that does not exist yet",
    responses={
        200: answer(PlanDocument, "The plan has ended.", "ETag"),
        202: answer(PlanDocument, "The plan is computing.", "Location", "Retry-After"),
        **problems(*WRITING, 429),
    },
    openapi_extra=body_of(PlanBody, NestedPlanBody),
)
async def create_plan(
    request: Request, deployment: DeploymentRef, door: Planner, key: Key = None
) -> Response:
    """Waits up to `Prefer: wait=N` seconds (5 by default, at most 30) for the plan to end.

    The body is taken as JSON whatever its content type says.
    """
    services = services_of(request)
    body = await read_object(request, any_type=True)
    async with services.store.begin() as tx:
        owner = await find_deployment(tx, door, deployment)
    plan = await _submitted(services, door, owner, body, key)
    waited = wait_seconds(request.headers.getlist("prefer"))
    plan = await settled_within(services, plan, waited)
    async with services.store.begin() as tx:
        document = await document_of(tx, services, plan, DiffMode.FULL)
    if plan.status is not PlanStatus.COMPUTING:
        return with_etag(document, None)
    path = plan_path(request.path_params["workspaceId"], deployment, plan.id)
    headers = {
        "Location": path,
        "Retry-After": str(POLL_SECONDS),
        "Preference-Applied": f"wait={waited}",
    }
    return json_response(document.body, 202, headers)


async def _submitted(
    services: Services,
    door: Entrance,
    owner: Deployment,
    body: dict[str, object],
    key: str | None,
) -> Plan:
    wanted = validated(body, plan_model(body)).request()
    return await submit(
        services.store,
        services.selectors,
        services.clock,
        services.ids,
        services.limits,
        Submission(door.workspace.id, owner.id, wanted, key),
    )


@router.get(
    "/plan/{planId}",
    operation_id="getPlan",
    summary="A plan as far as it has come",
    responses={
        200: answer(PlanDocument, "The plan.", "ETag"),
        304: {"description": "It is what `If-None-Match` names."},
        **problems(*READING),
    },
)
async def get_plan(
    request: Request,
    deployment: DeploymentRef,
    ref: PlanRef,
    door: Viewer,
    diff: Diff = DiffMode.FULL,
) -> Response:
    """404 once it has expired: an hour after it was made, or with its pull request."""
    services = services_of(request)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
        document = await document_of(tx, services, plan, diff)
    return with_etag(document, request.headers.get("if-none-match"))


@router.delete(
    "/plan/{planId}",
    operation_id="cancelPlan",
    summary="Stop a plan",
    responses={
        200: answer(PlanDocument, "The plan, failed as cancelled, or as it had ended before."),
        **problems(*READING),
    },
)
async def cancel_plan(
    request: Request, deployment: DeploymentRef, ref: PlanRef, door: Planner
) -> Response:
    """Remote runs are stopped and temporary objects removed; that is not waited for."""
    services = services_of(request)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
    stopped = await cancel(services.store, services.clock, plan.id)
    async with services.store.begin() as tx:
        document = await document_of(tx, services, stopped or plan, DiffMode.NONE)
    return json_response(document.body)


@router.get(
    "/plans",
    operation_id="listPlans",
    summary="The plans of a deployment, newest first",
    responses={200: answer(PlanPageDocument, "One page."), **problems(*READING)},
)
async def list_plans(
    request: Request,
    deployment: DeploymentRef,
    door: Viewer,
    cursor: Annotated[str, Query(description="`next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = PAGE,
) -> Response:
    """Without their targets; expired plans are not listed."""
    services = services_of(request)
    async with services.store.begin() as tx:
        owner = await find_deployment(tx, door, deployment)
        if cursor:
            await _check_cursor(tx, owner, cursor)
        found = await tx.list_plans(door.workspace.id, owner.id, cursor, limit + 1)
    page = found[:limit]
    now = services.clock.now()
    answered = {
        "plans": [entry_document(plan) for plan in page if not is_expired(plan, now)],
        "next": page[-1].id if len(found) > limit else None,
    }
    return json_response(encode(answered))


async def _check_cursor(tx: Tx, owner: Deployment, cursor: str) -> None:
    """A page after a plan that is gone would be empty, and look like the last one."""
    try:
        plan = await tx.plan(PlanId(uuid_of(cursor, "plan")))
    except NotFound:
        plan = None
    if plan is None or plan.deployment_id != owner.id:
        message = "expected `next` of a page; that plan is gone: begin with the first page again"
        raise InvalidRequest(message, [Problem("query", "cursor", message)])
