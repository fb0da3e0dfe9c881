"""300 workspaces on a fake that takes 30 requests a second, beside what that limit alone costs."""

import asyncio
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from bench import Line
from foretell.agents.terraform_cloud.agent import TerraformCloudAgent
from foretell.domain.context import DispatchContext, Source
from foretell.domain.plan import InvocationId, JsonObject
from foretell.domain.result import Done, Pending
from foretell.kit.budget import ProcessBudget
from foretell.kit.clock import SystemClock
from foretell.kit.http import in_process
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.terraform_cloud.server import ARCHIVE, FakeTerraformCloud
from foretell.testing.terraform_cloud.world import Access, Script

WORKSPACES = 300
PER_SECOND = 30
AT_ONCE = 16
"""Steps of one worker (`FORETELL_WORKER_CONCURRENCY`)."""
NEEDED_CALLS = 7
"""Find the workspace, make a configuration version, see it unpacked, make the run, look at it once,
read the plan, let the upload go. Uploads and plan output are on another host, without a limit."""


@dataclass(frozen=True, slots=True)
class _Measured:
    seconds: float
    calls: int
    refused: int


def run() -> Iterable[Line]:
    with tempfile.TemporaryDirectory(prefix="foretell-bench-") as folder:
        measured = asyncio.run(_measure(Path(folder)))
    floor = WORKSPACES * NEEDED_CALLS / PER_SECOND
    yield Line(
        name="terraform-cloud-300",
        ratio=measured.seconds / floor,
        goal=1.15,
        note=(
            f"{measured.seconds:.1f} s for {WORKSPACES} workspaces, {floor:.1f} s for "
            f"{NEEDED_CALLS} calls each at {PER_SECOND} a second; "
            f"{measured.calls / WORKSPACES:.2f} calls each were made"
        ),
    )
    yield Line(
        name="terraform-cloud-429",
        ratio=measured.refused / measured.calls,
        goal=0.01,
        note=f"{measured.refused} of {measured.calls} calls were one too many",
    )


async def _measure(folder: Path) -> _Measured:
    (folder / "repository").mkdir()
    (folder / "repository" / "main.tf").write_text("# a configuration\n")
    fake = FakeTerraformCloud(SystemClock(), {"token": Access.ADMIN})
    fake.limit.per_window = PER_SECOND
    names = [f"workspace-{number}" for number in range(WORKSPACES)]
    for name in names:
        fake.add("acme", name, _script())
    settings = {"cacheDir": str(folder), "terraformRepositories": None}
    async with agent_tools(settings, environ={"TOKEN": "token"}) as tools:
        tools = replace(tools, budget=ProcessBudget())
        agent = TerraformCloudAgent(tools, in_process(fake))
        turns = asyncio.Semaphore(AT_ONCE)
        start = time.perf_counter()
        await asyncio.gather(*(_plan(agent, _question(folder, name), turns) for name in names))
        seconds = time.perf_counter() - start
    calls = sum(not call.path.startswith(ARCHIVE) for call in fake.calls)
    return _Measured(seconds, calls, fake.limit.refused)


def _script() -> Script:
    change = {
        "address": "terraform_data.a",
        "mode": "managed",
        "type": "terraform_data",
        "name": "a",
        "change": {"actions": ["create"], "before": None, "after": {"input": 1}},
    }
    plan = {"format_version": "1.2", "resource_changes": [change], "applyable": True}
    statuses = ("pending", "planning", "planned_and_finished")
    return Script(statuses=statuses, each_for=timedelta(seconds=1), plan=plan)


def _question(folder: Path, workspace: str) -> DispatchContext:
    config: JsonObject = {
        "organization": "acme",
        "token": {"env": "TOKEN"},
        "template": {"workspace": workspace, "variables": {"replicas": 3}},
        "repository": {"url": "."},
    }
    side = a_side(config, source=Source(str(folder / "repository"), ""))
    context = a_context("terraform-cloud", current=None, proposed=side)
    return replace(context, invocation_id=InvocationId(workspace))


async def _plan(
    agent: TerraformCloudAgent, question: DispatchContext, turns: asyncio.Semaphore
) -> None:
    """As a worker does: a pause between two steps keeps nobody from working."""
    state: JsonObject | None = None
    for attempt in range(1, 1000):
        async with turns:
            outcome = await agent.plan(replace(question, attempt=attempt), state)
        if not isinstance(outcome, Pending):
            assert isinstance(outcome, Done), outcome
            return
        state = outcome.state
        await asyncio.sleep(outcome.after.total_seconds())
