"""The agent's contract on the fake: one source and several, seen at once and polled for."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import (
    ADMIN,
    Chart,
    Directory,
    FakeArgoCD,
    RenderInputs,
    an_application,
)
from foretell.testing.contracts.agent import AgentContract, AgentQuestion

TOKEN = "canary-argo-4f1c"
REPOSITORY = "https://git.example.test/shop.git"


def _deployment(inputs: RenderInputs) -> list[dict[str, Any]]:
    image = f"web:{inputs.values.get('tag', inputs.revision[:7])}"
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": inputs.name},
            "spec": {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}},
        }
    ]


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {}}


async def _world(sources: int) -> tuple[FakeArgoCD, dict[str, Any]]:
    argocd = FakeArgoCD({TOKEN: ADMIN})
    repository = argocd.repository(REPOSITORY)
    repository.commit("main", {"chart": Chart(_deployment), "plain": Directory([CONFIG_MAP])})
    chart = {"repoURL": REPOSITORY, "path": "chart", "targetRevision": "main"}
    plain = {"repoURL": REPOSITORY, "path": "plain", "targetRevision": "main"}
    application = an_application("web", *[chart, plain][:sources])
    await argocd.deploy(application)
    repository.commit("head", {"chart": Chart(_deployment), "plain": Directory([])})
    for source in [chart, plain][:sources]:
        source["targetRevision"] = "{{ version.tag }}"
    return argocd, an_application("web", *[chart, plain][:sources])


@pytest.mark.parametrize(
    "wait_for", [timedelta(seconds=20), timedelta(milliseconds=20)], ids=["once", "polled"]
)
@pytest.mark.parametrize("sources", [1, 2])
class TestArgoCdAgent(AgentContract):
    @pytest.fixture
    async def question(self, sources: int, wait_for: timedelta) -> AsyncIterator[AgentQuestion]:
        argocd, template = await _world(sources)
        async with argocd.serving() as address, agent_tools(environ={"TOKEN": TOKEN}) as tools:
            config = {"serverUrl": address, "apiKey": {"env": "TOKEN"}, "template": template}
            refused = a_side({**config, "template": {**template, "kind": "AppProject"}})
            agent = ArgoCdAgent(tools, wait_for=wait_for)
            yield AgentQuestion(
                agent,
                a_context("argo-cd", current=None, proposed=a_side(config, tag="head")),
                a_context("argo-cd", current=None, proposed=refused),
                (TOKEN,),
            )
            await agent.close()
        left = [name for name in argocd.applications if name != "web"]
        assert left == [], "temporary Applications were left behind"
