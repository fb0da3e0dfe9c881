"""`foretell plan --argocd`: what a commit changes on Argo CD, with no inventory and no server.

The inventory is what Argo CD has of the repository, narrowed to the Applications that the changed
files can reach. The database is the private one of local plans.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import typer

from foretell.cli.argo_source import applications_of, argo_server
from foretell.cli.local import Progress, follow, in_context, private, put_policies
from foretell.cli.log import start_log
from foretell.cli.output import visible
from foretell.domain.errors import ForetellError, InvalidRequest
from foretell.domain.plan import PlanId, PlanRequest, WorkspaceId
from foretell.domain.summary import PlanReport
from foretell.domain.target import Deployment
from foretell.engine.submit import Submission, submit
from foretell.formats.argo_inventory import Change, Chosen, Tree, choose, identifier, inventory
from foretell.formats.argo_inventory.reading import CHART_FILES, KUSTOMIZATION_FILES
from foretell.formats.recontext import CONTEXT
from foretell.formats.yaml import dump
from foretell.inventory.identity import workspace_id
from foretell.inventory.load import LoadedInventory, parse
from foretell.kit.git_changes import changed_files, files_of
from foretell.kit.tree import repository_of
from foretell.ports import PlanBasis, Workspace
from foretell.settings import Settings

if TYPE_CHECKING:
    from foretell.wiring import Backend

READ = frozenset((*CHART_FILES, *KUSTOMIZATION_FILES))


@dataclass(frozen=True, slots=True)
class ArgoPlan:
    """What to plan. `base` "" means that nobody knows what changed, `branch` "" that any moves."""

    server: str
    repository: str
    sha: str
    base: str = ""
    branch: str = ""
    deployment: str = ""
    ca_file: str = ""
    context: int = CONTEXT


async def plan_argo_cd(
    settings: Settings, wanted: ArgoPlan, progress: Progress
) -> list[PlanReport]:
    """One finished report for each folder with Applications that the change can reach, by slug.

    None where it can reach none. Raises ForetellError for what cannot be asked.
    """
    from foretell.wiring import open_backend

    start_log(settings)
    loaded = await _inventory(wanted)
    deployments = _wanted(loaded, wanted.deployment)
    if not deployments:
        return []
    async with open_backend(private(settings), trusted=True) as backend:
        queue = backend.queue()
        working = asyncio.create_task(queue.run())
        try:
            # All are asked for at once: the queue knows how many run beside each other.
            asked = [
                (each, await _submit(backend, each, loaded, wanted.sha)) for each in deployments
            ]
            reports = [await _follow(backend, one, plan, progress) for one, plan in asked]
            return [await in_context(backend, each, wanted.context) for each in reports]
        finally:
            await queue.stop()
            await working


async def _inventory(wanted: ArgoPlan) -> LoadedInventory:
    server = argo_server(wanted.server, wanted.ca_file)
    found = await applications_of(server, wanted.repository)
    chosen = choose(found, await _change(wanted))
    _tell(chosen, len(found))
    applications = [each.application for each in chosen]
    document = inventory(
        applications, server=server.url, repository=wanted.repository, ca_file=server.ca_file
    )
    return parse({"argo-cd.yaml": dump(document)})


async def _change(wanted: ArgoPlan) -> Change:
    """What is known of the change, from the repository that this is called in."""
    if not wanted.base:
        return Change(branch=wanted.branch)
    try:
        repository = repository_of(Path.cwd())
        files = await changed_files(repository, wanted.base, wanted.sha)
        found = await files_of(repository, wanted.sha, lambda path: PurePath(path).name in READ)
    except ForetellError as error:
        typer.echo(f"{error}\nso every Application is planned", err=True)
        return Change(branch=wanted.branch)
    return Change(files, Tree(found.files, found.texts.get, found.links), wanted.branch)


def _tell(chosen: Sequence[Chosen], total: int) -> None:
    typer.echo(f"{len(chosen)} of {total} Applications can be reached", err=True)
    for each in chosen:
        typer.echo(f"  {visible(identifier(each.application))}: {visible(each.reason)}", err=True)


def _wanted(loaded: LoadedInventory, slug: str) -> list[Deployment]:
    found = sorted(loaded.inventory.deployments, key=lambda each: each.slug)
    if not slug:
        return found
    chosen = [each for each in found if each.slug == slug]
    if not chosen:
        known = ", ".join(each.slug for each in found) or "none"
        raise InvalidRequest(f"the change reaches no deployment {slug!r} (it reaches: {known})")
    return chosen


async def _submit(
    backend: "Backend", deployment: Deployment, loaded: LoadedInventory, sha: str
) -> PlanId:
    workspace = Workspace(
        WorkspaceId(workspace_id(loaded.workspace)), loaded.workspace, loaded.workspace
    )
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(workspace.id, [deployment])
        await put_policies(tx, workspace.id, ())  # none of an earlier local plan's
    plan = await submit(
        backend.store,
        backend.selectors,
        backend.clock,
        backend.ids,
        backend.limits,
        Submission(
            workspace_id=workspace.id,
            deployment_id=deployment.id,
            request=PlanRequest(tag=sha),
            basis=PlanBasis(deployment=deployment, inventory=loaded.inventory),
        ),
    )
    return plan.id


async def _follow(
    backend: "Backend", deployment: Deployment, plan: PlanId, progress: Progress
) -> PlanReport:
    return await follow(backend, plan, lambda done, of: progress(deployment.name, done, of))
