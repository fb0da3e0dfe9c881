"""A commit that an Application's branch may come to: rendered at it, the Application unchanged."""

from collections.abc import Mapping
from typing import Any

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.result import Done, KindResult
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import ADMIN, Directory, FakeArgoCD, an_application
from foretell.testing.contracts.agent import ask

REPOSITORY = "https://git.example.test/shop/platform.git"
OTHER = "https://git.example.test/shop/other.git"


def config_map(name: str, color: str) -> Mapping[str, Any]:
    data = {"color": color}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def planned(*sources: dict[str, Any]) -> dict[str, KindResult]:
    """The Application `web` follows main everywhere, and shop/platform is planned at `head`."""
    argocd = FakeArgoCD({"token": ADMIN})
    for address in (REPOSITORY, OTHER):
        repository = argocd.repository(address)
        for branch, color in (("main", "blue"), ("head", "red")):
            folders = {name: Directory([config_map(name, color)]) for name in ("a", "b")}
            repository.commit(branch, folders)
    await argocd.deploy(an_application("web", *sources))
    async with argocd.serving() as address, agent_tools(environ={"TOKEN": "token"}) as tools:
        config = {
            "serverUrl": address,
            "apiKey": {"env": "TOKEN"},
            "template": an_application("web", *sources),
            "revision": {"repository": "shop/platform", "commit": "{{ version.tag }}"},
        }
        agent = ArgoCdAgent(tools)
        side = a_side(config, tag="head")
        done, _ = await ask(agent, a_context("argo-cd", current=None, proposed=side))
        await agent.close()
    assert isinstance(done, Done)
    return {str(result.kind): result for result in done.results}


async def test_the_commit_is_rendered_and_the_application_is_no_change() -> None:
    found = await planned({"repoURL": REPOSITORY, "path": "a", "targetRevision": "main"})
    (change,) = found["manifest"].resources
    assert "color: red" in change.diff
    assert found["cr"].has_changes is False


async def test_a_source_of_another_repository_stays_where_it_is() -> None:
    found = await planned(
        {"repoURL": REPOSITORY, "path": "a", "targetRevision": "main"},
        {"repoURL": OTHER, "path": "b", "targetRevision": "main"},
    )
    assert [change.name for change in found["manifest"].resources] == ["a"]
    assert found["cr"].has_changes is False
