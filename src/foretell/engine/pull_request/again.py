"""A check that is to run again: the request that it belongs to is made once more."""

from collections.abc import Sequence

from foretell.domain.plan import Plan
from foretell.engine.pull_request.requests import Wanted, submit_all
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import CheckAsked, pull_subject
from foretell.ports import Tx


async def plan_again(tools: Tools, tx: Tx, ask: CheckAsked, cause: str) -> bool:
    """Plan a commit again as it was planned: the same tag, config and scope.

    Only where that is the newest plan of its scope, and its pull request is not known to be
    closed. A check of somebody else's names none of our deployments. False: somebody sees to one
    of its pull requests right now, whose head may be moving: ask later.
    """
    found = await _meant(tx, ask)
    numbers = {plan.request.github.pr_number for plan in found if plan.request.github}
    subjects = {number: _subject(ask, number) for number in numbers if number is not None}
    for subject in sorted(subjects.values()):
        if not await tx.hold(subject):
            return False
    closed = {number for number, name in subjects.items() if await _is_closed(tx, name)}
    wanted = [
        Wanted(plan.workspace_id, plan.deployment_id, plan.request)
        # Read anew: what was superseded before they were held is not among them.
        for plan in await _meant(tx, ask)
        if plan.request.github and plan.request.github.pr_number not in closed
    ]
    await submit_all(tools, wanted, cause)
    return True


async def _meant(tx: Tx, ask: CheckAsked) -> Sequence[Plan]:
    plans = await tx.plans_of_commit(ask.owner, ask.repo, ask.sha)
    return [one for one in plans if not ask.external_id or one.deployment_id in ask.external_id]


def _subject(ask: CheckAsked, number: int) -> str:
    return pull_subject(ask.host, ask.owner, ask.repo, number)


async def _is_closed(tx: Tx, subject: str) -> bool:
    state = await tx.pull_request_state(subject)
    return state is not None and not state.pull_request.is_open
