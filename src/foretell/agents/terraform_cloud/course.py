"""One invocation's run, from the upload to the answer, one bounded step a call."""

import asyncio
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, assert_never

from foretell.agents.terraform_cloud.answer import Answer, Secrets, from_log, from_plan
from foretell.agents.terraform_cloud.client import Client, Workspace
from foretell.agents.terraform_cloud.config import TerraformCloudConfig
from foretell.agents.terraform_cloud.judged import Judged, read_judged
from foretell.agents.terraform_cloud.log import PlanLog, read_log
from foretell.agents.terraform_cloud.output import Output, read_output
from foretell.agents.terraform_cloud.progress import Progress, read_progress, since
from foretell.agents.terraform_cloud.run import PlanView, RunView, Stage, marker
from foretell.agents.terraform_cloud.said import MAY_NOT_PLAN
from foretell.agents.terraform_cloud.source import Asked, Sources
from foretell.agents.terraform_cloud.stop import stop
from foretell.agents.terraform_cloud.variables import run_variables
from foretell.domain.context import DispatchContext, Side
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.plan import JsonObject
from foretell.domain.result import Done, Outcome, Pending, Phase
from foretell.ports import Clock

OUTPUT_FOR: Final = timedelta(seconds=60)
"""How long a finished run may take to have its plan as JSON."""
DECISION_AFTER: Final = timedelta(minutes=2)
"""Nobody acts on a run that only plans: what waits for a decision longer is shown as it is."""
_LOOK_AFTER: Final = timedelta(seconds=5)
_SOON: Final = timedelta(seconds=1)
_LONGEST_MESSAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Course:
    """All that the steps of one invocation share."""

    client: Client
    config: TerraformCloudConfig
    context: DispatchContext
    side: Side
    secrets: Secrets = field(repr=False)
    sources: Sources
    clock: Clock

    async def step(self, state: JsonObject | None) -> Outcome:
        """The next step after `state`."""
        progress = read_progress(state)
        if progress.run:
            return await self._follow(progress)
        return await self._begin(progress)

    # Making the run

    async def _begin(self, progress: Progress) -> Outcome:
        workspace = await self._workspace()
        if not progress.is_first(self.context.attempt):
            found = await self.find_run(workspace.id, progress.configuration)
            if found is not None:
                return self._made(progress, found)
        if not progress.configuration:
            progress = await self._configured(progress, workspace)
        configuration = await self.client.configuration(progress.configuration)
        if configuration.status == "errored":
            told = configuration.error or "without a reason"
            raise AgentRejected(f"the uploaded configuration was refused: {told}")
        if configuration.status != "uploaded":
            return self._pending(progress, _SOON, "the configuration is being unpacked")
        return await self._run(progress, workspace)

    async def _workspace(self) -> Workspace:
        workspace = await self.client.workspace(
            self.config.organization, self.config.template.workspace
        )
        if workspace.execution_mode == "local":
            raise AgentRejected(
                f"workspace {workspace.name} runs Terraform locally (execution mode local): "
                "nothing can be planned in it from outside; use the agent terraform"
            )
        if workspace.may_plan is False:
            raise AgentRejected(f"workspace {workspace.name}: {MAY_NOT_PLAN}")
        return workspace

    async def find_run(self, workspace_id: str, configuration: str = "") -> RunView | None:
        """The run of this invocation that an earlier call made, without living to tell.

        Of the `configuration` where that is known: anybody may give a run such a message.
        """
        mark = marker(self.context.invocation_id)
        async for run in self.client.runs(
            f"workspaces/{workspace_id}", mark.removesuffix(":"), only_open=False
        ):
            ours = run.message.startswith(mark) and configuration in ("", run.configuration)
            if ours and run.stage is not Stage.CANCELLED:
                return run
        return None

    async def _configured(self, progress: Progress, workspace: Workspace) -> Progress:
        place = await self.sources.find(
            self.config.repository,
            Asked(self.context.plan_id, self.side.version, self.side.source, self.context.head),
        )
        archive = await self.sources.pack(
            place, self.config.repository.path, workspace.working_directory
        )
        made = await self.client.create_configuration(workspace.id)
        await self.client.upload(made.upload_url, archive.content)
        return progress.moved(configuration=made.id, commit=place.name)

    async def _run(self, progress: Progress, workspace: Workspace) -> Outcome:
        body = self._body(progress, workspace)
        try:
            run = await self.client.create_run(body)
        except AgentUnavailable as error:
            # It may be there all the same: whoever goes on from here looks for it first.
            message = f"the answer to making the run was lost ({error.message})"
            return self._pending(progress.moved(careful=True), _LOOK_AFTER, message)
        if not run.plan_only:
            await stop(self.client, run.id)
            raise AgentRejected(f"run {run.id} was made as one that can be applied: stopped")
        return self._made(progress, run)

    def _body(self, progress: Progress, workspace: Workspace) -> dict[str, Any]:
        attributes = {
            "plan-only": True,
            "message": self._message(progress.commit),
            "variables": run_variables(self.config.template.variables),
        }
        relationships = {
            "workspace": {"data": {"type": "workspaces", "id": workspace.id}},
            "configuration-version": {
                "data": {"type": "configuration-versions", "id": progress.configuration}
            },
        }
        return {"data": {"type": "runs", "attributes": attributes, "relationships": relationships}}

    def _message(self, commit: str) -> str:
        slug = self.side.deployment.get("slug", "")
        told = self.secrets.text(f"{slug} {self.side.version.tag}".replace("\n", " "))
        return f"{marker(self.context.invocation_id)} {told[:_LONGEST_MESSAGE]} at {commit}"

    def _made(self, progress: Progress, run: RunView) -> Pending:
        progress = progress.moved(
            run=run.id,
            workspace=run.workspace,
            configuration=run.configuration or progress.configuration,
            commit=progress.commit or run.message.rpartition(" at ")[2],
            made_at=self.clock.now().isoformat(),
        )
        return self._pending(progress, _SOON, f"run {run.id} is {run.status}")

    def _pending(self, progress: Progress, after: timedelta, message: str) -> Pending:
        state = progress.moved(asked=self.context.attempt).as_state()
        return Pending(state, after, message)

    # Following it

    async def _follow(self, progress: Progress) -> Outcome:
        run = await self.client.run(progress.run)
        if run is None:
            raise AgentRejected(
                f"run {progress.run} is gone, or the token may not read it any more"
            )
        match run.stage:
            case Stage.QUEUED | Stage.PLANNING:
                return await self._waiting(progress, run)
            case Stage.WAITS_FOR_A_DECISION:
                return await self._undecided(progress, run)
            case Stage.FINISHED | Stage.SOFT_FAILED:
                return await self._finished(progress, run)
            case Stage.ERRORED:
                return await self._errored(progress, run)
            case Stage.CANCELLED:
                raise AgentRejected(
                    f"run {run.id} was ended by somebody else ({run.status})", reason="cancelled"
                )
            case Stage.NOT_PLAN_ONLY:
                await stop(self.client, run.id)
                raise AgentRejected(
                    f"run {run.id} is {run.status}, which a run that only plans never is: stopped"
                )
            case _:
                assert_never(run.stage)

    async def _waiting(self, progress: Progress, run: RunView) -> Pending:
        now = self.clock.now()
        if run.stage is Stage.PLANNING and not progress.left_queue_at:
            progress = progress.moved(left_queue_at=now.isoformat(), polls=0)
        queued = not progress.left_queue_at
        limit = self.config.queue_timeout if queued else self.config.run_timeout
        left = limit - since(progress.made_at if queued else progress.left_queue_at, now)
        if left <= timedelta(0):
            ended = await stop(self.client, run.id)
            raise AgentRejected(_late(run, limit, queued=queued, ended=ended), reason="timeout")
        after = min(pause(progress.polls, queued=queued), left)
        progress = progress.moved(polls=progress.polls + 1, status=run.status)
        return self._pending(progress, after, f"run {run.id} is {run.status}")

    async def _undecided(self, progress: Progress, run: RunView) -> Outcome:
        now = self.clock.now()
        progress = progress.moved(undecided_at=progress.undecided_at or now.isoformat())
        if since(progress.undecided_at, now) < DECISION_AFTER:
            return self._pending(progress, pause(9, queued=True), f"run {run.id} is {run.status}")
        if run.plan is None or run.plan.status != "finished":
            await stop(self.client, run.id)
            raise AgentRejected(f"run {run.id} waits for a decision before its plan: {run.status}")
        outcome = await self._finished(progress, run, "a policy waits for a decision")
        if isinstance(outcome, Done):
            await stop(self.client, run.id)
        return outcome

    async def _errored(self, progress: Progress, run: RunView) -> Outcome:
        """Two cases: the plan failed, or it is there and what judged it said no."""
        if run.plan is not None and run.plan.status == "finished":
            told = "the plan was made, and a mandatory policy or run task stopped it"
            return await self._finished(progress, run, failure=told)
        log = await self._log(run.plan)
        reason = self.secrets.text(log.reason) or "its log gives no reason"
        raise AgentRejected(f"the plan of run {run.id} failed: {reason}")

    # The answer

    async def _finished(
        self, progress: Progress, run: RunView, note: str = "", failure: str = ""
    ) -> Outcome:
        if run.plan is None:
            raise AgentRejected(f"run {run.id} is {run.status} and names no plan")
        now = self.clock.now()
        progress = progress.moved(ended_at=progress.ended_at or now.isoformat())
        patient = since(progress.ended_at, now) < OUTPUT_FOR
        output = await read_output(self.client, run.plan.id, wait=patient)
        if output is None:
            return self._pending(progress, _SOON, f"run {run.id}: its plan is being written")
        judged = await read_judged(self.client, run)
        answer = await self._answer(output, run.plan)
        await self.client.archive_configuration(progress.configuration)
        notes = [note, output.note, *answer.notes, *_judgements(run, judged)]
        told = "; ".join(each for each in (*notes, self._place(progress, run)) if each)
        return Done(
            results=(answer.result,),
            message=self.secrets.text(told),
            phases=self._phases(progress),
            failure=failure or answer.failure,
        )

    async def _answer(self, output: Output, view: PlanView) -> Answer:
        if output.plan is not None:
            return await asyncio.to_thread(from_plan, output.plan, view, self.secrets)
        return from_log(await self._log(view), view, self.secrets)

    async def _log(self, plan: PlanView | None) -> PlanLog:
        url = plan.log_url if plan else ""
        return await read_log(self.client.outside, url, secure=self.client.secure)

    def _place(self, progress: Progress, run: RunView) -> str:
        address = (
            f"{self.config.address}/app/{self.config.organization}/workspaces/"
            f"{self.config.template.workspace}/runs/{run.id}"
        )
        return f"commit {progress.commit}, {progress.configuration}, {address}"

    def _phases(self, progress: Progress) -> tuple[Phase, ...]:
        now = self.clock.now()
        whole = since(progress.made_at, now).total_seconds()
        planning = since(progress.left_queue_at, now).total_seconds()
        return (Phase("queue", max(whole - planning, 0.0)), Phase("plan", planning))


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


def _judgements(run: RunView, judged: tuple[Judged, ...]) -> list[str]:
    soft = ["a policy that may be overridden did not hold"]
    return [*(soft if run.stage is Stage.SOFT_FAILED else []), *map(str, judged)]
