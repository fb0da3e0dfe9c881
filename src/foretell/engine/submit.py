"""Step 1: a request becomes a computing plan and a job, in one commit."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from foretell.domain.context import refuse_references
from foretell.domain.digest import digest
from foretell.domain.errors import Conflict, InvalidRequest, Problem, RateLimited
from foretell.domain.plan import (
    DeploymentId,
    Plan,
    PlanId,
    PlanReason,
    PlanRequest,
    PlanStatus,
    WorkspaceId,
    supersedes_key,
)
from foretell.engine.progress import first_report
from foretell.ports import Clock, Ids, Job, PlanBasis, PlanLimits, Selectors, Step, Store, Tx

_WINDOW = timedelta(minutes=1)
_NEXT_TRY = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Submission:
    """What to plan: `basis` only where two revisions of an inventory are compared."""

    workspace_id: WorkspaceId
    deployment_id: DeploymentId
    request: PlanRequest
    idempotency_key: str | None = None
    basis: PlanBasis | None = None


async def submit(
    store: Store,
    selectors: Selectors,
    clock: Clock,
    ids: Ids,
    limits: PlanLimits,
    submission: Submission,
) -> Plan:
    """The new plan, or the one that the same idempotency key made before.

    Raises InvalidRequest (a selector, a reference to a secret, or a used key with another body)
    and RateLimited. An older plan of the same pull request and scope is superseded in the same
    commit.
    """
    request = submission.request
    _check_selectors(selectors, request)
    refuse_references({"jobAgentConfig": request.job_agent_config, "config": request.config})
    plan = _new_plan(submission, PlanId(ids.new()), clock.now(), limits)
    body = _body_digest(request)
    try:
        async with store.begin() as tx:
            if known := await _known(tx, submission, body):
                return known
            await _check_usage(tx, plan, limits)
            await _supersede(tx, plan, limits.retention)
            await tx.insert_plan(
                plan,
                idempotency_key=submission.idempotency_key,
                body_digest=body,
                basis=submission.basis,
            )
            await tx.enqueue([Job(Step.FAN_OUT, plan.id), *first_report(plan)])
    except Conflict:
        # Somebody with the same key was faster: theirs is the plan.
        async with store.begin() as tx:
            if known := await _known(tx, submission, body):
                return known
        raise
    return plan


def _check_selectors(selectors: Selectors, request: PlanRequest) -> None:
    for name, text in (
        ("environmentSelector", request.environment_selector),
        ("resourceSelector", request.resource_selector),
    ):
        try:
            selectors.check(text)
        except InvalidRequest as error:
            problem = Problem("body", name, error.message)
            raise InvalidRequest(f"{name}: {error.message}", [problem]) from error


def _new_plan(submission: Submission, id: PlanId, now: datetime, limits: PlanLimits) -> Plan:
    request = submission.request
    kept_for = limits.retention if request.github is None else limits.github_retention
    return Plan(
        id=id,
        workspace_id=submission.workspace_id,
        deployment_id=submission.deployment_id,
        request=request,
        created_at=now,
        deadline_at=now + limits.deadline,
        expires_at=now + kept_for,
    )


def _body_digest(request: PlanRequest) -> str:
    return digest("body1", asdict(request))


async def _known(tx: Tx, submission: Submission, body_digest: str) -> Plan | None:
    key = submission.idempotency_key
    if key is None:
        return None
    found = await tx.plan_by_key(submission.workspace_id, submission.deployment_id, key)
    if found is None:
        return None
    plan, digest_then = found
    if digest_then != body_digest:
        raise InvalidRequest(
            f"Idempotency-Key {key!r} was used for another body: take a new key for a new request"
        )
    return plan


async def _check_usage(tx: Tx, plan: Plan, limits: PlanLimits) -> None:
    since = plan.created_at - _WINDOW
    usage = await tx.usage(plan.workspace_id, plan.deployment_id, since)
    for used, limit, what in (
        (usage.deployment_last_minute, limits.deployment_per_minute, "plans a minute here"),
        (usage.deployment_computing, limits.deployment_computing, "computing plans here"),
        (usage.workspace_last_minute, limits.workspace_per_minute, "plans a minute in all"),
        (usage.workspace_computing, limits.workspace_computing, "computing plans in all"),
    ):
        if used >= limit:
            raise RateLimited(f"the limit of {limit} {what} is reached; try later", _NEXT_TRY)


async def _supersede(tx: Tx, plan: Plan, retention: timedelta) -> None:
    key = supersedes_key(plan.deployment_id, plan.request)
    if key is None:
        return
    for older in await tx.plans_under(key):
        if older.status is PlanStatus.COMPUTING:
            await tx.stop_plan(older.fail(PlanReason.SUPERSEDED, plan.created_at))
        await tx.retire_plan(older.id, plan.created_at + retention)
