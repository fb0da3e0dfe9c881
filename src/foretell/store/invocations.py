"""Invocations within one transaction: each write is one statement, and settles at most once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from foretell.domain.errors import AgentRejected, IllegalTransition
from foretell.domain.plan import InvocationId, Plan, PlanId, ResultId
from foretell.domain.result import Done, Invocation, KindResult, Pending, Status
from foretell.domain.verdict import Verdict
from foretell.ports import PlannedInvocation, PlannedTarget, Settled
from foretell.store.codec import dump
from foretell.store.rows import answered_of, invocation_of, kind_of, texts_of, without_texts
from foretell.store.session import Json, Row, Session


class Invocations(Session):
    """The invocations' part of a transaction."""

    __slots__ = ()

    async def insert_targets(
        self, plan: Plan, targets: Sequence[PlannedTarget], at: datetime
    ) -> None:
        """Raises IllegalTransition when the plan was fanned out already or is at its end."""
        if not await self.hit("set_fanned_out", {"plan_id": plan.id, "at": at}):
            raise IllegalTransition(f"plan {plan.id} is not waiting to be fanned out")
        await self.copy("copy_targets", (_target_row(plan, target) for target in targets))
        await self.copy(
            "copy_invocations",
            (
                _invocation_row(plan, target, place, invocation, at)
                for target in targets
                for place, invocation in enumerate(target.invocations)
            ),
        )

    async def start(self, invocation_id: InvocationId, at: datetime) -> Invocation | None:
        """As first statement it is committed at once: a time of asking is never undone."""
        row = await self.first("start", {"invocation_id": invocation_id, "at": at})
        return invocation_of(row) if row else None

    async def save_pending(self, invocation_id: InvocationId, pending: Pending) -> bool:
        return await self.hit(
            "save_pending",
            {
                "invocation_id": invocation_id,
                "state": Json(dump(pending.state)),
                "message": pending.message,
            },
        )

    async def save_message(self, invocation_id: InvocationId, message: str) -> bool:
        return await self.hit("save_message", {"invocation_id": invocation_id, "message": message})

    async def save_done(
        self, invocation: Invocation, done: Done, at: datetime, *, settled: bool
    ) -> bool:
        """Raises ValueError for an answer without a kind: `kinds_problem` is asked before."""
        first, *more = done.results
        ended = Status.ERRORED if done.failure else Status.COMPLETED
        values = {
            "invocation_id": invocation.id,
            "status": ended if settled else Status.COMPUTING,
            "reason": AgentRejected.reason if done.failure else "",
            "settled": settled,
            "at": at,
            "completed_at": at if settled else None,
            "message": "; ".join(filter(None, (done.failure, done.message))),
            "phases": Json(dump(done.phases)),
            **_kind_values(first),
        }
        if more:
            return await self.hit("save_done_kinds", {**values, **_more_values(more)})
        return await self.hit("save_done", values)

    async def save_settled(
        self, invocation_id: InvocationId, settled: Settled, at: datetime
    ) -> bool:
        return await self.hit(
            "save_settled",
            {
                "invocation_id": invocation_id,
                "status": settled.status,
                "reason": settled.reason,
                "message": settled.message,
                "at": at,
            },
        )

    async def answered(self, invocation_id: InvocationId) -> Invocation | None:
        return answered_of(await self.rows("answered", {"invocation_id": invocation_id}))

    async def judged(self, plan_id: PlanId, id: str) -> Invocation | None:
        return answered_of(await self.rows("judged", {"plan_id": plan_id, "id": id}))

    async def save_verdicts(
        self, invocation_id: InvocationId, verdicts: Sequence[Verdict], at: datetime
    ) -> bool:
        return await self.hit(
            "save_verdicts",
            {
                "invocation_id": invocation_id,
                "at": at,
                "policies": [verdict.policy for verdict in verdicts],
                "rules": [verdict.rule for verdict in verdicts],
                "statuses": [verdict.status.value for verdict in verdicts],
                "bodies": [Json(dump(verdict)) for verdict in verdicts],
            },
        )

    async def open_invocations(self, plan_id: PlanId) -> int:
        return int(await self.value("open_invocations", {"plan_id": plan_id}))

    async def live_invocations(self) -> frozenset[InvocationId]:
        return frozenset(row[0] for row in await self.rows("live_invocations", {}))

    async def result(
        self, plan_id: PlanId, result_id: ResultId
    ) -> tuple[Status, KindResult] | None:
        row = await self.first("result", {"plan_id": plan_id, "result_id": result_id})
        return (Status(row[0]), kind_of(row[1:])) if row else None


def _target_row(plan: Plan, planned: PlannedTarget) -> Row:
    environment, resource = planned.target.environment, planned.target.resource
    return (
        planned.id,
        plan.id,
        environment.id,
        resource.id,
        environment.name,
        resource.name,
        resource.identifier,
        planned.change,
    )


def _invocation_row(
    plan: Plan, target: PlannedTarget, place: int, planned: PlannedInvocation, at: datetime
) -> Row:
    return (
        planned.id,
        planned.id,
        target.id,
        plan.id,
        place,
        planned.agent.id,
        planned.agent.name,
        planned.agent.type,
        planned.context and Json(dump(planned.context)),
        planned.timeout,
        planned.status,
        planned.reason,
        planned.message,
        None if planned.status is Status.COMPUTING else at,
    )


def _kind_values(result: KindResult) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "has_changes": result.has_changes,
        "content_hash": result.content_hash,
        "plan_key_id": result.plan_key_id,
        "current": result.current,
        "proposed": result.proposed,
        "diff": result.diff,
        "additions": result.additions,
        "deletions": result.deletions,
        "suppressed": result.suppressed,
        "resources": Json(dump(without_texts(result.resources))),
        "resource_texts": Json(dump(texts_of(result.resources))),
        "policy_sides": result.policy and Json(dump(result.policy)),
    }


def _more_values(results: Sequence[KindResult]) -> dict[str, list[Any]]:
    """The columns of the further kinds, each as an array."""
    parts = [_kind_values(result) for result in results]
    return {f"more_{name}": [part[name] for part in parts] for name in parts[0]}
