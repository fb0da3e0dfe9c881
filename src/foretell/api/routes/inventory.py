"""The inventory: its items one by one, or the whole as a file has it."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response

from foretell.api.body import media_type, read_body, read_json, read_object
from foretell.api.items import PARTS, Place, item_document
from foretell.api.plans import find_deployment, json_response
from foretell.api.routes.plans import DeploymentRef
from foretell.api.saving import save_inventory, save_item
from foretell.api.schemas.answers import READING, WRITING, answer, body_of, problems
from foretell.api.schemas.documents import InventoryChangesDocument, ItemDocument
from foretell.api.schemas.requests import CurrentBody
from foretell.api.services import services_of
from foretell.auth.door import Admin, Planner, Viewer
from foretell.domain.context import refuse_references
from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.plan import EnvironmentId, ResourceId
from foretell.formats.document import encode
from foretell.inventory.load.schema import InventoryPart
from foretell.ports import InventoryKind

router = APIRouter(prefix="/v1/workspaces/{workspaceId}", tags=["inventory"])

_YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
_TYPES = {"", "application/json", "application/x-www-form-urlencoded", "text/plain", *_YAML}
"""`curl --data-binary @file` claims to send a form."""

ItemRef = Annotated[
    str, Path(alias="itemId", description="A UUID; or the slug, identifier or name.")
]


@router.put(
    "/inventory",
    operation_id="putInventory",
    summary="Make the inventory that of a file",
    responses={
        200: answer(InventoryChangesDocument, "What changed, or would change."),
        **problems(*WRITING),
    },
    openapi_extra=body_of(InventoryPart, media=("application/yaml", "application/json")),
)
async def put_inventory(
    request: Request,
    door: Admin,
    dry_run: Annotated[bool, Query(alias="dryRun", description="Only say it.")] = False,
) -> Response:
    """Items that the file does not have are deleted, with their plans; the others keep their ids.

    Rules stand in the file as text (`rego`): there is no file beside it.
    """
    kind = media_type(request)
    if kind not in _TYPES:
        raise HTTPException(415, f"expected a body of type application/yaml, not {kind}")
    text = _text(await read_body(request))
    changes, warnings = await save_inventory(
        services_of(request), door.workspace, text, dry_run=dry_run
    )
    document = {
        "dryRun": dry_run,
        "changes": [
            {"kind": one.kind, "ref": one.ref, "action": one.action, "fields": one.fields}
            for one in changes
        ],
        "warnings": [
            {"where": one.where, "field": one.field, "message": one.message} for one in warnings
        ],
    }
    return json_response(encode(document))


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte {error.start})"
        raise InvalidRequest(f"the body {message}", [Problem("body", "", message)]) from error


@router.put(
    "/deployments/{deploymentId}/targets/{environment}/{resource:path}/current",
    operation_id="putCurrent",
    summary="Record what is deployed on a target now",
    status_code=204,
    response_class=Response,
    responses={**problems(*WRITING)},
    openapi_extra=body_of(CurrentBody),
)
async def put_current(
    request: Request,
    deployment: DeploymentRef,
    environment: Annotated[str, Path(description="A UUID or a name.")],
    resource: Annotated[str, Path(description="A UUID or an identifier.")],
    door: Planner,
) -> Response:
    """Called after a deploy: the next plans compare with this."""
    services = services_of(request)
    body = await read_json(request, CurrentBody)
    refuse_references({"config": body.config, "variables": body.variables})
    async with services.store.begin() as tx:
        owner = await find_deployment(tx, door, deployment)
        inventory = await tx.inventory(door.workspace.id)
        stage = Place(InventoryKind.ENVIRONMENT, environment).get(inventory)
        place = Place(InventoryKind.RESOURCE, resource).get(inventory)
        await tx.record_deployed(
            owner.id,
            EnvironmentId(stage.id),
            ResourceId(place.id),
            body.deployed(),
            services.clock.now(),
        )
    return Response(status_code=204)


def _add_items(kind: InventoryKind) -> None:
    """The three calls of one kind; names of resources and others may hold a slash."""
    path = f"/{kind}/{{itemId}}" if kind is InventoryKind.DEPLOYMENT else f"/{kind}/{{itemId:path}}"
    one = "".join(word.capitalize() for word in kind.removesuffix("s").split("-"))
    one = "Policy" if kind is InventoryKind.POLICY else one
    # An agent's configuration names where its secrets are.
    Reader: Any = Admin if kind is InventoryKind.AGENT else Viewer

    async def get_item(request: Request, ref: ItemRef, door: Reader) -> Response:
        async with services_of(request).store.begin() as tx:
            found = Place(kind, ref).get(await tx.inventory(door.workspace.id))
        return json_response(encode(item_document(found)))

    async def put_item(request: Request, ref: ItemRef, door: Admin) -> Response:
        body = await read_object(request)
        body.pop("id", None)
        item, is_new = await save_item(services_of(request), door.workspace, Place(kind, ref), body)
        return json_response(encode(item_document(item)), 201 if is_new else 200)

    async def delete_item(request: Request, ref: ItemRef, door: Admin) -> Response:
        async with services_of(request).store.begin() as tx:
            found = Place(kind, ref).get(await tx.inventory(door.workspace.id))
            await tx.delete_items(door.workspace.id, kind, [found.id])
        return Response(status_code=204)

    shown, made = answer(ItemDocument, "The item."), answer(ItemDocument, "A new item.")
    router.get(
        path,
        operation_id=f"get{one}",
        summary=f"One of the {kind}",
        responses={200: shown, **problems(*READING)},
    )(get_item)
    router.put(
        path,
        operation_id=f"put{one}",
        summary=f"Add or replace one of the {kind}",
        responses={200: shown, 201: made, **problems(*WRITING)},
        openapi_extra=body_of(PARTS[kind]),
    )(put_item)
    router.delete(
        path,
        operation_id=f"delete{one}",
        summary=f"Remove one of the {kind}",
        status_code=204,
        response_class=Response,
        responses={**problems(*READING)},
    )(delete_item)


for _kind in InventoryKind:
    _add_items(_kind)
