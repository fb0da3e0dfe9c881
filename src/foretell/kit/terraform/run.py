"""init, workspace, plan and show of one plan, as child processes with one deadline over all."""

import asyncio
import json
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from foretell.domain.errors import AgentError, AgentRejected, InvalidRequest
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.redacted import redactor_of
from foretell.kit.process import (
    Completed,
    Limits,
    OutputTooLarge,
    ProgramMissing,
    ProgramStopped,
    TimedOut,
    run,
)
from foretell.kit.terraform.backend import backend_file
from foretell.kit.terraform.folder import Folder
from foretell.kit.terraform.program import QUIET, Program
from foretell.kit.terraform.said import failure

SHOW_BYTES: Final = 512 * 1024**2
SAID_BYTES: Final = 64 * 1024**2
MEMORY_BYTES: Final = 4 * 1024**3
GRACE: Final = timedelta(seconds=10)
"""How long a program may take to stop after SIGINT, which lets it end its providers."""
FAILED, CHANGES = 1, 2
"""Statuses of `plan -detailed-exitcode`; 0 is a plan that does nothing."""
_NO_WORKSPACE: Final = b"doesn't exist"
_REMOTE: Final = frozenset({"remote", "cloud"})
_OURS: Final = ("TF_CLI_ARGS", "TF_DATA_DIR", "TF_WORKSPACE", "TF_PLUGIN_CACHE", *QUIET)


def is_ours(variable: str) -> bool:
    """Whether an environment variable would undo what a plan depends on."""
    return variable.startswith(_OURS) or variable in ("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Planned:
    """`exit_code` of `plan -detailed-exitcode`: 0 or 2. `shown` is JSON in clear: all secret."""

    exit_code: int
    shown: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Runner:
    """The runs of one plan in its folder.

    `environment` is all that the programs get of the server's, `wall` the time for all runs
    together, `hide` takes known secrets out of messages.
    """

    program: Program
    folder: Folder
    wall: timedelta
    environment: Mapping[str, str] = field(repr=False)
    hide: Callable[[str], str] = str
    started: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    async def init(self, backend: Mapping[str, Any], providers: Path | None) -> None:
        """Sets the folder up; `backend` goes through a file, as arguments are seen by everybody.

        Raises AgentRejected for a `backend` without a backend, and for one that plans elsewhere.
        """
        options = ["-input=false", "-no-color", "-lock=false", "-reconfigure"]
        if backend:
            file = self.folder.place("backendConfig")
            file.write_text(backend_file(backend), encoding="utf-8")
            options.append(f"-backend-config={file}")
        shared = {"TF_PLUGIN_CACHE_DIR": str(providers)} if providers else {}
        await self._succeeded("init", *options, env=shared)
        self._check_backend(wanted=bool(backend))

    async def select(self, workspace: str) -> None:
        """Raises AgentRejected where there is none: to make it would be to write a state."""
        done = await self._run("workspace", "select", "-no-color", workspace)
        if _NO_WORKSPACE in done.stderr:
            raise AgentRejected(
                f"{self.program.name} workspace failed: there is no workspace {workspace}: make it "
                "first, a plan makes none"
            )
        if done.returncode != 0:
            raise self._failure("workspace", done)

    async def plan(self, var_files: Sequence[str], *, destroy: bool = False) -> Planned:
        """Neither takes nor leaves a lock of the state: nothing is written.

        Raises AgentRejected or AgentUnavailable with what the program said, also where it left a
        plan file, which then is a part of a plan.
        """
        options = ["-input=false", "-no-color", "-lock=false", "-detailed-exitcode"]
        options += [f"-var-file={each}" for each in var_files]
        options += ["-destroy"] if destroy else []
        self.folder.plan_file.unlink(missing_ok=True)
        done = await self._run("plan", *options, f"-out={self.folder.plan_file}")
        if done.returncode not in (0, CHANGES):
            raise await self._failed_plan(done)
        shown = await self._succeeded("show", "-no-color", "-json", str(self.folder.plan_file))
        return Planned(done.returncode, shown.stdout)

    async def _failed_plan(self, done: Completed) -> AgentError:
        """The program's own words may quote what it calls sensitive: a part of a plan tells."""
        error = self._failure("plan", done)
        if not self.folder.plan_file.exists():
            return error
        shown = await self._run("show", "-no-color", "-json", str(self.folder.plan_file))
        try:
            hide = redactor_of(parse(shown.stdout)).text
        except InvalidRequest:
            return error
        return replace(self, hide=lambda text: hide(self.hide(text)))._failure("plan", done)

    def has_no_state(self) -> bool:
        """Whether there is neither a backend nor a state file beside the configuration."""
        return not self._backend() and not (self.folder.module / "terraform.tfstate").exists()

    def _check_backend(self, *, wanted: bool) -> None:
        backend = self._backend()
        if wanted and not backend:
            raise AgentRejected(
                "backendConfig is given, and the configuration has no backend block that it could "
                'belong to: everything would look new. Write terraform { backend "…" {} }'
            )
        if backend in _REMOTE:
            raise AgentRejected(
                f"the configuration plans elsewhere (its backend is {backend!r}): use an agent "
                "of type terraform-cloud for it"
            )

    def _backend(self) -> str:
        """What `init` wrote down of the backend; nothing where there is no backend block."""
        try:
            told = json.loads((self.folder.data / "terraform.tfstate").read_bytes())
            return str(told["backend"]["type"])
        except (OSError, ValueError, LookupError, TypeError):
            return ""

    async def _succeeded(self, *arguments: str, env: Mapping[str, str] | None = None) -> Completed:
        done = await self._run(*arguments, env=env)
        if done.returncode != 0:
            raise self._failure(arguments[0], done)
        return done

    def _failure(self, step: str, done: Completed) -> AgentError:
        said = done.stderr.decode("utf-8", "replace") or done.stdout.decode("utf-8", "replace")
        if done.returncode < 0:
            said = f"it was ended by {signal.Signals(-done.returncode).name}\n{said}"
        places = {self.folder.module: "", self.folder.top / "tree": "", self.folder.top: ""}
        return failure(f"{self.program.name} {step}", said, places, self.hide)

    async def _run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Completed:
        argv = [str(self.program.path), *arguments]
        environment = {**self.environment, **self._environment(), **(env or {})}
        cwd = self.folder.module
        try:
            return await run(argv, limits=self._limits(arguments[0]), cwd=cwd, env=environment)
        except ProgramStopped as error:
            raise self._stopped(arguments[0], error) from error

    def _stopped(self, step: str, error: ProgramStopped) -> AgentRejected:
        what = f"{self.program.name} {step}"
        match error:
            case TimedOut():
                wall = f"{self.wall.total_seconds():g} s"
                message = f"{what} was stopped: all of the plan did not end within {wall}"
                return AgentRejected(f"{message}; raise timeout", reason="timeout")
            case OutputTooLarge() | ProgramMissing():
                return AgentRejected(error.message)
            case _:
                return AgentRejected(f"{what}: {error.message}")

    def _limits(self, step: str) -> Limits:
        gone = asyncio.get_running_loop().time() - self.started
        left = max(self.wall - timedelta(seconds=gone), timedelta(seconds=0.001))
        limits = Limits(left, MEMORY_BYTES, SAID_BYTES, True, stop=signal.SIGINT, grace=GRACE)
        return replace(limits, output_bytes=SHOW_BYTES) if step == "show" else limits

    def _environment(self) -> dict[str, str]:
        """What makes a run its own; the home only where none was let through."""
        top = self.folder.top
        git = {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
        home = {"HOME": str(self.folder.home)} if "HOME" not in self.environment else {}
        own = {"TF_DATA_DIR": str(self.folder.data), "TMPDIR": str(top / "tmp")}
        return {**QUIET, **git, **home, **own}
