"""The terraform agent on a program that fails in every way, and that says what it was told."""

import asyncio
import json
import os
import select
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foretell.agents.terraform.agent import TerraformAgent
from foretell.domain.context import Source
from foretell.domain.errors import AgentError, AgentRejected, AgentUnavailable
from foretell.domain.plan import GithubRef, InvocationId
from foretell.domain.result import Done
from foretell.kit.terraform import run as terraform_run
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.contracts.agent import AgentContract, AgentQuestion

SECRET = "S3cr3t-Value-42"
KEY = "k" * 32


FAKE = Path(__file__).with_name("fake_terraform.py")


def write_fake(folder: Path) -> Path:
    """The program, in a folder of its own."""
    folder.mkdir()
    path = folder / "terraform"
    path.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
    path.chmod(0o755)
    return path


def told(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


@dataclass(frozen=True)
class Faulty:
    """The agent, and the folder of its program."""

    tools: AgentTools
    agent: TerraformAgent
    beside: Path
    cache: Path
    source: Source

    def break_it(self, fault: str) -> None:
        (self.beside / "fault").write_text(fault)

    async def plan(self, **config: Any) -> Done:
        side = a_side({"repository": {"url": "."}, **config}, source=self.source)
        outcome = await self.agent.plan(a_context("terraform", current=None, proposed=side), None)
        assert isinstance(outcome, Done)
        return outcome

    async def refused(self, fault: str, **config: Any) -> AgentError:
        self.break_it(fault)
        with pytest.raises(AgentError) as caught:
            await self.plan(**config)
        assert SECRET not in caught.value.message
        assert str(self.cache) not in caught.value.message
        assert self.left() == []
        return caught.value

    def left(self) -> list[Path]:
        return list((self.cache / "terraform" / "plans").glob("*"))

    async def started(self) -> int:
        """The process of a plan that does not end, once it runs."""
        file = self.beside / "started"
        async with asyncio.timeout(30):
            while not file.exists():
                await asyncio.sleep(0.01)
        return int(file.read_text())


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncIterator[Faulty]:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.tf").write_text("")
    program = write_fake(tmp_path / "bin")
    settings = {
        "terraform": str(program),
        "cacheDir": str(tmp_path / "cache"),
        "terraformRepositories": None,
        "terraformEnv": None,
    }
    environ = {"VALUE": SECRET, "KEY": KEY}
    async with agent_tools(settings, environ=environ) as tools:
        source = Source(str(tree), "")
        yield Faulty(tools, TerraformAgent(tools), program.parent, tmp_path / "cache", source)


class TestContract(AgentContract):
    @pytest.fixture
    def question(self, faulty: Faulty) -> AgentQuestion:
        config = {"repository": {"url": "."}, "env": ["VALUE"], "planKey": {"env": "KEY"}}
        answered = a_side(config, source=faulty.source)
        refused = a_side({**config, "varFiles": ["gone.tfvars"]}, source=faulty.source)
        return AgentQuestion(
            faulty.agent,
            a_context("terraform", current=None, proposed=answered),
            a_context("terraform", current=None, proposed=refused),
            (SECRET, KEY),
        )


def has_ended(process: int) -> bool:
    """A killed process takes a moment to die."""
    try:
        watched = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 10)[0])
    finally:
        os.close(watched)


async def test_warnings_on_both_streams_spoil_nothing(faulty: Faulty) -> None:
    (result,) = (await faulty.plan()).results
    assert result.has_changes is True
    assert [each.name for each in result.resources] == ["x.a"]


async def test_every_run_is_told_what_keeps_it_from_asking_locking_and_mixing(
    faulty: Faulty,
) -> None:
    await faulty.plan(workspace="eu", env=["VALUE"], backendConfig={})
    by_command = {each["command"]: each for each in told(faulty.beside)}
    assert list(by_command) == ["version", "init", "workspace", "plan", "show"]
    assert "-lock=false" in by_command["init"]["options"]
    assert {"-lock=false", "-input=false", "-detailed-exitcode"} <= set(
        by_command["plan"]["options"]
    )
    assert by_command["workspace"]["options"][0] == "select"
    for command in ("init", "plan", "show"):
        call = by_command[command]
        assert call["stdin"] == ""
        assert call["env"]["TF_INPUT"] == "0"
        assert call["env"]["VALUE"] == SECRET
        own = {"HOME", "TF_DATA_DIR", "TMPDIR"}
        known = {"PATH", "LANG", "LC_CTYPE", "VALUE", "TF_IN_AUTOMATION", "TF_INPUT"}
        known |= {"CHECKPOINT_DISABLE", "GIT_TERMINAL_PROMPT", "GIT_SSH_COMMAND"}
        assert set(call["env"]) <= own | known
        assert all(call["env"][name].startswith(str(faulty.cache)) for name in own)


async def test_two_targets_share_no_folder(faulty: Faulty) -> None:
    await asyncio.gather(faulty.plan(), faulty.plan())
    plans = [each for each in told(faulty.beside) if each["command"] == "plan"]
    assert len({each["env"]["TF_DATA_DIR"] for each in plans}) == 2
    assert len({each["cwd"] for each in plans}) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        ("init", AgentRejected, "terraform init failed: no module"),
        ("locked", AgentUnavailable, "locked by another run"),
        ("partial", AgentRejected, "terraform plan failed: it went wrong half way"),
        ("errored", AgentRejected, "the plan failed"),
        ("no json", AgentRejected, "can't be read"),
        ("killed", AgentRejected, "SIGKILL"),
        ("loud", AgentRejected, "printed more than"),
        ("old", AgentRejected, "1.0 or newer"),
    ],
)
async def test_each_fault_has_a_name_and_leaves_nothing(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch, fault: str, kind: type[AgentError], says: str
) -> None:
    monkeypatch.setattr(terraform_run, "SAID_BYTES", 1024**2)
    error = await faulty.refused(fault, env=["VALUE"])
    assert isinstance(error, kind)
    assert says in error.message


async def test_a_status_and_a_list_that_contradict_each_other_are_no_proof(faulty: Faulty) -> None:
    faulty.break_it("zero")
    (result,) = (await faulty.plan()).results
    assert result.has_changes is not False


async def test_a_plan_that_does_not_end_is_stopped_with_all_that_it_started(
    faulty: Faulty,
) -> None:
    error = await faulty.refused("endless", timeout="2s")
    assert error.reason == "timeout"
    assert "2 s" in error.message
    assert (faulty.beside / "interrupted").read_text() == "yes"
    assert has_ended(int((faulty.beside / "child").read_text()))


async def test_who_ignores_the_interrupt_is_killed_after_the_grace(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terraform_run, "GRACE", timedelta(seconds=0.2))
    await faulty.refused("stubborn", timeout="2s")
    assert has_ended(int((faulty.beside / "started").read_text()))
    assert has_ended(int((faulty.beside / "child").read_text()))


async def test_a_cancelled_plan_is_interrupted_and_leaves_nothing(faulty: Faulty) -> None:
    faulty.break_it("endless")
    asking = asyncio.create_task(faulty.plan())
    process = await faulty.started()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (faulty.beside / "interrupted").exists()
    assert has_ended(process)
    assert faulty.left() == []


@pytest.mark.parametrize("whose", ["the same process", "another"])
async def test_an_abandoned_plan_is_stopped_where_it_runs(faulty: Faulty, whose: str) -> None:
    faulty.break_it("endless")
    asking = asyncio.create_task(faulty.plan())
    process = await faulty.started()
    agent = faulty.agent if whose == "the same process" else TerraformAgent(faulty.tools)
    await agent.abandon(a_context("terraform", current=None, proposed=a_side({})), None)
    with pytest.raises(AgentRejected, match="nobody wants it"):
        await asking
    assert (faulty.beside / "interrupted").exists()
    assert has_ended(process)
    assert faulty.left() == []


async def test_a_sweep_stops_what_is_not_live_and_runs_all_the_same(faulty: Faulty) -> None:
    faulty.break_it("endless")
    asking = asyncio.create_task(faulty.plan())
    process = await faulty.started()
    live = frozenset({InvocationId("i-1")})
    assert (await faulty.agent.sweep({}, timedelta(0), live)).removed == 0
    assert not asking.done()
    await faulty.agent.sweep({}, timedelta(0), frozenset())
    with pytest.raises(AgentRejected, match="nobody wants it"):
        await asking
    assert has_ended(process)


async def test_what_a_dead_worker_left_is_swept_unless_it_lives(faulty: Faulty) -> None:
    plans = faulty.cache / "terraform" / "plans"
    for name in ("i-1-abc", "i-2-abc"):
        (plans / name).mkdir(parents=True)
        (plans / name / "plan").write_text(SECRET)
    left = await faulty.agent.sweep({}, timedelta(0), frozenset({InvocationId("i-1")}))
    assert left.removed == 1
    assert [path.name for path in faulty.left()] == ["i-1-abc"]
    context = a_context("terraform", current=None, proposed=a_side({}))
    await faulty.agent.abandon(context, None)
    assert faulty.left() == []


async def test_a_server_plans_nothing_that_nobody_allowed(tmp_path: Path) -> None:
    program = write_fake(tmp_path / "bin")
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    settings = {
        "terraform": str(program),
        "cacheDir": str(tmp_path / "cache"),
        "terraformRepositories": [str(tmp_path / "ours"), "https://git.test/acme"],
        "terraformEnv": ["ALLOWED"],
    }
    async with agent_tools(settings, environ={"OTHER": SECRET}) as tools:
        agent = TerraformAgent(tools)
        for config, says in (
            ({"repository": {"url": str(tmp_path / "theirs")}}, "may not be planned here"),
            ({"repository": {"url": f"{tmp_path}/ours/../theirs"}}, "may not be planned here"),
            ({"repository": {"url": "https://git.test/acme-evil/x"}}, "may not be planned here"),
            ({"repository": {"url": "https://git.test/acme/../evil"}}, "may not be planned here"),
            ({"repository": {"url": "."}}, "a server needs its URL"),
            ({"repository": {"url": "x"}, "env": ["OTHER"]}, "may not be let through"),
            ({"repository": {"url": "x"}, "binary": "/bin/sh"}, "may not be run here"),
        ):
            context = a_context("terraform", current=None, proposed=a_side(config, tag="a" * 40))
            with pytest.raises(AgentRejected, match=says):
                await agent.plan(context, None)
    assert {each["command"] for each in told(program.parent)} == {"version"}


async def test_a_server_plans_no_commit_of_a_fork(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    git(ours, "init", "-q", "-b", "main")
    git(ours, "commit", "-qm", "ours", "--allow-empty")
    git(ours, "checkout", "-q", "--detach")
    git(ours, "commit", "-qm", "a fork's", "--allow-empty")
    fork, tip = git(ours, "rev-parse", "HEAD"), git(ours, "rev-parse", "main")
    settings = {
        "terraform": str(write_fake(tmp_path / "bin")),
        "cacheDir": str(tmp_path / "cache"),
        "terraformRepositories": [str(ours)],
    }
    config = {"repository": {"url": str(ours)}}
    async with agent_tools(settings) as tools:
        agent = TerraformAgent(tools)
        head = GithubRef("acme", "infra", fork)
        asked = a_context("terraform", current=None, proposed=a_side(config))
        with pytest.raises(AgentRejected, match="on no branch or tag"):
            await agent.plan(replace(asked, head=head), None)
        outcome = await agent.plan(replace(asked, head=replace(head, sha=tip)), None)
    assert isinstance(outcome, Done)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.test")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()
