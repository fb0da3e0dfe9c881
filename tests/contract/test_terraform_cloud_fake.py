"""The fake speaks as the published schema of HCP Terraform says, and so does the agent."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from openapi_answers import Answers, published
from terraform_cloud_world import UPDATE, World, follow, redacted_of, terraform_cloud

from foretell.agents.terraform_cloud.run import ENDED, OPEN
from foretell.domain.errors import AgentError
from foretell.domain.plan import InvocationId
from foretell.domain.result import Pending
from foretell.testing.terraform_cloud.server import ARCHIVE, Call
from foretell.testing.terraform_cloud.world import Delivery

UNPUBLISHED = ("/actions/cancel", "/actions/discard", "/task-stages")
"""Calls of the documentation that the published schema lacks."""
UNPUBLISHED_STATUSES = {("GET", "/json-output", 200), ("GET", "/json-output", 302)}
"""As other implementations answer: OTF with the body, terrapod with 302."""
NOT_ENTITLED = {"id": "ws-nobody", "type": "workspaces"}


@pytest.fixture
def answers() -> Answers:
    return published("tfe-openapi-subset.json")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with terraform_cloud(tmp_path) as made:
        yield made


def problems(answers: Answers, calls: list[Call]) -> list[str]:
    found: list[str] = []
    for call in calls:
        if call.path.startswith(ARCHIVE) or call.path.endswith(UNPUBLISHED):
            continue
        path = call.path.removeprefix("/api/v2")
        odd = any(
            (call.method, call.status) == (method, status) and call.path.endswith(end)
            for method, end, status in UNPUBLISHED_STATUSES
        )
        if not odd:
            found += answers.problems(call.method, path, call.status, call.document)
        if call.body and "json" in call.content_type:
            found += answers.request_problems(call.method, path, json.loads(call.body))
    return found


async def everything(world: World) -> None:
    """Each endpoint, in each state that an answer of it can be in."""
    await follow(world, world.question(id="i-1"))
    world.script(redacted=redacted_of(UPDATE), counts=(0, 1, 0, 0), has_changes=True)
    await follow(world, world.question(id="i-2", token={"env": "PLANNER"}))
    for number, delivery in enumerate(Delivery):
        world.script(delivery=delivery, not_ready=1)
        await follow(world, world.question(id=f"i-3{number}"))
    world.script(too_old=True)
    await follow(world, world.question(id="i-4"))
    world.script(too_old=False, unpack_error="empty")
    await unwelcome(world, id="i-5")
    world.script(unpack_error="", policy_checks=[policy_check()])
    await follow(world, replace(world.question(id="i-6"), attempt=0), attempt=5)
    await unwelcome(world, id="i-7", token={"env": "ORG"})
    await unwelcome(world, id="i-8", template={"workspace": "nowhere"})


async def unwelcome(world: World, **config: Any) -> None:
    with pytest.raises(AgentError):
        await follow(world, world.question(**config))


def policy_check() -> dict[str, Any]:
    result = {"result": False, "passed": 1, "total-failed": 1, "soft-failed": 1}
    attributes = {"status": "soft_failed", "scope": "organization", "result": result}
    return {"id": "polchk-1", "type": "policy-checks", "attributes": attributes}


async def test_every_answer_is_as_published(world: World, answers: Answers) -> None:
    await everything(world)
    for status in ("pending", "planning", "planned_and_finished", "errored", "policy_override"):
        world.script(statuses=(status,))
        asked = world.question(id=f"i-{status}")
        pending = await world.agent.plan(asked, None)
        assert isinstance(pending, Pending)
        await world.agent.plan(asked, pending.state)
        run = world.fake.runs[-1]
        await world.agent._client(world.fake.address, "tok-S3cr3t-of-the-team").run(run.id)
    await world.agent.sweep(
        world.question().side.agent_config, timedelta(0), frozenset({InvocationId("i-1")})
    )
    assert {call.status for call in world.fake.calls} >= {200, 201, 202, 204, 302, 307, 404, 422}
    assert problems(answers, world.fake.calls) == []


async def test_an_answer_that_is_not_as_published_is_found(world: World, answers: Answers) -> None:
    await follow(world, world.question())
    (call, *_) = world.fake.seen("POST", "/runs")
    broken = json.loads(call.answer)
    broken["data"]["attributes"]["status"] = "pondering"
    assert problems(answers, [replace(call, answer=json.dumps(broken).encode())])


async def test_every_status_that_the_agent_knows_is_published(answers: Answers) -> None:
    runs = answers.document["components"]["schemas"]["runs"]
    known = set(runs["properties"]["attributes"]["properties"]["status"]["enum"])
    not_published = {"force_canceled", "post_plan_awaiting_decision"}  # go-tfe has them
    assert {*ENDED, *OPEN} - known == not_published
    only_health = {"assessing", "assessed"}
    assert known - {*ENDED, *OPEN} == only_health
