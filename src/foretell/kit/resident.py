"""A program that answers on a socket of its own, kept warm between calls and ended by a limit.

For programs that take longer to start than to answer. It has no network (where the system allows
that, see `process.network_isolation`), can't fill a file, and ends with us; memory and time are
watched from here while it is asked.
"""

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeVar

from foretell.domain.errors import InvalidRequest, Unavailable
from foretell.kit import session
from foretell.kit.daemon import Daemon, spawn
from foretell.kit.http import Answer, Http, Options, Patience
from foretell.kit.process import (
    MEMORY_POLL,
    Limits,
    MemoryExceeded,
    OutputTooLarge,
    ProgramMissing,
    ProgramStopped,
    TimedOut,
    without_network,
)

T = TypeVar("T")

_START_WITHIN: Final = timedelta(seconds=30)
_LOOK_AGAIN: Final = timedelta(milliseconds=5)
# The program is exec'd, so the pid stays. PR_SET_PDEATHSIG is 1 (Linux, prctl(2)): whatever ends
# us, SIGKILL too, ends it. Where there is no prctl it is ended by `end` alone.
_LIMIT_AND_BECOME: Final = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Died(ProgramStopped):
    """It ended by itself, while it started or while it was asked."""


class Resident:
    """One started program, asked one thing at a time. `start` makes one, `end` ends it."""

    def __init__(self, name: str, daemon: Daemon, http: Http, limits: Limits) -> None:
        self._name, self._daemon, self._http, self._limits = name, daemon, http, limits

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        socket: Path,
        folder: Path,
        limits: Limits,
        env: Mapping[str, str],
    ) -> "Resident":
        """The program once it listens on `socket`, which `argv` names; it runs in `folder`.

        Raises ProgramMissing, or Died where it ends instead.
        """
        program = Path(argv[0])
        if not os.access(program, os.X_OK):
            raise ProgramMissing(f"{program.name} was not found, or may not be run")
        limited = [sys.executable, "-I", "-S", "-c", _LIMIT_AND_BECOME, str(os.getpid()), *argv]
        daemon = spawn(without_network(limited), cwd=folder, log=Path(os.devnull), env=env)
        patience = Patience(read_for=2 * limits.wall, attempts=3, first_pause=2 * _LOOK_AGAIN)
        options = Options(patience=patience, max_bytes=limits.output_bytes, socket=socket)
        self = cls(program.name, daemon, Http("http://localhost", options), limits)
        try:
            await self._within(_START_WITHIN, self._listening(socket))
        except BaseException:
            await self.end()
            raise
        return self

    async def _listening(self, socket: Path) -> None:
        while not socket.exists():
            if self._daemon.exit_code() is not None:
                raise self._death()
            await asyncio.sleep(_LOOK_AGAIN.total_seconds())

    async def call(
        self, method: str, path: str, body: Any = None, params: Mapping[str, str] | None = None
    ) -> Answer:
        """The program's answer, of whatever status.

        Raises TimedOut, MemoryExceeded, OutputTooLarge or Died; then it has to be ended.
        """
        asked = self._http.request(method, path, body=body, params=params, idempotent=False)
        try:
            return await self._within(self._limits.wall, asked)
        except (Unavailable, InvalidRequest) as error:
            if self._daemon.exit_code() is not None or isinstance(error, Unavailable):
                raise self._death() from error
            raise OutputTooLarge(
                f"{self._name} answered more than {self._limits.output_bytes:,} bytes"
            ) from error

    async def _within(self, wall: timedelta, work: Coroutine[Any, Any, T]) -> T:
        """What `work` comes to, unless the program takes too long for it, or too much memory."""
        task, watch = asyncio.ensure_future(work), asyncio.ensure_future(self._outgrown())
        either: set[asyncio.Future[Any]] = {task, watch}
        try:
            await asyncio.wait(
                either, timeout=wall.total_seconds(), return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
            raise self._too_much(wall, outgrown=watch.done())
        finally:
            for each in either:
                each.cancel()
            await asyncio.wait(either)

    def _too_much(self, wall: timedelta, *, outgrown: bool) -> ProgramStopped:
        if not outgrown:
            return TimedOut(
                f"{self._name} did not answer within {wall.total_seconds():g} s and was killed"
            )
        return MemoryExceeded(
            f"{self._name} used more than {self._limits.memory_bytes:,} bytes of memory and "
            "was killed: give it less to do, or raise the memory limit"
        )

    async def _outgrown(self) -> None:
        """Returns when it holds too much."""
        while sum(session.members(self._daemon.pid).values()) <= self._limits.memory_bytes:
            await asyncio.sleep(MEMORY_POLL.total_seconds())

    def _death(self) -> Died:
        return Died(f"{self._name} ended with status {self._daemon.exit_code()}")

    async def end(self) -> None:
        """At once: nothing that it does is worth a grace."""
        if self._daemon.exit_code() is None:
            session.kill(self._daemon.pid)
        await self._http.close()
