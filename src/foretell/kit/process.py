"""The only door to child processes: an argument vector, limits, no shell, no inherited secrets.

A child gets its own session, so a limit, a cancellation or an error ends it with everything it
started. Memory is watched, not capped: an address-space limit kills Go programs at their start.
"""

import asyncio
import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, Final

from foretell.domain.errors import ForetellError
from foretell.kit import session
from foretell.kit.pipe import Capture, readable

NO_VARIABLES: Final[Mapping[str, str]] = MappingProxyType({})
MEMORY_POLL: Final = timedelta(milliseconds=100)
# Looks at memory between two that look at every process of the machine.
_THOROUGH: Final = 10
# How long, in seconds, the end of the output is waited for once the program has ended.
_LAST_WORDS: Final = 2.0
# Below 2 GB of address space `helm` dies while it starts (Go reserves far more than it uses).
_LEAST_ADDRESS_SPACE_BYTES: Final = 2 * 1024**3
_CAP_AND_BECOME: Final = (
    "import os, resource, sys\n"
    "for cap in sys.argv[1].split(','):\n"
    "    name, _, most = cap.partition('=')\n"
    "    resource.setrlimit(getattr(resource, 'RLIMIT_' + name), (int(most),) * 2)\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)


class ProgramStopped(ForetellError):
    """A child was stopped, or never started. Messages name the program, never its arguments."""


class TimedOut(ProgramStopped):
    """It ran longer than `Limits.wall`."""


class MemoryExceeded(ProgramStopped):
    """It, with its children, held more than `Limits.memory_bytes`."""


class OutputTooLarge(ProgramStopped):
    """One of its streams is longer than `Limits.output_bytes`; none of it is used."""


class ProgramMissing(ProgramStopped):
    """It is not on PATH, or may not be run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one child may use.

    `output_bytes` holds for each of the two streams, `file_bytes` for each file that it writes.
    With `network` false the child has no network where the system can do that:
    `network_isolation` says whether. `stop` is sent first, SIGKILL after `grace` (Terraform
    releases its lock on SIGINT).
    """

    wall: timedelta
    memory_bytes: int
    output_bytes: int
    network: bool
    stop: signal.Signals = signal.SIGTERM
    grace: timedelta = timedelta(seconds=5)
    file_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """A child that ended by itself; a negative `returncode` is the signal that ended it."""

    returncode: int
    stdout: bytes
    stderr: bytes
    seconds: float


async def run(
    argv: Sequence[str],
    *,
    limits: Limits,
    cwd: Path | None = None,
    env: Mapping[str, str] = NO_VARIABLES,
    stdin: bytes | None = None,
) -> Completed:
    """Runs `argv` to its end. The environment is `env`, PATH and a UTF-8 locale; nothing else.

    Raises ProgramMissing, TimedOut, MemoryExceeded, OutputTooLarge. A program that fails is not an
    error here: look at `returncode`. What it leaves running in its session is killed.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **env}
    program = _find(argv[0], environment["PATH"])
    command = _limited([program, *argv[1:]], limits)
    return await _Child(argv[0], limits).completed(command, stdin, _Where(cwd, environment))


def _find(name: str, path: str) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise ProgramMissing(
            f"{os.path.basename(name)} was not found, or may not be run: "
            "install it, put it on PATH, or name its full path in the settings"
        )
    return os.path.abspath(found)


def _limited(argv: list[str], limits: Limits) -> list[str]:
    caps = []
    if not session.can_be_watched():
        caps.append(f"AS={max(limits.memory_bytes, _LEAST_ADDRESS_SPACE_BYTES)}")
    if limits.file_bytes is not None:
        caps.append(f"FSIZE={limits.file_bytes}")
    if caps:
        argv = [sys.executable, "-I", "-S", "-c", _CAP_AND_BECOME, ",".join(caps), *argv]
    return argv if limits.network else without_network(argv)


@cache
def _unshare() -> tuple[str, ...]:
    """The prefix that takes the network away, empty where the system does not let us."""
    found = shutil.which("unshare")
    if found is None:
        return ()
    prefix = (found, "-Urn", "--")
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return prefix if done.returncode == 0 else ()


def without_network(argv: Sequence[str]) -> list[str]:
    """`argv` in a network namespace of its own, or as it is where that is not possible."""
    return [*_unshare(), *argv]


def network_isolation() -> str:
    """Whether children are cut off from the network, and by what, for people."""
    if _unshare():
        return "unshare (user and network namespaces)"
    return "none (unshare -Urn does not work here: programs are only told not to use the network)"


@dataclass(frozen=True, slots=True)
class _Where:
    cwd: Path | None
    env: Mapping[str, str]


class _Child:
    """One program from its start to its end, and the ways it may end."""

    def __init__(self, program: str, limits: Limits) -> None:
        self.name = os.path.basename(program)
        self.limits = limits
        self.process: asyncio.subprocess.Process | None = None
        self.trouble: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.captures: list[Capture] = []
        self.transports: list[asyncio.ReadTransport] = []

    async def completed(self, argv: Sequence[str], stdin: bytes | None, where: _Where) -> Completed:
        try:
            started = monotonic()
            with readable(stdin) as source:
                self.process = await self._start(argv, source, where)
            ended = await self._within_limits(self.process)
            stdout, stderr = (bytes(capture.data) for capture in self.captures)
            return Completed(ended, stdout, stderr, monotonic() - started)
        finally:
            await self._stop()

    async def _start(
        self, argv: Sequence[str], source: int, where: _Where
    ) -> asyncio.subprocess.Process:
        """With our own pipes: asyncio's `wait` may wait for a grandchild that holds its own."""
        out, err = [await self._listen(stream) for stream in ("stdout", "stderr")]
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=source,
                stdout=out,
                stderr=err,
                cwd=where.cwd,
                env=where.env,
                start_new_session=True,
            )
        except OSError as error:
            what = error.strerror or type(error).__name__
            raise ProgramMissing(f"{self.name} could not be started: {what}") from error
        finally:
            os.close(out)
            os.close(err)

    async def _listen(self, stream: str) -> int:
        """Starts to drain a new pipe; returns the end for the child."""
        cap_bytes = self.limits.output_bytes
        error = OutputTooLarge(
            f"{self.name} printed more than {cap_bytes:,} bytes on {stream} and was stopped: "
            "let it print less, or raise the output limit"
        )
        read, write = os.pipe()
        transport, capture = await asyncio.get_running_loop().connect_read_pipe(
            lambda: Capture(cap_bytes, self.trouble, error), os.fdopen(read, "rb", 0)
        )
        self.transports.append(transport)
        self.captures.append(capture)
        return write

    async def _within_limits(self, process: asyncio.subprocess.Process) -> int:
        ended = asyncio.ensure_future(self._ended(process))
        watch = asyncio.ensure_future(self._watch_memory(process.pid))
        wall = self.limits.wall.total_seconds()
        first = asyncio.FIRST_COMPLETED
        try:
            either: set[asyncio.Future[Any]] = {ended, watch, self.trouble}
            await asyncio.wait(either, timeout=wall, return_when=first)
            for failed in (self.trouble, watch):
                if failed.done():
                    failed.result()
            if not ended.done():
                raise TimedOut(
                    f"{self.name} did not end within {wall:g} s and was stopped: "
                    "raise its timeout, or find out what it waits for"
                )
            return ended.result()
        finally:
            ended.cancel()
            watch.cancel()

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        returncode = await process.wait()
        session.kill(process.pid)
        await asyncio.wait([capture.closed for capture in self.captures], timeout=_LAST_WORDS)
        return returncode

    async def _watch_memory(self, leader: int) -> None:
        for look in itertools.count(1):
            await asyncio.sleep(MEMORY_POLL.total_seconds())
            # Once a second also for what lost its parent, which takes a look at every process.
            family = session.descendants if look % _THOROUGH else session.members
            if sum(family(leader).values()) > self.limits.memory_bytes:
                session.kill(leader)
                raise MemoryExceeded(
                    f"{self.name} used more than {self.limits.memory_bytes:,} bytes of memory and "
                    "was killed: give it less to do, or raise the memory limit"
                )

    async def _stop(self) -> None:
        """Ends what still runs, politely first; a second cancellation makes it rude."""
        try:
            if self.process is not None and self.process.returncode is None:
                await self._end(self.process)
        finally:
            for transport in self.transports:
                transport.close()
            if self.trouble.done():
                self.trouble.exception()
            self.trouble.cancel()

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        session.send(process.pid, self.limits.stop)
        try:
            async with asyncio.timeout(self.limits.grace.total_seconds()):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            session.kill(process.pid)
        await process.wait()
