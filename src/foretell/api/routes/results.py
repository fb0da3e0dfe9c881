"""Parts of a plan: the stream of its events, and one kind with its texts."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.responses import StreamingResponse

from foretell.api.events import END, follow
from foretell.api.plans import find_plan, uuid_of, with_etag
from foretell.api.ready import made_ready
from foretell.api.routes.plans import DeploymentRef, Diff, PlanRef
from foretell.api.schemas.answers import READING, answer, problems
from foretell.api.schemas.documents import ResultTextsDocument
from foretell.api.schemas.verdicts import PolicyInputDocument
from foretell.api.services import services_of
from foretell.auth.door import Viewer
from foretell.domain.errors import Conflict, InvalidRequest, NotFound
from foretell.domain.plan import ResultId
from foretell.domain.result import KindResult, Status
from foretell.formats.document import DiffMode, encode
from foretell.formats.parsed import policy_input

router = APIRouter(
    prefix="/v1/workspaces/{workspaceId}/deployments/{deploymentId}/plan/{planId}", tags=["plans"]
)

EVENT_STREAM = "text/event-stream"
_STREAMED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""The second keeps nginx from collecting events before it passes them on."""


@router.get(
    "/events",
    operation_id="followPlan",
    summary="A plan as it comes, by server-sent events",
    responses={
        200: {
            "description": "`event: target` (a TargetDocument) for each settled target, then "
            "`event: summary` (an EndDocument), and the stream ends.",
            "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
        },
        204: {"description": "`Last-Event-ID` is that of the summary: nothing is left."},
        **problems(*READING),
    },
)
async def follow_plan(
    request: Request,
    deployment: DeploymentRef,
    ref: PlanRef,
    door: Viewer,
    diff: Diff = DiffMode.FULL,
    last: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
) -> Response:
    """Goes on after `Last-Event-ID`; a comment line every 15 seconds keeps it alive."""
    services = services_of(request)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
    if last == END:
        return Response(status_code=204)
    stream = follow(services, plan, diff, last)
    return StreamingResponse(stream.events(), media_type=EVENT_STREAM, headers=_STREAMED)


@router.get(
    "/invocations/{invocationId}/policy-input",
    operation_id="getPolicyInput",
    summary="What the rules see of one agent on one target",
    responses={
        200: answer(PolicyInputDocument, "The document, redacted.", "ETag"),
        304: {"description": "It is what `If-None-Match` names."},
        **problems(*READING, 409),
    },
)
async def get_policy_input(
    request: Request,
    deployment: DeploymentRef,
    ref: PlanRef,
    invocation: Annotated[
        str,
        Path(alias="invocationId", description="`agents[].id` of a target, or a result's id."),
    ],
    door: Viewer,
) -> Response:
    """As docs/reference/policy-input.md says; 409 where no rule could be asked, with the cause."""
    services = services_of(request)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
        work = await tx.judged(plan.id, uuid_of(invocation, "invocation"))
    if work is None:
        raise NotFound(f"no invocation {invocation!r} of plan {ref!r} has answered")
    try:
        document = policy_input(work.context, work.results)
    except InvalidRequest as error:
        raise Conflict(error.message) from error
    return with_etag(made_ready(encode(document)), request.headers.get("if-none-match"))


@router.get(
    "/results/{resultId}",
    operation_id="getResult",
    summary="One kind of one target, with its two texts",
    responses={
        200: answer(ResultTextsDocument, "The result.", "ETag"),
        304: {"description": "It is what `If-None-Match` names."},
        **problems(*READING),
    },
)
async def get_result(
    request: Request,
    deployment: DeploymentRef,
    ref: PlanRef,
    result: Annotated[str, Path(alias="resultId")],
    door: Viewer,
) -> Response:
    """`current` and `proposed` are redacted, like every text that is stored."""
    services = services_of(request)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
        found = await tx.result(plan.id, ResultId(uuid_of(result, "result")))
    if found is None:
        raise NotFound(f"there is no result {result!r} in plan {ref!r}")
    document = _document(result, *found)
    return with_etag(made_ready(encode(document)), request.headers.get("if-none-match"))


def _document(id: str, status: Status, result: KindResult) -> dict[str, Any]:
    return {
        "id": id,
        "kind": result.kind,
        "status": status.value,
        "hasChanges": result.has_changes,
        "contentHash": result.content_hash,
        "current": result.current,
        "proposed": result.proposed,
        "diff": result.diff,
        "resources": [
            {
                "kind": change.kind,
                "name": change.name,
                "namespace": change.namespace,
                "apiVersion": change.api_version,
                "action": change.action.value,
                "before": change.before,
                "after": change.after,
                "diff": change.diff,
            }
            for change in result.resources
        ],
    }
