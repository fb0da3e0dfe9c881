"""The later steps: look at the run until it has ended, stop it when it is late."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Final, assert_never

from foretell.agents.terraform_cloud.ending import Ending
from foretell.agents.terraform_cloud.progress import Progress, since
from foretell.agents.terraform_cloud.question import Question
from foretell.agents.terraform_cloud.run import RunView, Stage
from foretell.agents.terraform_cloud.stop import stop
from foretell.domain.errors import AgentRejected
from foretell.domain.result import Done, Outcome, Pending

DECISION_AFTER: Final = timedelta(minutes=2)
"""Nobody acts on a run that only plans: what waits for a decision longer is shown as it is."""


class Following:
    """Follows the run of a question."""

    def __init__(self, asked: Question) -> None:
        self._asked = asked
        self._ending = Ending(asked)

    async def step(self, progress: Progress) -> Outcome:
        """One look at the run."""
        run = await self._asked.client.run(progress.run)
        if run is None:
            raise AgentRejected(
                f"run {progress.run} is gone, or the token may not read it any more"
            )
        match run.stage:
            case Stage.QUEUED | Stage.PLANNING:
                return await self._waiting(progress, run)
            case Stage.WAITS_FOR_A_DECISION:
                return await self._undecided(progress, await self._with_plan(run))
            case Stage.FINISHED | Stage.SOFT_FAILED:
                return await self._ending.finished(progress, run)
            case Stage.ERRORED:
                return await self._ending.errored(progress, await self._with_plan(run))
            case Stage.CANCELLED:
                told = f"run {run.id} was ended by somebody else ({run.status})"
                raise AgentRejected(told, reason="cancelled")
            case Stage.NOT_PLAN_ONLY:
                await stop(self._asked.client, run.id)
                raise AgentRejected(
                    f"run {run.id} is {run.status}, which a run that only plans never is: stopped"
                )
            case _:
                assert_never(run.stage)

    async def _with_plan(self, run: RunView) -> RunView:
        """Not every server brings the plan along with the run."""
        if run.plan is None or run.plan.status:
            return run
        return replace(run, plan=await self._asked.client.plan(run.plan.id))

    async def _waiting(self, progress: Progress, run: RunView) -> Pending:
        now = self._asked.clock.now()
        if run.stage is Stage.PLANNING and not progress.left_queue_at:
            progress = progress.moved(left_queue_at=now.isoformat(), polls=0)
        queued = not progress.left_queue_at
        limit = self._asked.config.queue_timeout if queued else self._asked.config.run_timeout
        left = limit - since(progress.made_at if queued else progress.left_queue_at, now)
        if left <= timedelta(0):
            ended = await stop(self._asked.client, run.id)
            raise AgentRejected(_late(run, limit, queued=queued, ended=ended), reason="timeout")
        after = min(pause(progress.polls, queued=queued), left)
        progress = progress.moved(polls=progress.polls + 1, status=run.status)
        return self._asked.pending(progress, after, f"run {run.id} is {run.status}")

    async def _undecided(self, progress: Progress, run: RunView) -> Outcome:
        now = self._asked.clock.now()
        progress = progress.moved(undecided_at=progress.undecided_at or now.isoformat())
        if since(progress.undecided_at, now) < DECISION_AFTER:
            return self._asked.pending(
                progress, pause(9, queued=True), f"run {run.id} is {run.status}"
            )
        if run.plan is None or run.plan.status != "finished":
            await stop(self._asked.client, run.id)
            raise AgentRejected(f"run {run.id} waits for a decision before its plan: {run.status}")
        outcome = await self._ending.finished(progress, run, "a policy waits for a decision")
        if isinstance(outcome, Done):
            await stop(self._asked.client, run.id)
        return outcome


def pause(polls: int, *, queued: bool) -> timedelta:
    """1 to 3 s while planning; in the queue half as much again each time, to 10 s; jittered, so
    that a plan of many targets does not ask in step."""
    longest = 10.0 if queued else 3.0
    return timedelta(seconds=min(1.5 ** min(polls, 20), longest) * random.uniform(0.8, 1.2))


def _late(run: RunView, limit: timedelta, *, queued: bool, ended: bool) -> str:
    minutes = f"{limit.total_seconds() / 60:g} min"
    end = "it was stopped" if ended else "it could not be stopped"
    if queued:
        return (
            f"run {run.id} was queued too long: after {minutes} (queueTimeout) it is still "
            f"{run.status}; the organization runs so many at once and no more; {end}"
        )
    return (
        f"run {run.id} took too long: {minutes} (runTimeout) after it left the queue it is still "
        f"{run.status}; {end}"
    )
