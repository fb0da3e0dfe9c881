"""Overrides: somebody answers for a denial, and who did (product rules: docs/howto/policies.md)."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from foretell.api.body import read_json
from foretell.api.plans import find_plan, json_response, uuid_of
from foretell.api.routes.plans import LARGEST_PAGE, PAGE, DeploymentRef, PlanRef
from foretell.api.schemas.answers import READING, WRITING, answer, body_of, problems
from foretell.api.schemas.requests import OverrideBody
from foretell.api.schemas.verdicts import OverriddenDocument, OverridePageDocument
from foretell.api.services import services_of
from foretell.auth.door import Admin, Viewer
from foretell.auth.roles import Caller, includes
from foretell.domain.errors import Forbidden
from foretell.engine.override import Overridden, Person, Wanted, override
from foretell.formats.document import encode
from foretell.ports import OverrideRecord, Role

router = APIRouter(prefix="/v1/workspaces/{workspaceId}", tags=["plans"])


@router.post(
    "/deployments/{deploymentId}/plan/{planId}/overrides",
    operation_id="overrideRule",
    summary="Answer for what a rule said no to",
    responses={201: answer(OverriddenDocument, "It is recorded."), **problems(*WRITING)},
    openapi_extra=body_of(OverrideBody),
)
async def override_rule(
    request: Request, deployment: DeploymentRef, ref: PlanRef, door: Viewer
) -> Response:
    """By somebody with the role that the rule's policy names; who, is the name of their token.

    The denial still shows, with who overrode it and why; it no longer blocks once as many
    distinct people did as the policy's `overrides.count` says. `target` is a target's id or
    `environment/resource`; without it, the rule is overridden wherever it said no in this plan.
    """
    services, person = services_of(request), _person(door.caller)
    body = await read_json(request, OverrideBody)
    async with services.store.begin() as tx:
        plan = await find_plan(tx, services, door, deployment, ref)
    wanted = Wanted(plan.id, body.rule, body.reason, body.policy, body.target)
    done = await override(services.store, services.clock, services.ids, person, wanted)
    return json_response(encode(_overridden(done)), 201)


def _person(caller: Caller) -> Person:
    """Raises Forbidden for a pipeline: each of its branches would count as somebody else."""
    if caller.is_pipeline:
        raise Forbidden("a pipeline answers for nothing: an override takes the token of a person")

    def may(role: str) -> bool:
        return role in set(Role) and includes(caller.role, Role(role))

    return Person(caller.name, caller.token_id, may)


def _overridden(done: Overridden) -> dict[str, Any]:
    counted = {"given": done.given, "needed": done.needed, "blocks": done.blocks}
    return {"id": done.record.id, **_given(done.record), **counted}


def _given(record: OverrideRecord) -> dict[str, Any]:
    given = record.given
    return {
        "policy": given.policy,
        "rule": given.rule,
        "targetId": given.target_id,
        "by": given.override.by,
        "reason": given.override.reason,
        "at": given.override.at.isoformat().replace("+00:00", "Z"),
    }


@router.get(
    "/overrides",
    operation_id="listOverrides",
    summary="Who answered for what, newest first",
    responses={200: answer(OverridePageDocument, "One page."), **problems(*READING)},
)
async def list_overrides(
    request: Request,
    door: Admin,
    cursor: Annotated[str, Query(description="`next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = PAGE,
) -> Response:
    """The audit of a workspace; an entry outlives its plan."""
    services = services_of(request)
    before = uuid_of(cursor, "override") if cursor else ""
    async with services.store.begin() as tx:
        found = await tx.override_log(door.workspace.id, before, limit + 1)
    page = found[:limit]
    answered = {
        "overrides": [_entry(record) for record in page],
        "next": page[-1].id if len(found) > limit else None,
    }
    return json_response(encode(answered))


def _entry(record: OverrideRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "deploymentId": record.deployment_id,
        "planId": record.plan_id,
        **_given(record),
        "tokenId": record.token_id,
        "subject": dict(record.subject),
    }
