"""A plan of this deployment and no other, and its document with an ETag."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

import structlog
from fastapi import Response

from foretell.api.ready import Ready, made_ready
from foretell.api.services import Services
from foretell.auth.door import Entrance
from foretell.domain.errors import NotFound
from foretell.domain.plan import Plan, PlanId, PlanStatus
from foretell.domain.target import Deployment
from foretell.formats.document import DiffMode, encode_report
from foretell.ports import Tx

JSON = "application/json"
_PRIVATE = "private, no-cache"
"""Kept by the caller alone, and asked about each time: that is what the ETag is for."""


def uuid_of(text: str, what: str) -> str:
    """`text` as the UUID that it is; raises NotFound for anything else."""
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound(f"there is no {what} {text!r}") from None


async def find_deployment(tx: Tx, door: Entrance, ref: str) -> Deployment:
    """The workspace's deployment; raises NotFound."""
    found = await tx.deployment(door.workspace.id, ref)
    if found is None:
        raise NotFound(f"there is no deployment {ref!r} in workspace {door.workspace.slug!r}")
    structlog.contextvars.bind_contextvars(deployment=found.slug)
    return found


async def find_plan(tx: Tx, services: Services, door: Entrance, deployment: str, ref: str) -> Plan:
    """The deployment's plan; raises NotFound for one that is expired, or of somebody else."""
    owner = await find_deployment(tx, door, deployment)
    plan = await tx.plan(PlanId(uuid_of(ref, "plan")))
    if plan is None or plan.deployment_id != owner.id or is_expired(plan, services.clock.now()):
        raise NotFound(f"there is no plan {ref!r} of deployment {deployment!r}, or it has expired")
    structlog.contextvars.bind_contextvars(plan=plan.id)
    return plan


def is_expired(plan: Plan, now: datetime) -> bool:
    """Whether the plan is no longer to be seen: the sweep may come later."""
    return plan.status is not PlanStatus.COMPUTING and plan.expires_at <= now


async def document_of(tx: Tx, services: Services, plan: Plan, mode: DiffMode) -> Ready:
    """The plan's document: the stored bytes of a completed plan where all of it is wanted.

    Only an override changes them: each makes it another document, on every server.
    """
    if mode is not DiffMode.FULL or plan.status is not PlanStatus.COMPLETED:
        return made_ready(await _encoded(tx, plan, mode))
    key = f"{plan.id} {plan.overrides}"
    if kept := services.ready.get(key):
        return kept
    ready = made_ready(await tx.document(plan.id) or await _encoded(tx, plan, mode))
    services.ready.keep(key, ready)
    return ready


async def _encoded(tx: Tx, plan: Plan, mode: DiffMode) -> bytes:
    report = await tx.report(plan.id)
    if report is None:
        raise NotFound(f"there is no plan {plan.id!r}, or it has expired")
    return encode_report(report, mode)


async def settled_within(services: Services, plan: Plan, seconds: float) -> Plan:
    """The plan as soon as it is no longer computing, or as it is after `seconds`."""
    if plan.status is not PlanStatus.COMPUTING or seconds <= 0:
        return plan
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), services.store.watch(plan.id) as wakes:
            async for _ in wakes:
                async with services.store.begin() as tx:
                    plan = await tx.plan(plan.id) or plan
                if plan.status is not PlanStatus.COMPUTING:
                    break
    return plan


def entry_document(plan: Plan) -> dict[str, Any]:
    """A plan in a list, without its targets."""
    github = plan.request.github
    return {
        "id": plan.id,
        "status": plan.status.value,
        "reason": plan.reason.value if plan.reason else None,
        "version": {"tag": plan.request.tag},
        "github": github
        and {
            "owner": github.owner,
            "repo": github.repo,
            "sha": github.sha,
            "prNumber": github.pr_number,
        },
        "createdAt": _time(plan.created_at),
        "completedAt": plan.completed_at and _time(plan.completed_at),
        "expiresAt": _time(plan.expires_at),
    }


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def json_response(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """`body` as it is."""
    return Response(body, status, {"Cache-Control": _PRIVATE, **(headers or {})}, media_type=JSON)


def with_etag(ready: Ready, asked: str | None) -> Response:
    """200 with the document and its ETag, or 304 where `If-None-Match` names it."""
    headers = {"ETag": ready.etag, "Cache-Control": _PRIVATE}
    if asked is not None and _names(asked, ready.etag):
        return Response(status_code=304, headers=headers)
    return Response(ready.body, headers=headers, media_type=JSON)


def _names(asked: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in asked.split(",")]
    return etag in tags or "*" in tags


def plan_path(workspace: str, deployment: str, plan_id: PlanId) -> str:
    """The address of a plan, with the names that the caller used."""
    return (
        f"/v1/workspaces/{quote(workspace, safe='')}"
        f"/deployments/{quote(deployment, safe='')}/plan/{plan_id}"
    )
