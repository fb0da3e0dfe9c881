"""Whether we live, whether we can work, and what we count."""

import asyncio

import orjson
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from foretell.api.plans import json_response
from foretell.api.schemas.answers import answer, problems
from foretell.api.schemas.documents import HealthDocument
from foretell.api.services import services_of
from foretell.auth.door import AnyViewer
from foretell.domain.errors import Unavailable

router = APIRouter(tags=["service"])

READY_SECONDS = 2
_OK = orjson.dumps({"status": "ok"})


@router.get(
    "/healthz",
    operation_id="health",
    summary="Whether the process answers",
    responses={200: answer(HealthDocument, "It does.")},
)
async def health() -> Response:
    """Needs no token."""
    return json_response(_OK)


@router.get(
    "/readyz",
    operation_id="ready",
    summary="Whether requests can be answered",
    responses={200: answer(HealthDocument, "The database answers."), **problems(503)},
)
async def ready(request: Request) -> Response:
    """Needs no token. 503 while the database does not answer within 2 seconds."""
    try:
        async with asyncio.timeout(READY_SECONDS), services_of(request).store.begin() as tx:
            await tx.workspace("")
    except TimeoutError as error:
        raise Unavailable(f"the database did not answer in {READY_SECONDS} s") from error
    return json_response(_OK)


@router.get(
    "/metrics",
    operation_id="metrics",
    summary="Counters for Prometheus",
    responses={
        200: {"description": "The metrics.", "content": {"text/plain": {}}},
        **problems(401),
    },
)
async def metrics(caller: AnyViewer) -> Response:
    """Of this process, over all workspaces: routes and counts, no names."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/openapi.json",
    operation_id="openapi",
    summary="This description",
    responses={200: {"description": "OpenAPI 3.1."}, **problems(401)},
)
async def openapi(request: Request, caller: AnyViewer) -> Response:
    """As docs/reference/openapi.json has it."""
    return json_response(orjson.dumps(request.app.openapi()))
