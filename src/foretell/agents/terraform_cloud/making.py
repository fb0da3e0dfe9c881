"""The first steps: our own configuration version, and a run that is made once."""

from datetime import timedelta
from typing import Any, Final

from foretell.agents.terraform_cloud.client import Workspace
from foretell.agents.terraform_cloud.progress import Progress
from foretell.agents.terraform_cloud.question import Question
from foretell.agents.terraform_cloud.run import RunView, Stage, marker
from foretell.agents.terraform_cloud.said import MAY_NOT_PLAN
from foretell.agents.terraform_cloud.source import Asked
from foretell.agents.terraform_cloud.stop import stop
from foretell.agents.terraform_cloud.variables import run_variables
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.result import Pending

_LOOK_AFTER: Final = timedelta(seconds=5)
_SOON: Final = timedelta(seconds=1)
_LONGEST_MESSAGE: Final = 200


class Making:
    """Makes the run of a question."""

    def __init__(self, asked: Question) -> None:
        self._asked = asked

    async def step(self, progress: Progress) -> Pending:
        """Uploads, and in the next call makes the run: between the two the upload is written
        down, and by it a run is found again whose making nobody lived to tell of."""
        if progress.configuration:
            return await self._uploaded(progress)
        workspace = await self._workspace()
        if self._asked.context.attempt == 0:
            # Nobody counts the calls: this one may be a repetition of a whole course.
            found = await self._found(workspace.id, "")
            if found is not None:
                return self._made(progress, found)
        progress = await self._configured(progress, workspace)
        return self._asked.pending(progress, timedelta(0), "the configuration is uploaded")

    async def _uploaded(self, progress: Progress) -> Pending:
        if not progress.is_first(self._asked.context.attempt):
            found = await self._found(progress.workspace, progress.configuration)
            if found is not None:
                return self._made(progress, found)
        configuration = await self._asked.client.configuration(progress.configuration)
        if configuration.status == "errored":
            told = configuration.error or "without a reason"
            raise AgentRejected(f"the uploaded configuration was refused: {told}")
        if configuration.status != "uploaded":
            return self._asked.pending(progress, _SOON, "the configuration is being unpacked")
        return await self._run(progress)

    async def _workspace(self) -> Workspace:
        workspace = await self._asked.client.workspace(
            self._asked.config.organization, self._asked.config.template.workspace
        )
        if workspace.execution_mode == "local":
            raise AgentRejected(
                f"workspace {workspace.name} runs Terraform locally (execution mode local): "
                "nothing can be planned in it from outside; use the agent terraform"
            )
        if workspace.may_plan is False:
            raise AgentRejected(f"workspace {workspace.name}: {MAY_NOT_PLAN}")
        return workspace

    async def lost_run(self, progress: Progress) -> str:
        """The id of a run that was made and not written down, "" for none.

        Without an upload there is none; with one that nobody made a run of yet, nobody is asked:
        a plan of many targets may be stopped at that point, and lists are dear.
        """
        id = self._asked.context.invocation_id
        if not progress.configuration or self._asked.attempts.run_of(id):
            return self._asked.attempts.run_of(id)
        if progress.is_first(self._asked.context.attempt) and not self._asked.attempts.began(id):
            return ""
        found = await self._found(progress.workspace, progress.configuration)
        return found.id if found is not None else ""

    async def _found(self, workspace_id: str, configuration: str) -> RunView | None:
        """The run of this invocation that an earlier call made, without living to tell.

        By the `configuration` where that is known: anybody may write such a message, and there
        are servers that keep none.
        """
        mark = marker(self._asked.context.invocation_id)
        text = "" if configuration else mark.removesuffix(":")
        path = f"workspaces/{workspace_id}"
        async for run in self._asked.client.runs(path, text, only_open=False):
            named = run.message.startswith(mark)
            ours = run.configuration == configuration if configuration else named
            if ours and run.stage is not Stage.CANCELLED:
                return run
        return None

    async def _configured(self, progress: Progress, workspace: Workspace) -> Progress:
        config, context, side = self._asked.config, self._asked.context, self._asked.side
        about = Asked(context.plan_id, side.version, side.source, context.head)
        place = await self._asked.sources.find(config.repository, about)
        archive = await self._asked.sources.pack(
            place, config.repository.path, workspace.working_directory
        )
        made = await self._asked.client.create_configuration(workspace.id)
        await self._asked.client.upload(made.upload_url, archive.content)
        return progress.moved(configuration=made.id, workspace=workspace.id, commit=place.name)

    async def _run(self, progress: Progress) -> Pending:
        body = self._body(progress)
        self._asked.attempts.begin(self._asked.context.invocation_id)
        try:
            run = await self._asked.client.create_run(body)
        except AgentUnavailable as error:
            # It may be there all the same: whoever goes on from here looks for it first.
            message = f"the answer to making the run was lost ({error.message})"
            return self._asked.pending(progress.moved(careful=True), _LOOK_AFTER, message)
        if not run.plan_only:
            await stop(self._asked.client, run.id)
            raise AgentRejected(f"run {run.id} was made as one that can be applied: stopped")
        return self._made(progress, run)

    def _body(self, progress: Progress) -> dict[str, Any]:
        attributes = {
            "plan-only": True,
            "message": self._message(progress.commit),
            "variables": run_variables(self._asked.config.template.variables),
        }
        relationships = {
            "workspace": {"data": {"type": "workspaces", "id": progress.workspace}},
            "configuration-version": {
                "data": {"type": "configuration-versions", "id": progress.configuration}
            },
        }
        return {"data": {"type": "runs", "attributes": attributes, "relationships": relationships}}

    def _message(self, commit: str) -> str:
        slug = self._asked.side.deployment.get("slug", "")
        told = self._asked.secrets.text(f"{slug} {self._asked.side.version.tag}".replace("\n", " "))
        return f"{marker(self._asked.context.invocation_id)} {told[:_LONGEST_MESSAGE]} at {commit}"

    def _made(self, progress: Progress, run: RunView) -> Pending:
        self._asked.attempts.made(self._asked.context.invocation_id, run.id)
        progress = progress.moved(
            run=run.id,
            workspace=run.workspace or progress.workspace,
            configuration=run.configuration or progress.configuration,
            commit=progress.commit or run.message.rpartition(" at ")[2],
            made_at=self._asked.clock.now().isoformat(),
        )
        return self._asked.pending(progress, _SOON, f"run {run.id} is {run.status}")
