"""Step 3: one agent is asked about one target, once more, until it answered or time is up."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import assert_never

from foretell.domain.context import DispatchContext
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.plan import InvocationId, PlanReason, PlanStatus
from foretell.domain.result import (
    Done,
    Invocation,
    Outcome,
    Pending,
    Status,
    Unsupported,
    kinds_problem,
)
from foretell.domain.verdict import RESERVED
from foretell.ports import Agent, Agents, Clock, Job, Settled, Step, Store

_LONGEST_PAUSE = timedelta(seconds=60)


async def invoke(store: Store, agents: Agents, clock: Clock, invocation_id: InvocationId) -> None:
    """Ask the agent and write down what it said, together with the job that follows.

    An invocation of a plan that is no longer wanted, or past its deadline, is abandoned instead.
    """
    async with store.begin() as tx:
        work = await tx.start(invocation_id, clock.now())
    if work is None:
        return
    agent = agents.find(work.context.agent.type)
    if agent is None:
        await _settle(store, clock, work, _unknown_agent(agents, work))
    elif ended := _ended(work, clock.now()):
        await _abandon(agent, work)
        await _settle(store, clock, work, ended)
    else:
        await _ask(store, agent, clock, work)


def _unknown_agent(agents: Agents, work: Invocation) -> Settled:
    known = ", ".join(agents.types()) or "none"
    wanted = work.context.agent.type
    return Settled(Status.UNSUPPORTED, "", f"no agent of type {wanted!r} can plan (known: {known})")


def _ended(work: Invocation, now: datetime) -> Settled | None:
    """Why nobody waits for this invocation any more, or None."""
    if work.plan_status is not PlanStatus.COMPUTING:
        reason = work.plan_reason or PlanReason.CANCELLED
        return Settled(Status.ERRORED, reason, f"the plan was {reason} before this was answered")
    if now >= work.deadline_at(now):
        return _timed_out(work)
    return None


def _timed_out(work: Invocation) -> Settled:
    seconds = int(work.timeout.total_seconds())
    last = f"; last word: {work.message}" if work.message else ""
    return Settled(
        Status.ERRORED, "timeout", f"no answer in {seconds} s ({work.attempts} tries){last}"
    )


async def _abandon(agent: Agent, work: Invocation) -> None:
    # What can't be removed now is left to the sweep; the invocation ends either way, also when the
    # plug-in has a bug: a step that raised here would be tried again for ever.
    with suppress(Exception):
        await agent.abandon(_counted(work), work.state)


def _counted(work: Invocation) -> DispatchContext:
    """The question with its count: an agent may have to know that it was asked before."""
    return replace(work.context, attempt=work.attempts)


async def _ask(store: Store, agent: Agent, clock: Clock, work: Invocation) -> None:
    deadline = asyncio.timeout(_left(work, clock).total_seconds())
    try:
        async with deadline:
            outcome = _checked(await agent.plan(_counted(work), work.state))
    except AgentUnavailable as error:
        await _ask_later(store, clock, work, error)
    except AgentRejected as error:
        await _settle(store, clock, work, Settled(Status.ERRORED, error.reason, error.message))
    except Exception as error:
        if deadline.expired():
            await _abandon(agent, work)
            await _settle(store, clock, work, _timed_out(work))
        else:
            await _settle(store, clock, work, _bug(error))
    else:
        await _record(store, agent, clock, work, outcome)


def _left(work: Invocation, clock: Clock) -> timedelta:
    now = clock.now()
    return max(work.deadline_at(now) - now, timedelta(0))


def _checked(answer: object) -> Outcome:
    """What a plug-in returned, whose author may not have asked a type checker."""
    if isinstance(answer, Done | Pending | Unsupported):
        return answer
    raise TypeError


def _bug(error: Exception) -> Settled:
    # Its text may hold anything, secrets too: only the type is told.
    what = f"the agent failed with {type(error).__name__}, which is a bug of the agent"
    return Settled(Status.ERRORED, "internal", what)


async def _ask_later(store: Store, clock: Clock, work: Invocation, error: AgentUnavailable) -> None:
    """Back off: 1 s, 2 s, 4 s … 60 s, or what the other side asked for."""
    pause = min(timedelta(seconds=2 ** min(work.attempts - 1, 6)), _LONGEST_PAUSE)
    async with store.begin() as tx:
        if await tx.save_message(work.id, error.message):
            await tx.enqueue([_again(work, clock, error.retry_after or pause)])


def _again(work: Invocation, clock: Clock, after: timedelta) -> Job:
    """Ask again after that long, at the deadline at the latest: who gives up is not late."""
    return Job(Step.INVOKE, work.id, min(after, _left(work, clock)))


async def _record(
    store: Store, agent: Agent, clock: Clock, work: Invocation, outcome: Outcome
) -> None:
    match outcome:
        case Pending():
            kept = await _save_pending(store, clock, work, outcome)
        case Unsupported(message=message):
            kept = await _settle(store, clock, work, Settled(Status.UNSUPPORTED, "", message))
        case Done():
            kept = await _save_done(store, clock, work, outcome)
        case _:
            assert_never(outcome)
    if not kept:
        # The plan was stopped while the agent worked: nobody else will clean up after it.
        await _abandon(agent, work)


async def _save_pending(store: Store, clock: Clock, work: Invocation, pending: Pending) -> bool:
    async with store.begin() as tx:
        kept = await tx.save_pending(work.id, pending)
        if kept:
            await tx.enqueue([_again(work, clock, pending.after)])
    return kept


async def _save_done(store: Store, clock: Clock, work: Invocation, done: Done) -> bool:
    problem = kinds_problem(done.results, RESERVED)
    if problem:
        return await _settle(store, clock, work, Settled(Status.ERRORED, "rejected", problem))
    judged = work.governed and not done.failure
    async with store.begin() as tx:
        kept = await tx.save_done(work, done, clock.now(), settled=not judged)
        if kept:
            next_job = Job(Step.VALIDATE, work.id) if judged else Job(Step.SETTLE, work.plan_id)
            await tx.enqueue([next_job])
    return kept


async def _settle(store: Store, clock: Clock, work: Invocation, settled: Settled) -> bool:
    async with store.begin() as tx:
        kept = await tx.save_settled(work.id, settled, clock.now())
        if kept:
            await tx.enqueue([Job(Step.SETTLE, work.plan_id)])
    return kept
