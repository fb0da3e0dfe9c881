"""A whole installation that plans for a pull request, over the wire, with its own worker."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from github_wire import SHA, world
from pydantic import SecretStr

from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    GithubRef,
    PlanRequest,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.engine.submit import Submission, submit
from foretell.kit.clock import RandomIds, SystemClock
from foretell.ports import Workspace
from foretell.settings import Settings
from foretell.testing.github import FakeGithub, app_key, listening, shapes
from foretell.wiring import Backend, api_server, open_backend

SECRET = "the webhook's secret"
CHECKS = {"foretell / production / eu", "foretell / production / us"}


def new_id() -> str:
    return RandomIds().new()


@dataclass
class Installation:
    """A backend with a worker, the GitHub that it shows to, and whenever that was called."""

    backend: Backend
    fake: FakeGithub
    workspace: Workspace
    deployment: Deployment
    called: asyncio.Event = field(default_factory=asyncio.Event)

    async def submit(self, request: PlanRequest) -> None:
        backend = self.backend
        asked = Submission(self.workspace.id, self.deployment.id, request)
        ports = (backend.store, backend.selectors, backend.clock, backend.ids, backend.limits)
        await submit(*ports, asked)

    async def until(self, reached: Callable[[], bool]) -> None:
        """A call is answered without a pause between its effect and the next one's notice."""
        async with asyncio.timeout(120):
            while not reached():
                await self.called.wait()
                self.called.clear()

    def is_shown(self, sha: str = SHA) -> bool:
        """Both checks have ended, and the comment says what they come to."""
        bodies = "".join(one.body for one in self.fake.comments.values())
        done = [one for one in self.fake.checks_of("acme/shop", sha) if one.conclusion]
        return len(done) == 2 and sha[:7] in bodies and "of 2 targets affected" in bodies


@asynccontextmanager
async def installed(database: str, folder: Path) -> AsyncIterator[Installation]:
    fake = world(SystemClock())
    async with listening(fake) as address:
        settings = Settings(
            port=0,
            database_url=SecretStr(database),
            data_dir=folder,
            github_app_id="77",
            github_private_key=SecretStr(app_key()),
            github_api_url=address,
            github_webhook_secret=SecretStr(SECRET),
        )
        async with open_backend(settings) as backend:
            made = Installation(backend, fake, *(await inventory(backend)))

            async def notice(method: str, path: str) -> None:
                made.called.set()

            fake.pause = notice
            queue = backend.queue()
            working = asyncio.create_task(queue.run())
            yield made
            await queue.stop()
            await working


async def inventory(backend: Backend) -> tuple[Workspace, Deployment]:
    workspace = Workspace(WorkspaceId(new_id()), "shop", "Shop")
    named = {"github/owner": "acme", "github/repo": "shop"}
    deployment = Deployment(DeploymentId(new_id()), "api", "API", metadata=named)
    items = [
        deployment,
        Environment(EnvironmentId(new_id()), "production"),
        Resource(ResourceId(new_id()), "eu", "eu"),
        Resource(ResourceId(new_id()), "us", "us"),
        AgentSpec(AgentId(new_id()), "trial", "test-runner", {}),
    ]
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(workspace.id, items)
    return workspace, deployment


async def deliver(address: str, name: str, event: dict[str, Any]) -> int:
    body = json.dumps(event).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": name,
        "X-GitHub-Delivery": new_id(),
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    }
    async with httpx.AsyncClient(base_url=address) as client:
        answer = await client.post("/v1/github/webhook", content=body, headers=headers)
    return answer.status_code


async def test_a_plan_for_a_pull_request_ends_in_one_comment_and_its_checks(
    database: str, tmp_path: Path
) -> None:
    async with installed(database, tmp_path) as made:
        await made.submit(PlanRequest("v2", github=GithubRef("acme", "shop", SHA, 7)))
        await made.until(made.is_shown)
    (comment,) = made.fake.comments.values()
    assert comment.author == "foretell[bot]"
    assert {one.name for one in made.fake.checks.values()} == CHECKS


async def test_an_event_of_githubs_and_a_comment_of_somebody_who_may_write_are_planned(
    database: str, tmp_path: Path
) -> None:
    async with installed(database, tmp_path) as made, api_server(made.backend) as address:
        fake = made.fake
        pull = fake.pull(fake.repo("acme/shop"), 7)
        event = {
            "action": "opened",
            "number": 7,
            "pull_request": shapes.full_pull(pull),
            "sender": shapes.user("octocat"),
            "repository": shapes.repository(pull.repo),
        }
        assert await deliver(address, "pull_request", event) == 202
        await made.until(made.is_shown)
        before = len(fake.writes("/comments"))

        pull.repo.permissions["kim"] = "write"
        asked = fake.add_comment("acme/shop", 7, "kim", "foretell plan -d api")
        event = {
            "action": "created",
            "issue": {"number": 7, "pull_request": {"url": "x"}, "state": "open"},
            "comment": shapes.comment(asked, None),
            "repository": shapes.repository(pull.repo),
        }
        assert await deliver(address, "issue_comment", event) == 202
        await made.until(lambda: len(fake.writes("/comments")) > before + 2 and made.is_shown())
        assert ("foretell[bot]", "eyes") in asked.reactions
    ours = [one for one in fake.comments.values() if one is not asked]
    assert [one.author for one in ours] == ["foretell[bot]"]
    assert {one.name for one in fake.checks.values()} == CHECKS
    assert [call for call in fake.calls if call.status in (401, 403)] == []
