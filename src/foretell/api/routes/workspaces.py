"""Workspaces: made by the instance's admin, renamed by their own."""

import re

from fastapi import APIRouter, Request, Response

from foretell.api.body import read_json
from foretell.api.items import as_uuid
from foretell.api.plans import json_response
from foretell.api.schemas.answers import WRITING, answer, body_of, problems
from foretell.api.schemas.documents import WorkspaceDocument
from foretell.api.schemas.requests import WorkspaceBody
from foretell.api.services import services_of
from foretell.auth.door import AnyAdmin, WorkspaceRef
from foretell.auth.roles import Caller, check_workspace
from foretell.domain.errors import Conflict, InvalidRequest, Problem
from foretell.domain.plan import WorkspaceId
from foretell.formats.document import encode
from foretell.inventory.identity import workspace_id
from foretell.ports import Tx, Workspace

router = APIRouter(prefix="/v1/workspaces", tags=["workspaces"])

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


@router.put(
    "/{workspaceId}",
    operation_id="putWorkspace",
    summary="Make a workspace, or rename one",
    responses={
        200: answer(WorkspaceDocument, "The workspace."),
        201: answer(WorkspaceDocument, "A new workspace."),
        **problems(*WRITING),
    },
    openapi_extra=body_of(WorkspaceBody),
)
async def put_workspace(request: Request, ref: WorkspaceRef, caller: AnyAdmin) -> Response:
    """Only the instance's admin makes one; for others one that is not there is 404."""
    services = services_of(request)
    body = await read_json(request, WorkspaceBody)
    try:
        async with services.store.begin() as tx:
            before = await _before(tx, ref, caller)
            after = _after(before, ref, body)
            await tx.put_workspace(after)
    except Conflict as error:
        raise Conflict("another workspace has that slug") from error
    document = {"id": after.id, "slug": after.slug, "name": after.name}
    return json_response(encode(document), 201 if before is None else 200)


async def _before(tx: Tx, ref: str, caller: Caller) -> Workspace | None:
    found = await tx.workspace(ref)
    if found is None and caller.workspace_id is None:
        return None
    return check_workspace(caller, found, ref)


def _after(before: Workspace | None, ref: str, body: WorkspaceBody) -> Workspace:
    if before is not None:
        return Workspace(before.id, body.slug or before.slug, body.name or before.name)
    slug = body.slug or ref
    if slug != ref or not _SLUG.match(ref) or as_uuid(ref):
        message = "expected a slug: at most 63 lower-case letters, digits and hyphens, no UUID"
        raise InvalidRequest(message, [Problem("path", "workspaceId", message)])
    return Workspace(WorkspaceId(workspace_id(slug)), slug, body.name or slug)
