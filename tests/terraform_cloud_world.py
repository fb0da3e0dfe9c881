"""A fake HCP Terraform with one workspace, and questions about it."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from foretell.agents.terraform_cloud.agent import TerraformCloudAgent
from foretell.domain.context import DispatchContext, Source
from foretell.domain.plan import InvocationId
from foretell.domain.result import Done, Outcome, Pending
from foretell.kit.http import in_process
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.budget import FreeBudget
from foretell.testing.clock import ManualClock
from foretell.testing.terraform_cloud.server import FakeTerraformCloud
from foretell.testing.terraform_cloud.world import Access, Script

TOKEN = "tok-S3cr3t-of-the-team"
READER = "tok-S3cr3t-of-a-reader"
ORGANIZATION_TOKEN = "tok-S3cr3t-of-the-organization"
PLANNER = "tok-S3cr3t-of-a-planner"
ENVIRON = {
    "TOKEN": TOKEN,
    "READER": READER,
    "ORG": ORGANIZATION_TOKEN,
    "PLANNER": PLANNER,
    "PLAN_KEY": "k" * 32,
    "DB_PW": "S3cr3t-Value-42",
}


def change(address: str, actions: str, before: Any = None, after: Any = None) -> dict[str, Any]:
    """One entry of `resource_changes`."""
    kind, name = address.split(".")
    return {
        "address": address,
        "mode": "managed",
        "type": kind,
        "name": name,
        "change": {
            "actions": actions.split("+"),
            "before": before,
            "after": after,
            "after_unknown": {},
            "before_sensitive": {},
            "after_sensitive": {},
        },
    }


def plan_json(*changes: dict[str, Any], **top: Any) -> dict[str, Any]:
    """As `show -json` prints it."""
    return {
        "format_version": "1.2",
        "terraform_version": "1.11.4",
        "planned_values": {"root_module": {}},
        "resource_changes": list(changes),
        "timestamp": "2026-01-01T00:00:00Z",
        "applyable": any(each["change"]["actions"] != ["no-op"] for each in changes),
        "complete": True,
        "errored": False,
        **top,
    }


UPDATE = plan_json(change("x.a", "update", {"v": 1}, {"v": 2}))


def redacted_of(plan: dict[str, Any]) -> dict[str, Any]:
    """The redacted form of the API: other names, and it proves less."""
    return {
        "plan_format_version": "1.2",
        "resource_changes": plan["resource_changes"],
        "resource_drift": [],
        "relevant_attributes": [],
        "output_changes": {},
        "provider_format_version": "1.0",
        "provider_schemas": {"x": {}},
    }


@dataclass
class World:
    """The fake, the agent that asks it, and what the agent was made with."""

    fake: FakeTerraformCloud
    agent: TerraformCloudAgent
    clock: ManualClock
    budget: FreeBudget
    repository: Path
    sha: str
    config: dict[str, Any] = field(default_factory=dict)

    def script(self, **changes: Any) -> Script:
        """The script of the one workspace, changed."""
        place = self.fake.organizations["acme"].workspaces["web-production"]
        place.script = replace(place.script, **changes)
        return place.script

    def question(self, *, id: str = "i-1", **config: Any) -> DispatchContext:
        """A question about the workspace; keys given as None are left out."""
        merged = {**self.config, **config}
        given = {key: value for key, value in merged.items() if value is not None}
        side = a_side(
            given,
            tag="v2",
            variables={"replicas": 3},
            source=Source(str(self.repository), self.sha),
        )
        asked = a_context("terraform-cloud", current=None, proposed=side)
        return replace(asked, invocation_id=InvocationId(id))


def make_repository(folder: Path) -> str:
    """A commit with two root modules and files that no upload may hold."""
    files = {
        "main.tf": 'variable "image_tag" {}\n',
        "infra/main.tf": "# the other one\n",
        "infra/terraform.tfstate": "{}",
        "infra/modules/m/main.tf": "# a module\n",
        "docs/readme.md": "text\n",
        ".terraformignore": "docs/\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder)


def commit(folder: Path) -> str:
    git(folder, "add", "--all", "--force")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "-m", "m")
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@asynccontextmanager
async def terraform_cloud(
    folder: Path, script: Script | None = None, **settings: Any
) -> AsyncIterator[World]:
    """A world around a new repository in `folder`."""
    repository = folder / "repository"
    repository.mkdir()
    sha = await asyncio.to_thread(make_repository, repository)
    clock = ManualClock()
    tokens = {
        TOKEN: Access.ADMIN,
        PLANNER: Access.PLAN,
        READER: Access.READ,
        ORGANIZATION_TOKEN: Access.ORGANIZATION,
    }
    fake = FakeTerraformCloud(clock, tokens)
    fake.add("acme", "web-production", script or Script(plan=UPDATE))
    settings.setdefault("terraformCloudHosts", None)
    made = {"cacheDir": str(folder / "cache"), "terraformRepositories": None, **settings}
    async with agent_tools(made, environ=ENVIRON) as tools:
        budget = FreeBudget()
        tools = replace(tools, clock=clock, budget=budget)
        agent = TerraformCloudAgent(tools, in_process(fake))
        config = {
            "organization": "acme",
            "token": {"env": "TOKEN"},
            "template": {
                "workspace": "web-{{ environment.name }}",
                "variables": {"image_tag": "{{ version.tag }}"},
            },
            "repository": {"url": "."},
        }
        yield World(fake, agent, clock, budget, repository, sha, config)


async def follow(
    world: World, question: DispatchContext, state: Any = None, *, attempt: int = 1
) -> tuple[Outcome, list[Pending]]:
    """Asks as the engine does, each call counted and each pause waited, until it is no Pending."""
    rounds: list[Pending] = []
    for number in range(attempt, attempt + 200):
        outcome = await world.agent.plan(replace(question, attempt=number), state)
        if not isinstance(outcome, Pending):
            return outcome, rounds
        rounds.append(outcome)
        state = outcome.state
        world.clock.advance(outcome.after)
    raise AssertionError("no answer after 200 calls")


async def done(world: World, question: DispatchContext, state: Any = None) -> Done:
    """The answer."""
    outcome, _ = await follow(world, question, state)
    assert isinstance(outcome, Done), outcome
    return outcome
