"""The last step: read what an ended run came to, and let its upload go."""

import asyncio
from datetime import timedelta
from typing import Final

from foretell.agents.terraform_cloud.answer import Answer, from_log, from_plan
from foretell.agents.terraform_cloud.judged import Judged, read_judged
from foretell.agents.terraform_cloud.log import PlanLog, read_log
from foretell.agents.terraform_cloud.output import Output, read_output
from foretell.agents.terraform_cloud.progress import Progress, since
from foretell.agents.terraform_cloud.question import Question
from foretell.agents.terraform_cloud.run import PlanView, RunView, Stage
from foretell.domain.errors import AgentRejected
from foretell.domain.result import Done, Outcome, Phase

OUTPUT_FOR: Final = timedelta(seconds=60)
"""How long a finished run may take to have its plan as JSON."""
_SOON: Final = timedelta(seconds=1)


class Ending:
    """Reads the answer to a question from its run."""

    def __init__(self, asked: Question) -> None:
        self._asked = asked

    async def errored(self, progress: Progress, run: RunView) -> Outcome:
        """Two cases: the plan failed, or it is there and what judged it said no."""
        if run.plan is not None and run.plan.status == "finished":
            told = "the plan was made, and a mandatory policy or run task stopped it"
            return await self.finished(progress, run, failure=told)
        log = await self._log(run.plan)
        reason = self._asked.secrets.text(log.reason) or "its log gives no reason"
        raise AgentRejected(f"the plan of run {run.id} failed: {reason}")

    async def finished(
        self, progress: Progress, run: RunView, note: str = "", failure: str = ""
    ) -> Outcome:
        """The answer, or Pending while the plan is still being written."""
        if run.plan is None:
            raise AgentRejected(f"run {run.id} is {run.status} and names no plan")
        now = self._asked.clock.now()
        progress = progress.moved(ended_at=progress.ended_at or now.isoformat())
        patient = since(progress.ended_at, now) < OUTPUT_FOR
        output = await read_output(self._asked.client, run.plan.id, wait=patient)
        if output is None:
            return self._asked.pending(progress, _SOON, f"run {run.id}: its plan is being written")
        judged = await read_judged(self._asked.client, run)
        answer = await self._answer(output, run.plan)
        await self._asked.client.archive_configuration(progress.configuration)
        notes = [note, output.note, *answer.notes, *_judgements(run, judged)]
        told = "; ".join(each for each in (*notes, self._place(progress, run)) if each)
        return Done(
            results=(answer.result,),
            message=self._asked.secrets.text(told),
            phases=self._phases(progress),
            failure=failure or answer.failure,
        )

    async def _answer(self, output: Output, view: PlanView) -> Answer:
        proven = output.plan is not None and not output.plan.partial_form
        if not proven and not view.status:
            view = await self._asked.client.plan(view.id)
        if output.plan is not None:
            return await asyncio.to_thread(from_plan, output.plan, view, self._asked.secrets)
        return from_log(await self._log(view), view, self._asked.secrets)

    async def _log(self, plan: PlanView | None) -> PlanLog:
        url = plan.log_url if plan else ""
        return await read_log(self._asked.client.outside, url, secure=self._asked.client.secure)

    def _place(self, progress: Progress, run: RunView) -> str:
        address = (
            f"{self._asked.config.address}/app/{self._asked.config.organization}/workspaces/"
            f"{self._asked.config.template.workspace}/runs/{run.id}"
        )
        return f"commit {progress.commit}, {progress.configuration}, {address}"

    def _phases(self, progress: Progress) -> tuple[Phase, ...]:
        now = self._asked.clock.now()
        whole = since(progress.made_at, now).total_seconds()
        planning = since(progress.left_queue_at, now).total_seconds()
        return (Phase("queue", max(whole - planning, 0.0)), Phase("plan", planning))


def _judgements(run: RunView, judged: tuple[Judged, ...]) -> list[str]:
    soft = ["a policy that may be overridden did not hold"]
    return [*(soft if run.stage is Stage.SOFT_FAILED else []), *map(str, judged)]
