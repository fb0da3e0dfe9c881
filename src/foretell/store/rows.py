"""Rows of the statements in `sql/` -> domain values. The order of columns is that of the SQL."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from foretell.domain.context import AgentRef, DispatchContext
from foretell.domain.plan import (
    Plan,
    PlanReason,
    PlanRequest,
    PlanStatus,
)
from foretell.domain.result import (
    Invocation,
    Kind,
    KindResult,
    Phase,
    PolicySides,
    ResourceChange,
    Status,
)
from foretell.domain.rollup import InvocationState, KindState, TargetRollup, TargetState
from foretell.domain.summary import PlanReport, summarize
from foretell.domain.verdict import Verdict
from foretell.ports.rows import Role, Token
from foretell.store.codec import decode, decode_all, load
from foretell.store.session import Row

INVOCATION_WIDTH = 14


def plan_of(row: Row) -> Plan:
    """A row of the plan statements; what follows the plan's columns is ignored."""
    (id, workspace, deployment, request, created, deadline, expires, *state) = row[:13]
    status, reason, fanned, ended, message, overrides = state
    return Plan(
        id=id,
        workspace_id=workspace,
        deployment_id=deployment,
        request=decode(PlanRequest, request),
        created_at=created,
        deadline_at=deadline,
        expires_at=expires,
        status=PlanStatus(status),
        reason=reason_of(reason),
        fanned_out_at=fanned,
        completed_at=ended,
        message=message,
        overrides=overrides,
    )


def reason_of(text: str | None) -> PlanReason | None:
    """A plan's reason, None where it has none."""
    return None if text is None else PlanReason(text)


def invocation_of(row: Row, results: tuple[KindResult, ...] = ()) -> Invocation:
    """A row of `start`, or the head of one of `answered`."""
    (id, plan, target, context, timeout, status, state, message, *about) = row[:INVOCATION_WIDTH]
    started, attempts, plan_status, plan_reason, plan_deadline, governed = about
    return Invocation(
        id=id,
        plan_id=plan,
        target_id=target,
        context=decode(DispatchContext, context),
        timeout=timeout,
        status=Status(status),
        state=None if state is None else load(state),
        message=message,
        started_at=started,
        attempts=attempts,
        plan_status=PlanStatus(plan_status),
        plan_reason=reason_of(plan_reason),
        plan_deadline_at=plan_deadline,
        results=results,
        governed=governed,
    )


def answered_of(rows: Sequence[Row]) -> Invocation | None:
    """The rows of `answered`: the same head, one kind each."""
    if not rows:
        return None
    return invocation_of(rows[0], tuple(kind_of(row[INVOCATION_WIDTH:]) for row in rows))


def kind_of(row: Row) -> KindResult:
    """One kind with its texts, and those of its resources."""
    (kind, current, proposed, changed, digest, key, diff, added, deleted, resources, *rest) = row
    texts, suppressed, policy = rest
    return KindResult(
        kind=Kind(kind),
        current=current,
        proposed=proposed,
        has_changes=changed,
        content_hash=digest,
        plan_key_id=key,
        diff=diff,
        additions=added,
        deletions=deleted,
        resources=resources_of(resources, texts),
        suppressed=suppressed,
        policy=None if policy is None else decode(PolicySides, policy),
    )


def without_texts(resources: Iterable[ResourceChange]) -> list[ResourceChange]:
    """What lists need: `before` and `after` are stored apart, by `texts_of`, in the same order."""
    return [replace(change, before="", after="") for change in resources]


def texts_of(resources: Iterable[ResourceChange]) -> list[tuple[str, str]]:
    """The texts before and after of each, in order."""
    return [(change.before, change.after) for change in resources]


def resources_of(resources: str | None, texts: str | None) -> tuple[ResourceChange, ...]:
    """The changes as they were, texts and all."""
    changes = decode_all(ResourceChange, resources)
    if texts is None:
        return changes
    return tuple(
        replace(change, before=before, after=after)
        for change, (before, after) in zip(changes, load(texts), strict=True)
    )


def report_of(row: Row, targets: tuple[TargetRollup, ...]) -> PlanReport:
    """A row of `report`; a plan that was not fanned out has no summary yet."""
    (id, workspace, deployment, slug, name, request, status, created, expires, *rest) = row
    reason, completed, fanned_out, message = rest
    return PlanReport(
        id=id,
        workspace=workspace,
        deployment_id=deployment,
        deployment_slug=slug,
        deployment_name=name,
        tag=decode(PlanRequest, request).tag,
        status=PlanStatus(status),
        created_at=created,
        expires_at=expires,
        reason=reason_of(reason),
        completed_at=completed,
        message=message,
        summary=summarize(targets) if fanned_out else None,
        targets=targets,
    )


TARGET_WIDTH = 7
INVOCATION_AT = 7


def targets_of(rows: Iterable[Row]) -> tuple[TargetState, ...]:
    """The rows of `targets`: one a kind, in order of target, invocation and kind."""
    return tuple(
        TargetState(
            id=head[0],
            environment_id=head[1],
            environment_name=head[2],
            resource_id=head[3],
            resource_name=head[4],
            resource_identifier=head[5],
            invocations=_invocations(parts),
            change=head[6],
        )
        for head, parts in groupby(rows, key=lambda row: row[:TARGET_WIDTH])
    )


def _invocations(rows: Iterable[Row]) -> tuple[InvocationState, ...]:
    """The invocations of one target; a target without any has one row of nothing."""
    return tuple(
        _invocation_state(list(parts))
        for id, parts in groupby(rows, key=itemgetter(INVOCATION_AT))
        if id is not None
    )


def _invocation_state(rows: Sequence[Row]) -> InvocationState:
    (id, _, agent_id, agent_name, agent_type, status, reason, message, phases, answered, *_) = rows[
        0
    ][INVOCATION_AT:]
    return InvocationState(
        id=id,
        agent=AgentRef(agent_id, agent_name, agent_type),
        status=Status(status),
        reason=reason,
        message=message,
        phases=decode_all(Phase, phases),
        results=tuple(_kind_state(row) for row in rows) if answered else (),
        verdicts=decode_all(Verdict, rows[0][-1]),
    )


def _kind_state(row: Row) -> KindState:
    (id, kind, changed, digest, key, diff, added, deleted, resources, suppressed) = row[-11:-1]
    return KindState(
        id=id,
        kind=Kind(kind),
        # All kinds of an invocation complete together, and only an answer has any.
        status=Status.COMPLETED,
        has_changes=changed,
        content_hash=digest,
        plan_key_id=key,
        diff=diff,
        additions=added,
        deletions=deleted,
        resources=decode_all(ResourceChange, resources),
        suppressed=suppressed,
    )


def token_of(row: Row) -> Token:
    """A row of the token statements."""
    (id, name, role, digest, workspace, created, expires, revoked) = row
    return Token(
        id=id,
        name=name,
        role=Role(role),
        digest=digest,
        workspace_id=workspace,
        created_at=created,
        expires_at=expires,
        revoked_at=revoked,
    )
