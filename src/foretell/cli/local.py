"""`foretell plan --local`: two revisions of a repository compared by the same engine, no server.

The inventory is read at each side, like every chart path in it, so a target may be on one side
only. The rules are those of the base: what is judged can't take away its own judge. The database
is a private one that stops with the command.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foretell.cli.log import start_log
from foretell.domain.context import Source
from foretell.domain.errors import ForetellError, InvalidRequest
from foretell.domain.plan import PlanId, PlanRequest, PlanStatus, WorkspaceId
from foretell.domain.summary import PlanReport
from foretell.domain.target import Deployment, Inventory, Policy
from foretell.engine.submit import Submission, submit
from foretell.formats.recontext import CONTEXT, results_to_read, with_context
from foretell.inventory.identity import workspace_id
from foretell.inventory.load import LoadedInventory, load
from foretell.kit.git import Checkouts
from foretell.kit.tree import WORKTREE, repository_of
from foretell.ports import InventoryKind, PlanBasis, Tx, Workspace
from foretell.settings import Settings

if TYPE_CHECKING:
    from foretell.wiring import Backend

Progress = Callable[[str, int, int], None]
"""(deployment name, targets' invocations done, all of them); all is 0 until it is known."""


@dataclass(frozen=True, slots=True)
class LocalPlan:
    """What to compare. `deployment` "" plans all of them; `tag` "" takes the head's revision.

    `context`: equal lines around each change in the diffs.
    """

    inventory: Path
    base: str
    head: str
    deployment: str = ""
    tag: str = ""
    context: int = CONTEXT


@dataclass(frozen=True, slots=True)
class _Side:
    loaded: LoadedInventory
    source: Source


async def plan_locally(
    settings: Settings, wanted: LocalPlan, progress: Progress
) -> list[PlanReport]:
    """One finished report a deployment, by slug. Raises ForetellError for what can't be read."""
    from foretell.wiring import open_backend

    start_log(settings)
    base, head = await _sides(settings, wanted)
    async with open_backend(private(settings), trusted=True) as backend:
        queue = backend.queue()
        working = asyncio.create_task(queue.run())
        try:
            reports = [
                await _plan_one(backend, deployment, base, head, wanted.tag, progress)
                for deployment in _chosen(base, head, wanted.deployment)
            ]
            return [await in_context(backend, one, wanted.context) for one in reports]
        finally:
            await queue.stop()
            await working


def private(settings: Settings) -> Settings:
    """A database of its own: a server's workers must not take the jobs of a command line."""
    own = {"data_dir": settings.data_dir / "local", "database_url": None}
    unlimited = {"plans_per_minute": 10**6, "workspace_plans_per_minute": 10**6}
    return settings.model_copy(update=own | unlimited)


async def _sides(settings: Settings, wanted: LocalPlan) -> tuple[_Side, _Side]:
    inventory = wanted.inventory.resolve()
    root = repository_of(inventory)
    inside = inventory.relative_to(root)
    checkouts = Checkouts(settings.cache_dir / "checkouts")
    base = await _side(checkouts, root, inside, wanted.base)
    head = await _side(checkouts, root, inside, wanted.head)
    return base, head


async def _side(checkouts: Checkouts, root: Path, inside: Path, revision: str) -> _Side:
    if revision == WORKTREE:
        folder = await checkouts.worktree_snapshot(str(root))
        source = Source(str(folder), "")
    else:
        sha = await checkouts.resolve(str(root), revision)
        folder = await checkouts.checkout(str(root), sha)
        source = Source(str(root), sha)
    try:
        return _Side(load([folder / inside]), source)
    except ForetellError as error:
        raise InvalidRequest(f"at {revision}: {error}".replace(f"{folder}/", "")) from error


def _chosen(base: _Side, head: _Side, wanted: str) -> list[Deployment]:
    """The head's deployments and those that only the base has: they are being removed."""
    found = {one.slug: one for one in base.loaded.inventory.deployments}
    found |= {one.slug: one for one in head.loaded.inventory.deployments}
    if not wanted:
        return [found[slug] for slug in sorted(found)]
    if wanted not in found:
        known = ", ".join(sorted(found)) or "none"
        raise InvalidRequest(f"the inventory has no deployment {wanted!r} (it has: {known})")
    return [found[wanted]]


async def _plan_one(
    backend: "Backend",
    deployment: Deployment,
    base: _Side,
    head: _Side,
    tag: str,
    progress: Progress,
) -> PlanReport:
    slug = head.loaded.workspace
    workspace = Workspace(WorkspaceId(workspace_id(slug)), slug, slug)
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(workspace.id, [deployment])
        await put_policies(tx, workspace.id, base.loaded.inventory.policies)
    plan = await submit(
        backend.store,
        backend.selectors,
        backend.clock,
        backend.ids,
        backend.limits,
        Submission(
            workspace_id=workspace.id,
            deployment_id=deployment.id,
            request=PlanRequest(tag=tag or head.source.revision or WORKTREE),
            basis=_basis(deployment, base, head),
        ),
    )
    return await follow(backend, plan.id, lambda done, of: progress(deployment.name, done, of))


async def put_policies(tx: Tx, workspace: WorkspaceId, policies: Sequence[Policy]) -> None:
    """The base's rules judge, and no rule that an earlier plan left in the private database."""
    kept = {policy.id for policy in policies}
    gone = [old.id for old in await tx.policies(workspace) if old.id not in kept]
    await tx.delete_items(workspace, InventoryKind.POLICY, gone)
    await tx.put_items(workspace, policies)


async def in_context(backend: "Backend", report: PlanReport, context: int) -> PlanReport:
    if context == CONTEXT:
        return report
    texts = {}
    async with backend.store.begin() as tx:
        for id in results_to_read(report):
            if found := await tx.result(report.id, id):
                texts[id] = found[1].resources
    return with_context(report, texts, context)


def _basis(deployment: Deployment, base: _Side, head: _Side) -> PlanBasis:
    removed = deployment not in head.loaded.inventory.deployments
    return PlanBasis(
        deployment=deployment,
        inventory=Inventory() if removed else head.loaded.inventory,
        source=head.source,
        base=base.loaded.inventory,
        base_source=base.source,
    )


async def follow(
    backend: "Backend", plan_id: PlanId, progress: Callable[[int, int], None]
) -> PlanReport:
    """The report, once the plan is no longer computing."""
    total = 0
    async with backend.store.watch(plan_id) as wakes:
        async for _ in wakes:
            async with backend.store.begin() as tx:
                plan = await tx.plan(plan_id)
                if plan is None or plan.status is not PlanStatus.COMPUTING:
                    report = await tx.report(plan_id)
                    break
                waiting = await tx.open_invocations(plan_id)
            total = max(total, waiting)
            progress(total - waiting, total)
    if report is None:
        raise InvalidRequest(f"plan {plan_id} is gone")
    progress(total, total)
    return report
