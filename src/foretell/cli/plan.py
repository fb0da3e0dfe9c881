"""`foretell plan`: what a version would change, on every target, and an exit code for CI."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.argo_plan import ArgoPlan, plan_argo_cd
from foretell.cli.argo_source import CaFileOption, RepoOption
from foretell.cli.ending import Ending
from foretell.cli.local import LocalPlan, plan_locally
from foretell.cli.output import Output, write_reports
from foretell.cli.progress import shown_progress
from foretell.cli.remote import (
    DEFAULT_SERVER,
    ContextOption,
    RemotePlan,
    Server,
    ServerOption,
    TokenOption,
    WorkspaceOption,
    github_ref,
    needed,
    plan_remotely,
)
from foretell.domain.plan import PlanStatus
from foretell.domain.summary import PlanReport, exit_code
from foretell.formats.recontext import CONTEXT
from foretell.kit.tree import WORKTREE
from foretell.settings import read_settings

Inventory = Annotated[
    Path, typer.Option("--file", "-f", help="With --local: the inventory, a file or a folder.")
]
Base = Annotated[
    str,
    typer.Option(
        show_default="HEAD with --local",
        help="The revision to compare with; with --argocd: what the files changed since.",
    ),
]
Head = Annotated[
    str,
    typer.Option(help=f"With --local: the revision to plan; {WORKTREE}: the files as they are."),
]

_NO_SERVER = "; to compare two revisions here, without one, add --local"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(  # noqa: PLR0913 - a command's options are its parameters
    local: Annotated[
        bool, typer.Option("--local", help="Compare two revisions here, without a server.")
    ] = False,
    file: Inventory = Path("inventory.yaml"),
    base: Base = "",
    head: Head = WORKTREE,
    deployment: Annotated[
        str, typer.Option("--deployment", "-d", help="Slug or id; with --local, all by default.")
    ] = "",
    argocd: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Plan what this Argo CD has of --repo.")
    ] = "",
    repo: RepoOption = "",
    sha: Annotated[str, typer.Option(help="With --repo: the commit to plan.")] = "",
    pr: Annotated[
        int | None, typer.Option(min=1, help="With --repo: the pull request to show it on.")
    ] = None,
    into: Annotated[
        str, typer.Option(metavar="BRANCH", help="With --argocd: where it is to be merged.")
    ] = "",
    ca_file: CaFileOption = "",
    workspace: WorkspaceOption = "",
    tag: Annotated[str, typer.Option(help="The version's tag, as it would be created.")] = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Follow the plan until it ends.")
    ] = True,
    output: Annotated[Output, typer.Option("--output", "-o")] = Output.TABLE,
    context: ContextOption = CONTEXT,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 for changes or unknown.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="No target selected is no error.")
    ] = False,
) -> None:
    """Show what a version would change, on every target.

    Exits 1 for an error, an errored target or no target; 3 if a mandatory rule said no; 2 for
    changes or unknown, only with --detailed-exitcode; 0 otherwise.

    Examples:

      foretell plan --local -f inventory.yaml --base origin/main --head HEAD

      foretell plan --argocd argocd.example.com --repo shop/platform --sha 3f9c1d2 --base main

      foretell plan --workspace acme --deployment api --tag pr-12-3f9c1d2 --wait

      foretell plan -w acme -d api --repo shop/platform --sha 3f9c1d2 --pr 12
    """
    if argocd:
        needed(repo=repo, sha=sha)
        reports = _on_argo_cd(ArgoPlan(argocd, repo, sha, base, into, deployment, ca_file, context))
    elif local:
        reports = _locally(LocalPlan(file, base or "HEAD", head, deployment, tag, context))
    else:
        tag = tag or sha
        needed(workspace=workspace, deployment=deployment, tag=tag, otherwise=_NO_SERVER)
        github = github_ref(repo, sha, pr)
        wanted = RemotePlan(workspace, deployment, tag, wait, context, github)
        reports = _remotely(Server(server, token), wanted)
    write_reports(reports, output)
    raise Ending(
        worst_code(reports, detailed=detailed_exitcode, allow_empty=allow_empty, wait=wait)
    )


def _locally(wanted: LocalPlan) -> Sequence[PlanReport]:
    with shown_progress() as progress:
        return asyncio.run(plan_locally(read_settings(), wanted, progress))


def _on_argo_cd(wanted: ArgoPlan) -> Sequence[PlanReport]:
    with shown_progress() as progress:
        return asyncio.run(plan_argo_cd(read_settings(), wanted, progress))


def _remotely(server: Server, wanted: RemotePlan) -> Sequence[PlanReport]:
    with shown_progress() as progress:
        return [asyncio.run(plan_remotely(server, wanted, progress))]


def worst_code(
    reports: Sequence[PlanReport], *, detailed: bool, allow_empty: bool, wait: bool = True
) -> int:
    """The exit code over all of them: the first of 1, 3, 2 that any has, else 0.

    A plan that still computes has failed the one who waited for it, and nobody else.
    """
    codes = {
        exit_code(report.status, report.summary, detailed=detailed, allow_empty=allow_empty)
        for report in reports
        if wait or report.status is not PlanStatus.COMPUTING
    }
    return next((code for code in (1, 3, 2) if code in codes), 0)
