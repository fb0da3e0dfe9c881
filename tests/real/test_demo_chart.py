"""The demo's chart on the real helm: what changes where is what its description promises."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from foretell.agents.helm.agent import HelmAgent
from foretell.cli.demo_repository import DemoRepository, make_repository
from foretell.domain.context import Scope, Side, Source, Version
from foretell.domain.plan import PlanRequest
from foretell.domain.result import Done
from foretell.domain.target import Inventory, agents_for, select
from foretell.inventory.load import load
from foretell.inventory.matching import CelSelectors
from foretell.kit.git import Checkouts
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, agent_tools

MATCHES = CelSelectors().matches()


@pytest.fixture
async def tools(real_program: Callable[[str], Path], tmp_path: Path) -> AsyncIterator[AgentTools]:
    settings = {"helm": str(real_program("helm4")), "cacheDir": str(tmp_path / "cache")}
    async with agent_tools(settings) as made:
        yield made


async def sides(made: DemoRepository, revision: str, cache: Path) -> dict[str, Side]:
    """Every target's side at `revision`, by the resource's identifier."""
    folder = await Checkouts(cache).checkout(str(made.path), revision)
    inventory: Inventory = load([folder / "inventory.yaml"]).inventory
    (deployment,) = inventory.deployments
    scope = Scope(deployment, MATCHES, Source(str(made.path), revision))
    targets = select(
        deployment, inventory.environments, inventory.resources, PlanRequest(""), MATCHES
    )
    found = {}
    for target in targets:
        (agent,) = agents_for(deployment, target, inventory.agents, MATCHES)
        found[target.resource.identifier] = scope.freeze(target, agent, Version(revision))
    return found


async def test_each_place_changes_as_described(tools: AgentTools, tmp_path: Path) -> None:
    made = await make_repository(tmp_path / "shop")
    base = await sides(made, made.base, tmp_path / "trees")
    head = await sides(made, made.head, tmp_path / "trees")
    agent = HelmAgent(tools)
    found = {}
    for name, side in head.items():
        outcome = await agent.plan(a_context("helm", current=base[name], proposed=side), None)
        assert isinstance(outcome, Done)
        manifest = outcome.results[0]
        found[name] = {change.kind: str(change.action) for change in manifest.resources}
    image = {"Deployment": "modify"}
    setting = {"ConfigMap": "modify", **image}
    scaled = {"HorizontalPodAutoscaler": "add", **setting}
    assert found == {
        "dev-1": image,
        "dev-2": image,
        "dev-pinned": {},
        "staging-eu": setting,
        "staging-us": setting,
        **dict.fromkeys(("prod-ap", "prod-eu-1", "prod-eu-2", "prod-us"), scaled),
    }
