"""Which deployments a repository belongs to."""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from foretell.domain.context import merge_config
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import PlanRequest, WorkspaceId
from foretell.domain.target import AgentSpec, Deployment, Inventory, Matches, agents_for, select
from foretell.formats.pull_request.repository import Repository, refers
from foretell.ports import Selectors, Tx

OWNER_LABEL, REPO_LABEL = "github/owner", "github/repo"
"""RFC 0004's metadata, on a deployment: for addresses that are only known once rendered."""
_ANY = PlanRequest(tag="")


async def deployments_of(
    tx: Tx, selectors: Selectors, wanted: Repository
) -> Sequence[tuple[WorkspaceId, Deployment]]:
    """Every deployment of every workspace that refers to the repository, unless plans are off."""
    found: list[tuple[WorkspaceId, Deployment]] = []
    for workspace, ids in (await tx.items_naming(wanted.name)).items():
        inventory = await tx.inventory(workspace)
        chosen = referring(inventory, ids, wanted, selectors.matches())
        found.extend((workspace, deployment) for deployment in chosen)
    return found


def referring(
    inventory: Inventory, named: Container[str], wanted: Repository, matches: Matches
) -> Iterator[Deployment]:
    """The deployments of one inventory that refer to the repository, in its order.

    `named`: the ids of the deployments and agents that have its name in them; where neither has,
    nothing needs to be read.
    """
    hints = [agent for agent in inventory.agents if agent.id in named]
    for deployment in inventory.deployments:
        is_named = deployment.id in named
        if deployment.plan.enabled is False or not (is_named or hints):
            continue
        agents = inventory.agents if is_named else hints
        if (is_named and _names_itself(deployment, wanted)) or _is_asked(
            deployment,
            [agent for agent in agents if refers(_overlap(agent, deployment), wanted)],
            inventory,
            matches,
        ):
            yield deployment


def _names_itself(deployment: Deployment, wanted: Repository) -> bool:
    owner, repo = (str(deployment.metadata.get(key, "")) for key in (OWNER_LABEL, REPO_LABEL))
    is_labelled = (owner.lower(), repo.lower()) == (wanted.owner, wanted.name)
    return is_labelled or refers(deployment.job_agent_config, wanted)


def _overlap(agent: AgentSpec, deployment: Deployment) -> dict[str, Any]:
    """An agent's config as the deployment leaves it; what only the deployment has was looked at."""
    own, pair = deployment.job_agent_config, ("owner", "repo")
    layer = {key: own[key] for key in own if key in agent.config or key in pair}
    return merge_config(agent.config, layer)


def _is_asked(
    deployment: Deployment, agents: Sequence[AgentSpec], inventory: Inventory, matches: Matches
) -> bool:
    """Whether one of the agents is asked about the deployment, or about a target of it."""
    try:
        return any(_takes(deployment, agent, matches) for agent in agents)
    except InvalidRequest:
        # It asks about environments or resources, or makes no sense.
        return _plans_a_target(deployment, agents, inventory, matches)


def _takes(deployment: Deployment, agent: AgentSpec, matches: Matches) -> bool:
    scope = {"deployment": deployment.describe(), "jobAgent": agent.describe()}
    return matches(deployment.job_agent_selector, scope)


def _plans_a_target(
    deployment: Deployment, agents: Sequence[AgentSpec], inventory: Inventory, matches: Matches
) -> bool:
    environments, resources = inventory.environments, inventory.resources
    try:
        return any(
            agents_for(deployment, target, agents, matches)
            for target in select(deployment, environments, resources, _ANY, matches)
        )
    except InvalidRequest:
        # The plan says so to whoever wrote the selector.
        return True
