"""Overrides within one transaction. They are only ever added."""

from collections.abc import Sequence

import orjson

from foretell.domain.override import Override, PlanOverride
from foretell.domain.plan import Plan, PlanId, WorkspaceId
from foretell.ports import OverrideRecord
from foretell.store.codec import dump, dump_searchable, load
from foretell.store.session import Json, Row, Session


class Overrides(Session):
    """The overrides' part of a transaction."""

    __slots__ = ()

    async def insert_override(self, record: OverrideRecord) -> None:
        given = record.given
        await self.send(
            "insert_override",
            {
                "id": record.id,
                "workspace_id": record.workspace_id,
                "deployment_id": record.deployment_id,
                "plan_id": record.plan_id,
                "target_id": given.target_id,
                "policy": given.policy,
                "rule": given.rule,
                "person": given.override.by,
                "token_id": record.token_id,
                "reason": given.override.reason,
                "subject": Json(dump(record.subject)),
                "at": given.override.at,
            },
        )

    async def overrides(self, plan_id: PlanId) -> Sequence[PlanOverride]:
        rows = await self.rows("overrides", {"plan_id": plan_id})
        return [_given(row) for row in rows]

    async def show_overridden(self, plan: Plan, document: bytes) -> bool:
        summary = orjson.loads(document).get("summary")
        values = {
            "plan_id": plan.id,
            "document": document,
            "result": Json(dump_searchable(summary)),
        }
        return await self.hit("show_overridden", values)

    async def override_log(
        self, workspace_id: WorkspaceId, before: str, limit: int
    ) -> Sequence[OverrideRecord]:
        values = {"workspace_id": workspace_id, "before": before or None, "limit": limit}
        rows = await self.rows("override_log", values)
        return [_record(workspace_id, row) for row in rows]


def _given(row: Row) -> PlanOverride:
    (person, reason, at, policy, rule, target) = row
    return PlanOverride(Override(person, reason, at), policy, rule, target)


def _record(workspace_id: WorkspaceId, row: Row) -> OverrideRecord:
    (id, deployment, plan, target, policy, rule, person, token, reason, subject, at) = row
    return OverrideRecord(
        id=id,
        workspace_id=workspace_id,
        deployment_id=deployment,
        plan_id=plan,
        token_id=token,
        given=PlanOverride(Override(person, reason, at), policy, rule, target),
        subject=load(subject),
    )
