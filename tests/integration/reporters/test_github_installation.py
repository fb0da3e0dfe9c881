"""A whole installation that plans for a pull request, over the wire, with its own worker."""

import asyncio
from pathlib import Path

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
from foretell.testing.github import FakeGithub, app_key, listening
from foretell.wiring import Backend, open_backend


def new_id() -> str:
    return RandomIds().new()


async def inventory(backend: Backend) -> tuple[Workspace, Deployment]:
    workspace = Workspace(WorkspaceId(new_id()), "shop", "Shop")
    deployment = Deployment(DeploymentId(new_id()), "api", "API")
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


async def ended(fake: FakeGithub, settled: asyncio.Event) -> None:
    """Until both checks have ended and the comment says so."""
    while True:
        await settled.wait()
        settled.clear()
        bodies = [one.body for one in fake.comments.values()]
        done = [one for one in fake.checks.values() if one.conclusion]
        if len(done) == 2 and "of 2 targets affected" in "".join(bodies):
            return


async def test_a_plan_for_a_pull_request_ends_in_one_comment_and_its_checks(
    database: str, tmp_path: Path
) -> None:
    fake, written = world(), asyncio.Event()

    async def notice(method: str, path: str) -> None:
        written.set()

    fake.pause = notice
    async with listening(fake) as address:
        settings = Settings(
            database_url=SecretStr(database),
            data_dir=tmp_path,
            github_app_id="77",
            github_private_key=SecretStr(app_key()),
            github_api_url=address,
        )
        fake.clock = SystemClock()
        async with open_backend(settings) as backend:
            queue = backend.queue()
            working = asyncio.create_task(queue.run())
            workspace, deployment = await inventory(backend)
            request = PlanRequest("v2", github=GithubRef("acme", "shop", SHA, 7))
            await submit(
                backend.store,
                backend.selectors,
                backend.clock,
                backend.ids,
                backend.limits,
                Submission(workspace.id, deployment.id, request),
            )
            await asyncio.wait_for(ended(fake, written), 60)
            await queue.stop()
            await working
    (comment,) = fake.comments.values()
    assert comment.author == "foretell[bot]"
    assert {one.name for one in fake.checks.values()} == {
        "foretell / production / eu",
        "foretell / production / us",
    }
