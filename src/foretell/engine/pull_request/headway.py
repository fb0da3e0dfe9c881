"""A pull request's head is planned, its older heads are void, and a closed one is cleaned up."""

from collections.abc import Sequence
from dataclasses import replace

from foretell.domain.plan import Plan, PlanReason, PlanStatus
from foretell.engine.pull_request.choosing import named_by, touched
from foretell.engine.pull_request.knowledge import Known, learn
from foretell.engine.pull_request.questions import react
from foretell.engine.pull_request.referring import deployments_of
from foretell.engine.pull_request.requests import KEY_PREFIX, Wanted, request_of, submit_all
from foretell.engine.pull_request.rules import allow, allow_fork
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import CheckAsked, PlanAsked
from foretell.formats.pull_request.head import PullRequest
from foretell.formats.pull_request.repository import repository
from foretell.ports import Delivery, PullRequestState, Reaction, Tx


async def follow_head(tools: Tools, tx: Tx, subject: str, deliveries: Sequence[Delivery]) -> None:
    """Bring what is planned to what the events say; raises as `submit_all` does."""
    known = Known(await tx.pull_request_state(subject))
    for delivery in deliveries:
        if not isinstance(delivery.event, CheckAsked):
            known = await learn(tools, known, delivery.event)
    if known.state is None:
        return
    if known.state.pull_request.is_open:
        state = await _planned(tools, tx, known.state, known.asks, deliveries[0].id)
        await _void_older(tools, tx, state.pull_request)
    else:
        state = replace(known.state, planned_sha="", asked_sha="")
        await _clean_up(tools, tx, state.pull_request)
    await tx.save_pull_request_state(subject, state, tools.clock.now())


async def _planned(
    tools: Tools, tx: Tx, state: PullRequestState, asks: Sequence[PlanAsked], cause: str
) -> PullRequestState:
    pull_request, rules = state.pull_request, tools.rules
    is_due = state.planned_sha != pull_request.sha and allow(rules, state)
    heard = asks if allow_fork(rules, state) else ()
    if not is_due and not heard:
        return state
    place = repository(pull_request.host, pull_request.owner, pull_request.repo)
    everything = await deployments_of(tx, tools.selectors, place)
    due = await touched(tools, pull_request, everything) if is_due else []
    named = [named_by(ask, everything) for ask in heard]
    request = request_of(pull_request)
    wanted = [
        Wanted(one[0], one[1].id, request)
        for one in everything
        if one in due or any(one in chosen for chosen in named)
    ]
    await submit_all(tools, wanted, cause)
    for ask, chosen in zip(heard, named, strict=True):
        await react(tools, ask, Reaction.SEEN if chosen else Reaction.CONFUSED)
    is_whole = is_due or everything in named
    return replace(state, planned_sha=pull_request.sha) if is_whole else state


async def _void_older(tools: Tools, tx: Tx, pull_request: PullRequest) -> None:
    """A new head voids all older plans of ours, also of deployments that dropped out.

    Not those of others: a pipeline may plan the merge commit, which is no head.
    """
    for plan in await _in_force(tx, pull_request, KEY_PREFIX):
        if plan.request.github and plan.request.github.sha != pull_request.sha:
            message = f"the head of the pull request is now {pull_request.sha}"
            await _end(tools, tx, plan, PlanReason.SUPERSEDED, message)


async def _clean_up(tools: Tools, tx: Tx, pull_request: PullRequest) -> None:
    """Nobody waits for what a closed pull request would change."""
    for plan in await _in_force(tx, pull_request, ""):
        await _end(tools, tx, plan, PlanReason.CANCELLED, "the pull request was closed")


async def _in_force(tx: Tx, pull_request: PullRequest, key_prefix: str) -> Sequence[Plan]:
    owner, repo, number = pull_request.owner, pull_request.repo, pull_request.number
    return await tx.plans_of_pull_request(owner, repo, number, key_prefix=key_prefix)


async def _end(tools: Tools, tx: Tx, plan: Plan, reason: PlanReason, message: str) -> None:
    now = tools.clock.now()
    if plan.status is PlanStatus.COMPUTING:
        await tx.stop_plan(plan.fail(reason, now, message))
    await tx.retire_plan(plan.id, now + tools.retention)
