"""Promises about overrides: they are shown with their plan, and outlive it."""

from dataclasses import replace

from foretell.domain.override import Override, OverrideTerms, PlanOverride
from foretell.domain.plan import Plan
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.ports import OverrideRecord
from foretell.testing.contracts.store.world import (
    MINUTE,
    NOW,
    ODD,
    ODD_JSON,
    SMALL,
    Promises,
    World,
    new_id,
)

DENIED = Verdict(
    "p", "r", VerdictStatus.DENIED, denials=(Denial(ODD),), terms=OverrideTerms("admin", 2)
)


def _record(plan: Plan, by: str = "kim") -> OverrideRecord:
    return OverrideRecord(
        id=new_id(),
        workspace_id=plan.workspace_id,
        deployment_id=plan.deployment_id,
        plan_id=plan.id,
        token_id=new_id(),
        given=PlanOverride(Override(by, ODD, NOW), "p", "r"),
        subject=ODD_JSON,
    )


async def _judged(world: World) -> Plan:
    plan, ids = await world.fanned_out()
    for id in ids:
        assert await world.answer(id, SMALL, settled=False)
        async with world.store.begin() as tx:
            assert await tx.save_verdicts(id, [DENIED], NOW)
    return plan


class OverridePromises(Promises):
    async def test_every_reading_of_a_plan_knows_its_overrides(self, world: World) -> None:
        plan = await _judged(world)
        everywhere = _record(plan)
        async with world.store.begin() as tx:
            first, *_ = await tx.targets(plan.id)
            here = replace(
                _record(plan, by="lee"), given=replace(everywhere.given, target_id=first.id)
            )
            await tx.insert_override(everywhere)
            await tx.insert_override(here)
        async with world.store.begin() as tx:
            assert {one.target_id for one in await tx.overrides(plan.id)} == {None, first.id}
            report = await tx.report(plan.id)
        assert report is not None
        counts = {
            row.target.id: len(verdict.overrides)
            for row in report.targets
            for verdict in row.verdicts
        }
        assert counts == {id: 2 if id == first.id else 1 for id in counts}
        assert len(counts) == 4

    async def test_the_document_of_a_completed_plan_is_replaced_and_counted(
        self, world: World
    ) -> None:
        plan = await _judged(world)
        async with world.store.begin() as tx:
            assert not await tx.show_overridden(plan, b'{"summary": null}')
        current = await world.plan(plan.id)
        async with world.store.begin() as tx:
            assert await tx.complete_plan(current.complete(NOW), b'{"summary": {"total": 4}}')
        async with world.store.begin() as tx:
            assert await tx.show_overridden(current, b'{"summary": {"total": 5}}')
            assert await tx.document(plan.id) == b'{"summary": {"total": 5}}'
        assert (current.overrides, (await world.plan(plan.id)).overrides) == (0, 1)

    async def test_the_log_is_newest_first_in_pages_and_outlives_the_plan(
        self, world: World
    ) -> None:
        plan = await _judged(world)
        records = []
        for minutes in range(3):
            record = _record(plan)
            at = replace(record.given.override, at=NOW + minutes * MINUTE)
            records.append(replace(record, given=replace(record.given, override=at)))
        async with world.store.begin() as tx:
            for record in records:
                await tx.insert_override(record)
            await tx.complete_plan((await world.plan(plan.id)).complete(NOW), b"{}")
        async with world.store.begin() as tx:
            assert await tx.delete_expired(plan.expires_at) == 1
        newest = records[::-1]
        async with world.store.begin() as tx:
            page = list(await tx.override_log(world.workspace.id, "", 2))
            rest = list(await tx.override_log(world.workspace.id, page[-1].id, 2))
            others = await tx.override_log(type(world.workspace.id)(new_id()), "", 2)
        assert (page, rest, list(others)) == (newest[:2], newest[2:], [])
