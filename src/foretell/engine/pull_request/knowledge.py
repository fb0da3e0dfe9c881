"""Events, in order, become the newest state of a pull request and what people asked for."""

from dataclasses import dataclass, replace

import structlog

from foretell.engine.pull_request.order import followed, guessed, is_newer
from foretell.engine.pull_request.questions import current, may_write, react
from foretell.engine.pull_request.rules import names_label
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import Moved, PlanAsked
from foretell.ports import Forks, PullRequestState, Reaction

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Known:
    """`state` None: nothing is known of it. `asks`: what people with write access asked for."""

    state: PullRequestState | None
    asks: tuple[PlanAsked, ...] = ()


async def learn(tools: Tools, known: Known, event: Moved | PlanAsked) -> Known:
    """What is known after one more event."""
    match event:
        case Moved():
            return replace(known, state=await _moved(tools, known.state, event))
        case PlanAsked():
            return await _asked(tools, known, event)


async def _moved(tools: Tools, state: PullRequestState | None, moved: Moved) -> PullRequestState:
    newer = True if state is None else is_newer(state, moved)
    if state is None or newer:
        return await _vouched(tools, followed(state, moved), moved)
    if newer is False:
        return state
    told = moved.pull_request
    now = await current(tools, told.owner, told.repo, told.number)
    return followed(state, Moved(now)) if now else guessed(state, moved)


async def _vouched(tools: Tools, state: PullRequestState, moved: Moved) -> PullRequestState:
    """A label of the settings vouches for the head that a fork has now, and for no later one."""
    told, rules = moved.pull_request, tools.rules
    is_vouching = told.is_fork and rules.forks is Forks.ASKED and names_label(rules, moved.label)
    if not is_vouching or not await may_write(tools, told.owner, told.repo, moved.sender):
        return state
    return replace(state, asked_sha=told.sha)


async def _asked(tools: Tools, known: Known, ask: PlanAsked) -> Known:
    if not await may_write(tools, ask.owner, ask.repo, ask.author):
        _log.info("comment.ignored", comment=ask.comment_id)
        return known
    if not ask.is_understood:
        await react(tools, ask, Reaction.CONFUSED)
        return known
    state = await _seen(tools, known.state, ask)
    return Known(state, (*known.asks, ask)) if state else known


async def _seen(
    tools: Tools, state: PullRequestState | None, ask: PlanAsked
) -> PullRequestState | None:
    """The state that somebody who asks had before them, vouched for; the event may be on its way.

    A head that nobody told us of by then may be a later one: it is planned, and is not vouched
    for unless it is the first that we hear of.
    """
    now = await current(tools, ask.owner, ask.repo, ask.number)
    vouched = state.pull_request.sha if state else now.sha if now else ""
    if now and (state is None or now.updated_at >= state.pull_request.updated_at):
        state = followed(state, Moved(now))
    return replace(state, asked_sha=vouched) if state else None
