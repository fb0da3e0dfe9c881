"""Which deployments a repository belongs to."""

from collections.abc import Iterator, Sequence

from foretell.domain.context import merge_config
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import PlanRequest, WorkspaceId
from foretell.domain.target import AgentSpec, Deployment, Inventory, Matches, agents_for, select
from foretell.formats.pull_request.repository import Repository, may_refer, refers
from foretell.ports import Selectors, Tx

OWNER_LABEL, REPO_LABEL = "github/owner", "github/repo"
"""RFC 0004's metadata, on a deployment: for addresses that are only known once rendered."""
_ANY = PlanRequest(tag="")


async def deployments_of(
    tx: Tx, selectors: Selectors, wanted: Repository
) -> Sequence[tuple[WorkspaceId, Deployment]]:
    """Every deployment of every workspace that refers to the repository, unless plans are off."""
    found: list[tuple[WorkspaceId, Deployment]] = []
    for workspace in await tx.workspaces_naming(wanted.name):
        inventory = await tx.inventory(workspace)
        chosen = referring(inventory, wanted, selectors.matches())
        found.extend((workspace, deployment) for deployment in chosen)
    return found


def referring(inventory: Inventory, wanted: Repository, matches: Matches) -> Iterator[Deployment]:
    """The deployments of one inventory that refer to the repository, in its order."""
    hints = [agent for agent in inventory.agents if may_refer(agent.config, wanted)]
    for deployment in inventory.deployments:
        if deployment.plan.enabled is not False and _refers(
            deployment, hints, inventory, wanted, matches
        ):
            yield deployment


def _refers(
    deployment: Deployment,
    hints: Sequence[AgentSpec],
    inventory: Inventory,
    wanted: Repository,
    matches: Matches,
) -> bool:
    own = deployment.job_agent_config
    if _is_labelled(deployment, wanted) or refers(own, wanted):
        return True
    agents = [
        agent
        for agent in (inventory.agents if may_refer(own, wanted) else hints)
        if refers(merge_config(agent.config, own), wanted)
    ]
    if not agents:
        return False
    try:
        return _is_asked(deployment, agents, inventory, matches)
    except InvalidRequest:
        # A selector that makes no sense: the plan says so to whoever wrote it.
        return True


def _is_labelled(deployment: Deployment, wanted: Repository) -> bool:
    owner, repo = (str(deployment.metadata.get(key, "")) for key in (OWNER_LABEL, REPO_LABEL))
    return (owner.lower(), repo.lower()) == (wanted.owner, wanted.name)


def _is_asked(
    deployment: Deployment, agents: Sequence[AgentSpec], inventory: Inventory, matches: Matches
) -> bool:
    """Whether one of the agents plans one of the deployment's targets."""
    environments, resources = inventory.environments, inventory.resources
    return any(
        agents_for(deployment, target, agents, matches)
        for target in select(deployment, environments, resources, _ANY, matches)
    )
