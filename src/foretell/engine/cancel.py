"""Beside the steps: somebody no longer wants a plan."""

from foretell.domain.plan import Plan, PlanId, PlanReason, PlanStatus
from foretell.ports import Clock, Store


async def cancel(store: Store, clock: Clock, plan_id: PlanId) -> Plan | None:
    """The plan as it is now: failed as cancelled, unless it had ended before; None: no such plan.

    Every open invocation is woken to abandon what it started; that is not waited for.
    """
    async with store.begin() as tx:
        plan = await tx.plan(plan_id, lock=True)
        if plan is None or plan.status is not PlanStatus.COMPUTING:
            return plan
        stopped = plan.fail(PlanReason.CANCELLED, clock.now())
        await tx.stop_plan(stopped)
    return stopped
