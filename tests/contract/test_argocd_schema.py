"""The fake answers, and the agent asks, as the published schema of Argo CD says."""

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from openapi_answers import Answers, published

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.errors import AgentError
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import ADMIN, Chart, FakeArgoCD, an_application
from foretell.testing.contracts.agent import ask

TOKEN = "canary-argo-4f1c"
URL = "https://git.example.test/shop.git"


@pytest.fixture
def schema() -> Answers:
    found = published("argocd-swagger-subset.json", nulls_are_absent=True)
    paths = dict(found.document["paths"])
    # The same path as `{name}` by another name, for a call (PUT) that nobody here makes.
    del paths["/api/v1/applications/{application.metadata.name}"]
    return replace(found, document={**found.document, "paths": paths})


Heard = list[tuple[httpx.Request, int, Any]]


def listening(argocd: FakeArgoCD, heard: Heard) -> httpx.MockTransport:
    """The fake's app, with every answer kept beside its request."""
    wire = httpx.ASGITransport(app=argocd.app)

    async def answered(request: httpx.Request) -> httpx.Response:
        answer = await wire.handle_async_request(request)
        await answer.aread()
        heard.append((request, answer.status_code, answer.json()))
        return answer

    return httpx.MockTransport(answered)


async def _calls(argocd: FakeArgoCD) -> Heard:
    """What plans of an original, a new one and one of several sources, an error and a sweep say."""
    repository = argocd.repository(URL)
    chart = Chart(
        lambda inputs: [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}]
    )
    for branch in ("main", "head"):
        repository.commit(branch, {"app": chart, "more": chart})
    sources = [{"repoURL": URL, "path": path, "targetRevision": "main"} for path in ("app", "more")]
    await argocd.deploy(an_application("web", sources[0]))
    await argocd.deploy(an_application("both", *sources))
    heads = [{**source, "targetRevision": "head"} for source in sources]
    heard: Heard = []
    config = {"serverUrl": "https://argo.example.test", "apiKey": {"env": "TOKEN"}}
    async with agent_tools(environ={"TOKEN": TOKEN}) as tools:
        agent = ArgoCdAgent(tools, transport=listening(argocd, heard))
        wanted = [an_application("web", heads[0]), an_application("both", *heads)]
        wanted += [an_application("new", heads[0])]
        for template in wanted:
            side = a_side({**config, "template": template})
            await ask(agent, a_context("argo-cd", current=None, proposed=side))
        wrong = an_application("web", {**heads[0], "path": "nowhere"})
        side = a_side({**config, "template": wrong})
        with pytest.raises(AgentError):
            await ask(agent, a_context("argo-cd", current=None, proposed=side, plan="p-2"))
        await agent.sweep({**config, "apiKey": TOKEN}, agent.timeout, frozenset())
        await agent.close()
    return heard


@pytest.fixture
async def heard() -> Heard:
    return await _calls(FakeArgoCD({TOKEN: ADMIN}))


async def test_every_answer_is_as_published(schema: Answers, heard: Heard) -> None:
    assert len(heard) > 15
    for request, status, body in heard:
        path = request.url.raw_path.decode()
        assert schema.problems(request.method, path, status, body) == [], path


async def test_every_request_is_as_published(schema: Answers, heard: Heard) -> None:
    for request, _, _ in heard:
        path, call = request.url.raw_path.decode(), _call(schema, request)
        assert schema.request_problems(request.method, path, _body(request)) == []
        known = {each["name"] for each in call["parameters"] if each["in"] == "query"}
        assert set(request.url.params) <= known, path


def _call(schema: Answers, request: httpx.Request) -> Any:
    template = schema.template(request.url.raw_path.decode())
    return schema.document["paths"][template][request.method.lower()]


def _body(request: httpx.Request) -> Any:
    return json.loads(request.content) if request.content else None


@pytest.mark.parametrize(
    "path",
    ["/api/version", "/api/v1/projects", "/api/v1/projects/default", "/api/v1/applicationsets"],
)
async def test_the_calls_that_only_others_make_are_as_published(schema: Answers, path: str) -> None:
    transport = httpx.ASGITransport(app=FakeArgoCD({TOKEN: ADMIN}).app)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="https://argo.test") as client:
        answer = await client.get(path, headers=headers)
    assert schema.problems("GET", path, answer.status_code, answer.json()) == []
