"""Step 5: the last one out completes the plan.

An invocation becomes settled and *that commits*; only then this step counts. Setting and counting
in one transaction leaves the plan computing for ever when two finish together: neither sees the
other.
"""

from dataclasses import replace

from foretell.domain.plan import Plan, PlanId, PlanStatus
from foretell.engine.progress import progress_report
from foretell.formats.document import encode_report
from foretell.ports import Clock, Job, Step, Store, Tx


async def settle(store: Store, clock: Clock, plan_id: PlanId) -> None:
    """Complete the plan if it was fanned out and nothing is open; else there is nothing to do."""
    async with store.begin() as tx:
        plan = await tx.plan(plan_id)
        if plan is None or plan.status is not PlanStatus.COMPUTING or not plan.fanned_out_at:
            return
        if await tx.open_invocations(plan_id):
            await tx.enqueue(progress_report(plan, clock.now()))
            return
        completed = plan.complete(clock.now())
        if await tx.complete_plan(completed, await _document(tx, completed)):
            await tx.enqueue([Job(Step.REPORT, plan_id)])


async def _document(tx: Tx, completed: Plan) -> bytes:
    """The ready JSON: rolled up once, here, however often it is read."""
    report = await tx.report(completed.id)
    assert report is not None, "the plan was read in this transaction"
    final = replace(report, status=completed.status, completed_at=completed.completed_at)
    return encode_report(final)
