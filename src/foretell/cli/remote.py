"""Plans on a server, followed by its events."""

from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import uuid4

import typer

from foretell.cli.client import Client, Deployed, open_client
from foretell.cli.local import Progress
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import GithubRef, PlanId, PlanStatus
from foretell.domain.summary import PlanReport
from foretell.formats.recontext import CONTEXT, results_to_read, with_context

QUICK = 5
"""Seconds to wait in the first call: a plan of quick agents is finished in one."""

ServerOption = Annotated[
    str, typer.Option("--server", envvar="FORETELL_URL", help="The server's address.")
]
TokenOption = Annotated[
    str,
    typer.Option("--token", envvar="FORETELL_TOKEN", help="Better in the environment."),
]
WorkspaceOption = Annotated[
    str, typer.Option("--workspace", "-w", envvar="FORETELL_WORKSPACE", help="Slug or id.")
]
ContextOption = Annotated[int, typer.Option(min=0, help="Equal lines around each change.")]
DeploymentOption = Annotated[
    str, typer.Option("--deployment", "-d", envvar="FORETELL_DEPLOYMENT", help="Slug or id.")
]
DEFAULT_SERVER = "http://127.0.0.1:8080"


@dataclass(frozen=True, slots=True)
class Server:
    """Where, and who asks."""

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """What to ask for; without `wait` the plan is shown as far as it has come at once.

    `github`: where the plan is to be shown besides, by the server.
    """

    workspace: str
    deployment: str
    tag: str
    wait: bool = True
    context: int = CONTEXT
    github: GithubRef | None = None

    def body(self) -> dict[str, Any]:
        """The request as the API takes it."""
        if self.github is None:
            return {"tag": self.tag}
        at = self.github
        github: dict[str, Any] = {"owner": at.owner, "repo": at.repo, "sha": at.sha}
        if at.pr_number is not None:
            github["prNumber"] = at.pr_number
        return {"tag": self.tag, "github": github}


async def plan_remotely(server: Server, wanted: RemotePlan, progress: Progress) -> PlanReport:
    """The finished plan, or with `wait` off the new one. Raises ForetellError as the server said.

    Interrupted, it leaves the plan computing: somebody else may look at it.
    """
    where = Deployed(wanted.workspace, wanted.deployment)
    key = str(uuid4())
    async with open_client(server.url, server.token) as client:
        seconds = QUICK if wanted.wait else 0
        report = await client.submit(where, wanted.body(), key=key, wait_seconds=seconds)
        if wanted.wait and report.status is PlanStatus.COMPUTING:
            await _follow(client, where, report, progress)
            report = await client.get(where, report.id)
        return await _with_context(client, where, report, wanted.context)


async def _with_context(
    client: Client, where: Deployed, report: PlanReport, context: int
) -> PlanReport:
    if context == CONTEXT:
        return report
    texts = {id: await client.changes(where, report.id, id) for id in results_to_read(report)}
    return with_context(report, texts, context)


async def _follow(client: Client, where: Deployed, report: PlanReport, progress: Progress) -> None:
    settled: set[str] = set()
    total = report.summary.total if report.summary else 0
    async for event in client.events(where, report.id):
        if event.name != "target":
            continue
        settled.add(event.id)
        progress(report.deployment_name, len(settled), max(total, len(settled)))


async def show_remotely(
    server: Server, where: Deployed, plan_id: str, context: int = CONTEXT
) -> PlanReport:
    """A plan as far as it has come."""
    async with open_client(server.url, server.token) as client:
        report = await client.get(where, PlanId(plan_id))
        return await _with_context(client, where, report, context)


def github_ref(repo: str, sha: str, pr: int | None) -> GithubRef | None:
    """The commit that a plan is shown at; None where no repository is named.

    Raises InvalidRequest for what is no repository, and for a repository without a commit.
    """
    if not repo:
        if sha or pr is not None:
            raise InvalidRequest("--sha and --pr need a --repo OWNER/NAME")
        return None
    owner, _, name = repo.partition("/")
    if not owner or not name or "/" in name or ":" in repo:
        raise InvalidRequest(f"--repo: expected OWNER/NAME, found {repo!r}")
    if not sha:
        raise InvalidRequest("--repo needs the commit that is planned: --sha")
    return GithubRef(owner, name, sha, pr)


def needed(*, otherwise: str = "", **options: str) -> None:
    """Raises InvalidRequest that names each missing option, then what else may be meant."""
    missing = [f"--{name}" for name, value in options.items() if not value]
    if missing:
        raise InvalidRequest(f"a server needs {', '.join(missing)}{otherwise}")
