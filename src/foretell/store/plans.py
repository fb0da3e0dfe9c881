"""Plans within one transaction."""

from collections.abc import Sequence
from datetime import datetime

import orjson

from foretell.domain.errors import IllegalTransition
from foretell.domain.plan import DeploymentId, Plan, PlanId, WorkspaceId, supersedes_key
from foretell.domain.rollup import TargetState, overridden, roll
from foretell.domain.summary import PlanReport
from foretell.ports import Job, PlanBasis, PlanUsage, Step
from foretell.store.codec import dump, dump_searchable
from foretell.store.inventory import basis_of
from foretell.store.overrides import Overrides
from foretell.store.rows import plan_of, report_of, targets_of
from foretell.store.session import Json


class Plans(Overrides):
    """The plans' part of a transaction."""

    __slots__ = ()

    async def enqueue(self, jobs: Sequence[Job]) -> None:
        """They are written at the end of the block, with its COMMIT."""
        self.jobs.extend(jobs)

    async def usage(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, since: datetime
    ) -> PlanUsage:
        # The count is younger than the lock: of two requests at once, one counts the other.
        await self.send("lock_key", {"key": f"usage {workspace_id}"})
        row = await self.first(
            "usage",
            {"workspace_id": workspace_id, "deployment_id": deployment_id, "since": since},
        )
        return PlanUsage(*row) if row else PlanUsage(0, 0, 0, 0)

    async def plan_by_key(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, key: str
    ) -> tuple[Plan, str] | None:
        row = await self.first(
            "plan_by_key",
            {"workspace_id": workspace_id, "deployment_id": deployment_id, "key": key},
        )
        return (plan_of(row), row[-1]) if row else None

    async def insert_plan(
        self,
        plan: Plan,
        *,
        idempotency_key: str | None = None,
        body_digest: str = "",
        basis: PlanBasis | None = None,
    ) -> None:
        """Raises Conflict where the idempotency key has a plan by now."""
        await self.send(
            "insert_plan",
            {
                "id": plan.id,
                "workspace_id": plan.workspace_id,
                "deployment_id": plan.deployment_id,
                "request": Json(dump_searchable(plan.request)),
                "created_at": plan.created_at,
                "deadline_at": plan.deadline_at,
                "expires_at": plan.expires_at,
                "status": plan.status,
                "reason": plan.reason,
                "fanned_out_at": plan.fanned_out_at,
                "completed_at": plan.completed_at,
                "supersedes_key": supersedes_key(plan.deployment_id, plan.request),
                "idempotency_key": idempotency_key,
                "body_digest": body_digest,
                "basis": basis and Json(dump(basis)),
            },
        )

    async def plan(self, plan_id: PlanId, *, lock: bool = False) -> Plan | None:
        row = await self.first("plan_locked" if lock else "plan", {"plan_id": plan_id})
        return plan_of(row) if row else None

    async def plans_under(self, key: str) -> Sequence[Plan]:
        # Two statements: the second one's view is younger than the lock, so that of two plans
        # made at the same time the later one sees the earlier.
        await self.send("lock_key", {"key": key})
        return [plan_of(row) for row in await self.rows("plans_under", {"key": key})]

    async def stop_plan(self, plan: Plan) -> None:
        """Raises IllegalTransition when the plan is no longer computing."""
        values = {
            "plan_id": plan.id,
            "status": plan.status,
            "reason": plan.reason,
            "completed_at": plan.completed_at,
            "message": plan.message,
        }
        if not await self.hit("stop_plan", values):
            raise IllegalTransition(f"plan {plan.id} is no longer computing and cannot be stopped")
        await self.wake_open(plan.id)
        await self.enqueue([Job(Step.REPORT, plan.id)])

    async def retire_plan(self, plan_id: PlanId, expires_at: datetime) -> None:
        await self.send("retire_plan", {"plan_id": plan_id, "expires_at": expires_at})

    async def basis(self, plan: Plan) -> PlanBasis:
        """Raises NotFound when the deployment is gone."""
        rows = await self.rows(
            "basis",
            {
                "plan_id": plan.id,
                "deployment_id": plan.deployment_id,
                "workspace_id": plan.workspace_id,
            },
        )
        return basis_of(rows, plan.deployment_id)

    async def complete_plan(self, plan: Plan, document: bytes) -> bool:
        answer = orjson.loads(document)
        return await self.hit(
            "complete_plan",
            {
                "plan_id": plan.id,
                "status": plan.status,
                "reason": plan.reason,
                "completed_at": plan.completed_at,
                "document": document,
                "result": Json(dump_searchable(answer.get("summary"))),
            },
        )

    async def overdue(self, now: datetime) -> Sequence[Plan]:
        return [plan_of(row) for row in await self.rows("overdue", {"now": now})]

    async def wake_open(self, plan_id: PlanId) -> None:
        await self.enqueue(await self._jobs("open_jobs", {"plan_id": plan_id}))

    async def wake_stalled(self) -> int:
        # The statement looks at the queue: what this transaction asked for must be in it.
        await self.write_jobs()
        jobs = await self._jobs("stalled_jobs", {})
        await self.enqueue(jobs)
        return len(jobs)

    async def _jobs(self, name: str, values: dict[str, str]) -> list[Job]:
        return [Job(Step(step), id) for step, id in await self.rows(name, values)]

    async def delete_expired(self, now: datetime) -> int:
        return int(await self.value("delete_expired", {"now": now}))

    async def list_plans(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, before: str, limit: int
    ) -> Sequence[Plan]:
        values = {
            "workspace_id": workspace_id,
            "deployment_id": deployment_id,
            "before": before or None,
            "limit": limit,
        }
        return [plan_of(row) for row in await self.rows("list_plans", values)]

    async def document(self, plan_id: PlanId) -> bytes | None:
        found = await self.value("document", {"plan_id": plan_id})
        return None if found is None else bytes(found)

    async def targets(self, plan_id: PlanId) -> Sequence[TargetState]:
        found = targets_of(await self.rows("targets", {"plan_id": plan_id}))
        # There is nothing to override where no rule said anything.
        if not any(invocation.verdicts for target in found for invocation in target.invocations):
            return found
        return overridden(found, await self.overrides(plan_id))

    async def report(self, plan_id: PlanId) -> PlanReport | None:
        # The plan first: one that is completed has no target left that could still change.
        row = await self.first("report", {"plan_id": plan_id})
        return report_of(row, roll(await self.targets(plan_id))) if row else None
