"""Whether agents can take the configuration that files give them."""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from foretell.domain.context import merge_config
from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.plan import JsonObject, PlanRequest
from foretell.domain.target import AgentSpec, Inventory, agents_for, select
from foretell.inventory.load.build import Parts, slug_of
from foretell.inventory.load.schema import DeploymentPart
from foretell.inventory.load.source import Path, SourceFile
from foretell.inventory.matching import CelSelectors
from foretell.inventory.wording import Complaint
from foretell.ports import Agents


@runtime_checkable
class ChecksConfig(Protocol):
    """An agent that knows what its configuration should look like before it is asked.

    Templates and references may stand in place of values. `partial`: other layers may still add
    keys, so a missing one is nothing to complain of.
    """

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]: ...


def config_problems(parts: Parts, inventory: Inventory, agents: Agents) -> list[Problem]:
    """What agents say of `config`, and of the `jobAgentConfig` of the deployments they plan."""
    found = [
        problem
        for source, at, part in parts.agents
        for problem in _asked(agents, part.type, part.config, source, (*at, "config"))
    ]
    for source, at, part in parts.deployments:
        for type_name in sorted({agent.type for agent in _agents_of(part, inventory)}):
            place = (*at, "jobAgentConfig")
            found += _asked(agents, type_name, part.job_agent_config, source, place)
    return found


def warnings(parts: Parts, inventory: Inventory, agents: Agents) -> list[Problem]:
    """What will plan as `unsupported`, or needs the request to complete it."""
    return [*_unknown_types(parts, agents), *_incomplete(parts, inventory, agents)]


def _unknown_types(parts: Parts, agents: Agents) -> Iterator[Problem]:
    for source, at, part in parts.agents:
        if agents.find(part.type) is None:
            yield source.problem(
                (*at, "type"),
                f"no agent of type {part.type!r} is installed: its targets plan as unsupported "
                f"(installed: {', '.join(agents.types()) or 'none'})",
            )


def _incomplete(parts: Parts, inventory: Inventory, agents: Agents) -> Iterator[Problem]:
    for source, at, part in parts.deployments:
        for spec in _agents_of(part, inventory):
            agent = agents.find(spec.type)
            if isinstance(agent, ChecksConfig):
                config = merge_config(spec.config, part.job_agent_config)
                for found in agent.config_complaints(config, partial=False):
                    yield source.problem(
                        (*at, "jobAgentConfig"),
                        f"with job agent {spec.name!r}: {found.field}: {found.message}",
                    )


def _asked(
    agents: Agents, type_name: str, config: JsonObject, source: SourceFile, at: Path
) -> Iterator[Problem]:
    agent = agents.find(type_name)
    if isinstance(agent, ChecksConfig):
        for found in agent.config_complaints(config, partial=True):
            yield source.problem((*at, *found.path), found.message)


def _agents_of(part: DeploymentPart, inventory: Inventory) -> list[AgentSpec]:
    """The agents of any target; a selector that fails on a target is that target's error."""
    deployment = next(each for each in inventory.deployments if each.slug == slug_of(part))
    matches = CelSelectors().matches()
    try:
        targets = select(
            deployment, inventory.environments, inventory.resources, PlanRequest(""), matches
        )
        chosen = {
            agent.name: agent
            for target in targets
            for agent in agents_for(deployment, target, inventory.agents, matches)
        }
    except InvalidRequest:
        return []
    return [chosen[name] for name in sorted(chosen)]
