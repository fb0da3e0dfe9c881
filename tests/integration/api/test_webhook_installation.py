"""A whole installation between GitHub's events and GitHub's API, over the wire, with its worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from github_events import SECRET, Pull, send, sha_of
from installation import PATIENCE
from pydantic import SecretStr

from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    Plan,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.kit.clock import RandomIds, SystemClock
from foretell.ports import Workspace
from foretell.settings import Settings
from foretell.testing.github import Comment, FakeGithub, app_key, listening
from foretell.testing.github.request import Response
from foretell.wiring import Backend, api_server, open_backend

REPOSITORY = "acme/shop"


class WatchedGithub(FakeGithub):
    """Says when it has answered a call."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.answered = asyncio.Event()

    async def answer(self, *call: Any) -> Response:
        answer = await super().answer(*call)
        self.answered.set()
        return answer


@dataclass
class Site:
    """Foretell with an App on GitHub, and the pull request that people work on."""

    github: WatchedGithub
    pull: Pull
    backend: Backend
    client: httpx.AsyncClient

    async def happens(self, event: Mapping[str, Any], name: str = "pull_request") -> None:
        """On GitHub, and told to us."""
        known = self.github.pulls[(self.github.repo(REPOSITORY).id, self.pull.number)]
        known.sha, known.state, known.draft = self.pull.sha, self.pull.state, self.pull.draft
        answer = await send(self.client, event, name)
        assert answer.status_code == 202, answer.text

    async def until(self, holds: Callable[[], bool]) -> None:
        """Whenever GitHub has answered us, see whether that was it."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self.github.answered.clear()
                await self.github.answered.wait()

    def own_comments(self) -> list[Comment]:
        return [one for one in self.github.comments.values() if one.author == "foretell[bot]"]

    def shows(self, sha: str) -> bool:
        """The one comment and the check of the head have ended."""
        ended = [
            one for one in self.github.checks.values() if one.head_sha == sha and one.conclusion
        ]
        bodies = [one.body for one in self.own_comments()]
        return (
            bool(ended) and len(bodies) == 1 and "of 1 target" in bodies[0] and sha[:7] in bodies[0]
        )


async def fill(backend: Backend) -> None:
    ids = RandomIds()
    workspace = Workspace(WorkspaceId(ids.new()), "shop", "Shop")
    items = [
        Deployment(
            DeploymentId(ids.new()),
            "api",
            "API",
            metadata={
                "github/owner": "acme",
                "github/repo": "shop",
            },
        ),
        Environment(EnvironmentId(ids.new()), "production"),
        Resource(ResourceId(ids.new()), "eu", "eu"),
        AgentSpec(AgentId(ids.new()), "trial", "test-runner", {}),
    ]
    async with backend.store.begin() as tx:
        await tx.put_workspace(workspace)
        await tx.put_items(workspace.id, items)


@pytest.fixture
async def site(database: str, tmp_path: Path) -> AsyncIterator[Site]:
    github, pull = WatchedGithub(), Pull()
    github.add_repository(REPOSITORY).permissions["dora"] = "write"
    github.add_app(77, "foretell", app_key(), owners=["acme"])
    github.add_pull(REPOSITORY, pull.number, pull.sha)
    async with (
        listening(github) as address,
        installed(database, tmp_path, address) as (
            backend,
            client,
        ),
    ):
        await fill(backend)
        yield Site(github, pull, backend, client)


@asynccontextmanager
async def installed(
    database: str, folder: Path, github: str
) -> AsyncIterator[tuple[Backend, httpx.AsyncClient]]:
    settings = Settings(
        database_url=SecretStr(database),
        data_dir=folder,
        port=0,
        github_app_id="77",
        github_private_key=SecretStr(app_key()),
        github_api_url=github,
        github_webhook_secret=SecretStr(SECRET.decode()),
        github_drafts=True,
    )
    async with open_backend(settings) as backend, api_server(backend) as address:
        queue = backend.queue()
        working = asyncio.create_task(queue.run())
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            yield backend, client
        await queue.stop()
        await working


async def test_a_pull_request_is_followed_from_its_first_push_to_its_end(site: Site) -> None:
    site.pull.draft = True
    await site.happens(site.pull.event("opened"))
    await site.until(lambda: site.shows(sha_of(0)))

    await site.happens(site.pull.push(1))
    await site.until(lambda: site.shows(sha_of(1)))

    by_dora = site.github.add_comment(REPOSITORY, 7, "dora", "foretell plan -d api")
    by_eve = site.github.add_comment(REPOSITORY, 7, "eve", "foretell plan")
    for comment in (by_eve, by_dora):
        asked = site.pull.comment(comment.body, comment.author)
        asked["comment"]["id"] = comment.id
        await site.happens(asked, "issue_comment")
    await site.until(lambda: by_dora.reactions == [("foretell[bot]", "eyes")])
    assert by_eve.reactions == []

    (check,) = [one for one in site.github.checks.values() if one.head_sha == sha_of(1)]
    assert len(await plans(site)) == 3
    await site.happens(site.pull.check(check.external_id), "check_run")
    await eventually(lambda: has_plans(site, 4, "completed"))

    site.pull.later(state="closed")
    await site.happens(site.pull.event("closed"))
    await eventually(lambda: is_forgotten(site))
    assert len(site.own_comments()) == 1
    assert {one.status for one in site.github.checks.values()} == {"completed"}


async def plans(site: Site) -> Sequence[Plan]:
    """All that were asked for, newest first."""
    async with site.backend.store.begin() as tx:
        (workspace,) = await tx.workspaces()
        (deployment,) = (await tx.inventory(workspace.id)).deployments
        return await tx.list_plans(workspace.id, deployment.id, "", 10)


async def has_plans(site: Site, number: int, status: str) -> bool:
    found = await plans(site)
    return len(found) == number and found[0].status == status


async def is_forgotten(site: Site) -> bool:
    async with site.backend.store.begin() as tx:
        return not await tx.plans_of_pull_request("acme", "shop", 7)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    """Ask the database, which takes its time, until it is so."""
    async with asyncio.timeout(PATIENCE):
        while not await holds():
            await asyncio.sleep(0)
