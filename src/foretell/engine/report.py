"""Step 6: whoever asked is told. The plan is complete regardless of what comes of it."""

from collections.abc import Sequence

from foretell.domain.errors import RateLimited
from foretell.domain.plan import PlanId
from foretell.ports import Job, Reporter, Step, Store


async def report(store: Store, reporters: Sequence[Reporter], plan_id: PlanId) -> None:
    """Show the plan as it stands now; raises ExceptionGroup for the reporters that failed.

    Then the queue asks all of them again; one that fails does not keep it from the others. One
    that was told to wait is asked again when that time has passed: it has not failed.
    """
    async with store.begin() as tx:
        plan = await tx.plan(plan_id)
        shown = await tx.report(plan_id) if plan is not None else None
    if plan is None or shown is None:
        return
    failed, waits = [], []
    for reporter in reporters:
        try:
            await reporter.report(plan, shown)
        except RateLimited as limited:
            waits.append(limited.retry_after)
        except Exception as error:
            failed.append(error)
    if waits:
        async with store.begin() as tx:
            await tx.enqueue([Job(Step.REPORT, plan_id, after=max(waits))])
    if failed:
        raise ExceptionGroup(f"plan {plan_id} was not shown everywhere", failed)
