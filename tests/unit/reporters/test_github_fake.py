"""The fake answers as GitHub's published schema says, wherever it answers."""

from typing import Any

import pytest
from github_wire import APP, SHA, client, world
from openapi_answers import published

from foretell.domain.errors import ForetellError
from foretell.reporters.github.auth import Repository
from foretell.reporters.github.client import Github
from foretell.testing.github import Call, FakeGithub

SCHEMA = "github-openapi-subset.json"


async def every_call(fake: FakeGithub, github: Github) -> None:
    """Each route of the fake at least once, and refusals of several kinds."""
    fake.add_pull("acme/shop", 8, "b" * 40).labels = ("plan",)
    fake.pull(fake.repo("acme/shop"), 7).files = ("a.yaml", "b.yaml")
    fake.repo("acme/shop").permissions["kim"] = "maintain"
    await github.author()
    made = await github.post(APP, "issues/7/comments", {"body": "x"})
    one = f"issues/comments/{made['id']}"
    await github.patch(APP, one, {"body": "y"})
    await github.get(APP, one)
    for _ in range(2):
        await github.post(APP, f"{one}/reactions", {"content": "eyes"})
    annotation = {
        "path": "a.yaml",
        "start_line": 1,
        "end_line": 2,
        "annotation_level": "notice",
        "message": "m",
    }
    output = {"title": "t", "summary": "s", "text": "x", "annotations": [annotation]}
    body = {"name": "c", "head_sha": SHA, "external_id": "e", "output": output}
    check = await github.post(APP, "check-runs", body)
    path = f"check-runs/{check['id']}"
    await github.patch(APP, path, {"status": "completed", "conclusion": "neutral"})
    await github.get(APP, path)
    for listed in (
        "issues/7/comments",
        f"{one}/reactions",
        f"{path}/annotations",
        "pulls",
        "pulls/7/files",
        f"commits/{SHA}/pulls",
    ):
        assert [found async for found in github.pages(APP, listed)]
    runs = github.pages(APP, f"commits/{SHA}/check-runs", under="check_runs")
    assert [found async for found in runs]
    await github.get(APP, "pulls/7")
    await github.get(APP, "collaborators/kim/permission")
    await github.delete(APP, one)
    refused: list[tuple[str, dict[str, Any]]] = [
        ("issues/7/comments", {"body": "x" * 70_000}),
        ("issues/99/comments", {"body": "x"}),
        ("check-runs", {**body, "output": {"title": "t", "summary": "s" * 65_536}}),
        ("check-runs", {"name": "c", "head_sha": SHA, "conclusion": "fine"}),
    ]
    for where, wrong in refused:
        with pytest.raises(ForetellError):
            await github.post(APP, where, wrong)


async def statuses(fake: FakeGithub) -> None:
    fake.add_token("ghp_1", "octocat", {"statuses": "write"})
    async with client(fake, token="ghp_1") as github:
        await github.author()
        body = {"context": "c", "state": "pending", "description": "d"}
        await github.post(APP, f"statuses/{SHA}", body)
        for wrong in ({"description": "d" * 141}, {"context": "c" * 256}, {"state": "fine"}):
            with pytest.raises(ForetellError):
                await github.post(APP, f"statuses/{SHA}", {**body, **wrong})
        with pytest.raises(ForetellError):
            await github.post(APP, "check-runs", {"name": "c", "head_sha": SHA})


async def test_every_answer_is_as_the_published_schema_says() -> None:
    answers = published(SCHEMA)
    fake = world()
    async with client(fake) as github:
        await every_call(fake, github)
        with pytest.raises(ForetellError):
            await github.get(Repository("acme", "nothing"), "pulls/1")
    await statuses(fake)
    problems = [found for call in fake.calls for found in _problems(answers, call)]
    assert problems == []
    assert len({(call.method, call.status) for call in fake.calls}) > 8


def _problems(answers: Any, call: Call) -> list[str]:
    found = list(answers.problems(call.method, call.path, call.status, call.answer))
    if call.status >= 400 or call.status == 204:
        # Few refusals are published, though each call has some; and no body is nothing to check.
        found = [one for one in found if "is not published" not in one]
    if call.method != "GET" and call.status < 300:
        found += answers.request_problems(call.method, call.path, call.body)
    return found


async def test_a_thousandth_status_of_a_context_is_the_last() -> None:
    fake = world()
    fake.meter.limits = type(fake.meter.limits)(10_000, 10_000)
    fake.add_token("ghp_1", "octocat", {"statuses": "write"})
    async with client(fake, token="ghp_1") as github:
        for _ in range(1000):
            await github.post(APP, f"statuses/{SHA}", {"context": "c", "state": "pending"})
        with pytest.raises(ForetellError, match="maximum number of statuses"):
            await github.post(APP, f"statuses/{SHA}", {"context": "c", "state": "success"})
