"""The documented policy file lets the agent do what it does, line by line, and nothing more."""

from pathlib import Path
from typing import Any

import pytest
from argocd_world import TOKEN, World, a_source, a_world, chart, deployed

from foretell.domain.errors import ForetellError
from foretell.testing.argocd import Policy, an_application, read_policies
from foretell.testing.argocd.rbac import permitted
from foretell.testing.contracts.agent import ask

FILE = Path(__file__).parents[3] / "docs/agents/argo-cd-rbac.csv"
POLICIES = read_policies(FILE.read_text())


async def _everything(world: World) -> None:
    """Every kind of call that the agent makes: an original, a new one, a retry and a sweep."""
    template = await deployed(world, chart())
    context = world.context(template)
    await ask(world.agent, context)
    (left,) = (each.body for each in world.created)
    await world.plan(an_application("new", a_source(revision="head")), invocation="new")
    left["metadata"]["annotations"]["ctrlplane.dev/plan-created-at"] = "2026-01-01T11:00:00Z"
    world.argocd.store(left)
    again = world.another_agent(remembers=False)
    await ask(again, context)
    world.argocd.store(left)
    config = {**world.config, "apiKey": TOKEN}
    swept = await again.sweep(config, again.timeout, frozenset())
    await again.close()
    assert swept.removed == 1
    if world.temporary:
        raise ForetellError("temporary Applications were left behind")


async def _denied(policies: list[Policy]) -> list[Any]:
    async with a_world(accounts={TOKEN: policies}) as world:
        try:
            await _everything(world)
        except (ForetellError, AssertionError):
            return [str(each) for each in world.argocd.requests if each.status == 403]
        return []


async def test_the_documented_policies_are_enough() -> None:
    assert await _denied(POLICIES) == []


@pytest.mark.parametrize("line", range(len(POLICIES)), ids=lambda n: POLICIES[n].action)
async def test_each_line_is_needed(line: int) -> None:
    assert await _denied(POLICIES[:line] + POLICIES[line + 1 :]) != []


@pytest.mark.parametrize("action", ["create", "update", "delete", "sync", "override", "action/*"])
def test_no_line_lets_anybody_touch_an_original(action: str) -> None:
    for name in ("default/web", "default/web-plan", "default/argocd/web", "default/plan-web-123"):
        assert not permitted(POLICIES, "applications", action, name)


def test_nothing_else_is_asked_for() -> None:
    assert {policy.resource for policy in POLICIES} == {"applications", "repositories"}
    assert "sync" not in {policy.action for policy in POLICIES}
