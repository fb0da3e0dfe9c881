"""A check that is to run again: the request that it belongs to is made once more."""

from foretell.domain.plan import Plan
from foretell.engine.pull_request.requests import Wanted, submit_all
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import CheckAsked, pull_subject
from foretell.ports import Tx


async def plan_again(tools: Tools, tx: Tx, ask: CheckAsked, cause: str) -> None:
    """Plan a commit again as it was planned: the same tag, config and scope.

    Only where that is the newest plan of its scope, and its pull request is not known to be
    closed. A check of somebody else's names none of our deployments.
    """
    plans = await tx.plans_of_commit(ask.owner, ask.repo, ask.sha)
    wanted = [
        Wanted(plan.workspace_id, plan.deployment_id, plan.request)
        for plan in plans
        if _is_meant(ask, plan) and await _is_open(tx, ask, plan)
    ]
    await submit_all(tools, wanted, cause)


def _is_meant(ask: CheckAsked, plan: Plan) -> bool:
    return not ask.external_id or plan.deployment_id in ask.external_id


async def _is_open(tx: Tx, ask: CheckAsked, plan: Plan) -> bool:
    number = plan.request.github.pr_number if plan.request.github else None
    if number is None:
        return True
    state = await tx.pull_request_state(pull_subject(ask.host, ask.owner, ask.repo, number))
    return state is None or state.pull_request.is_open
