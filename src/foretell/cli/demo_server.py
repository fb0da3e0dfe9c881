"""The demo's example on a server: an inventory that is filled, and a version that is deployed."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from foretell.cli.demo_repository import DemoRepository, make_repository
from foretell.cli.helm_wheel import helm_for_demo
from foretell.domain.context import Deployed, Version
from foretell.domain.plan import PlanRequest, WorkspaceId
from foretell.domain.target import AgentSpec, Inventory, select
from foretell.inventory.identity import workspace_id
from foretell.inventory.load import load
from foretell.ports import Workspace
from foretell.settings import Settings

if TYPE_CHECKING:
    from foretell.wiring import Backend


async def demo_settings(settings: Settings) -> tuple[Settings, DemoRepository]:
    """The settings of a server that may read the example's repository, which is made anew.

    Its commits have the same ids each time, so that plans of an earlier start can be shown again.
    """
    folder = settings.cache_dir / "demo" / "storefront"
    shutil.rmtree(folder, ignore_errors=True)
    repository = await make_repository(folder)
    changed = {
        "helm": settings.helm or await helm_for_demo(settings.cache_dir),
        "chart_roots": (*settings.chart_roots, folder),
    }
    return settings.model_copy(update=changed), repository


async def fill(backend: "Backend", repository: DemoRepository) -> None:
    """The example's workspace, with the base revision deployed everywhere; twice is once."""
    loaded = load([repository.path / "inventory.yaml"])
    inventory = replace(
        loaded.inventory,
        agents=tuple(_served(agent, repository.path) for agent in loaded.inventory.agents),
    )
    slug = loaded.workspace
    workspace = Workspace(WorkspaceId(workspace_id(slug)), slug, "Demo")
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(
            workspace.id,
            [
                *inventory.agents,
                *inventory.environments,
                *inventory.resources,
                *inventory.deployments,
            ],
        )
    await _deploy(backend, inventory, repository.base)


def _served(agent: AgentSpec, repository: Path) -> AgentSpec:
    """On a server a path needs its repository, and the version says at which revision."""
    where = {"repoURL": str(repository), "revision": "{{ version.tag }}"}
    return replace(agent, config={**agent.config, **where})


async def _deploy(backend: "Backend", inventory: Inventory, tag: str) -> None:
    matches = backend.selectors.matches()
    request = PlanRequest(tag)
    async with backend.store.begin() as tx:
        for deployment in inventory.deployments:
            for target in select(
                deployment, inventory.environments, inventory.resources, request, matches
            ):
                await tx.record_deployed(
                    deployment.id,
                    target.environment.id,
                    target.resource.id,
                    Deployed(Version(tag)),
                    backend.clock.now(),
                )


def advice(address: str, repository: DemoRepository) -> str:
    """What to type next."""
    url = f"{address}/v1/workspaces/demo/deployments/storefront/plan"
    return (
        "\nThe example is in workspace `demo`. A plan of its newest revision, elsewhere:\n\n"
        f"    export FORETELL_URL={address}\n"
        "    export FORETELL_TOKEN=…   # the admin token above\n"
        f"    foretell plan -w demo -d storefront --tag {repository.head}\n\n"
        "or\n\n"
        f'    curl -X POST {url} \\\n      -H "Authorization: Bearer $FORETELL_TOKEN" '
        f'-d \'{{"tag": "{repository.head}"}}\'\n'
    )
