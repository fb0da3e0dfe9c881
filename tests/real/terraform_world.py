"""A repository with a configuration, a state that was applied once, and the agent that plans it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foretell.agents.terraform.agent import TerraformAgent
from foretell.domain.context import Source
from foretell.domain.errors import AgentError
from foretell.domain.plan import JsonObject
from foretell.domain.result import Done, KindResult
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test")
BACKEND = 'terraform {\n  backend "local" {}\n}\n'


@dataclass
class World:
    """`apply` is what happened once; `plan` asks the agent about what is written now."""

    program: Path
    folder: Path
    tools: AgentTools

    @property
    def repository(self) -> Path:
        return self.folder / "repository"

    @property
    def state(self) -> Path:
        return self.folder / "state" / "terraform.tfstate"

    @property
    def config(self) -> dict[str, Any]:
        return {
            "repository": {"url": str(self.repository), "path": "infra"},
            "backendConfig": {"path": str(self.state), "workspace_dir": str(self.state.parent)},
        }

    def write(self, text: str, name: str = "infra/main.tf") -> None:
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((BACKEND if name.endswith("main.tf") else "") + text)

    def commit(self) -> str:
        if not (self.repository / ".git").exists():
            subprocess.run(["git", "init", "-qb", "main", str(self.repository)], check=True)
        for command in (["add", "-A"], ["commit", "-qm", "x", "--allow-empty"]):
            subprocess.run([*GIT, *command], cwd=self.repository, check=True)
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=self.repository, check=True, capture_output=True
        )
        return asked.stdout.decode().strip()

    def call(self, *arguments: str, cwd: Path) -> int:
        return self._ran(arguments, cwd).returncode

    def said(self, *arguments: str, cwd: Path) -> bytes:
        return self._ran(arguments, cwd).stdout

    def _ran(self, arguments: tuple[str, ...], cwd: Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )

    def apply(self, text: str, *more: str) -> None:
        """As somebody with the program at hand would, in a folder of their own."""
        own = self.folder / "applied"
        own.mkdir(exist_ok=True)
        (own / "main.tf").write_text(BACKEND + text)
        backend = (f"-backend-config={key}={v}" for key, v in self.config["backendConfig"].items())
        assert self.call("init", "-input=false", "-reconfigure", *backend, cwd=own) == 0
        assert self.call("apply", "-input=false", "-auto-approve", *more, cwd=own) == 0

    async def plan(self, text: str | None = None, **config: Any) -> Done:
        if text is not None:
            self.write(text)
        return await self.planned(self.commit(), {**self.config, **config})

    async def planned(self, commit: str, config: JsonObject, **more: Any) -> Done:
        side = a_side(config, source=Source(str(self.repository), commit), **more)
        context = a_context("terraform", current=None, proposed=side)
        outcome = await TerraformAgent(self.tools).plan(context, None)
        assert isinstance(outcome, Done)
        return outcome

    async def refused(self, text: str | None = None, **config: Any) -> AgentError:
        try:
            done = await self.plan(text, **config)
        except AgentError as error:
            return error
        raise AssertionError(f"it was planned: {done}")

    def leftovers(self) -> list[str]:
        work = self.folder / "cache" / "terraform" / "plans"
        return [path.name for path in work.glob("*")]


def only(done: Done) -> KindResult:
    (result,) = done.results
    return result


def changed(done: Done) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(each.name, each.action.value, each.tags) for each in only(done).resources]
