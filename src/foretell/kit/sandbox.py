"""Runs one of our functions on text that nobody trusts, in a warm child that can be killed.

For what can't be interrupted where it runs: templates, rules, jq. The child has no environment, no
network (where the system allows that, see `process.network_isolation`), can't fill a file, and
is limited in memory and CPU by itself, in time from here.
"""

import asyncio
import json
import math
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final, NoReturn, Self

from foretell.domain.errors import ForetellError
from foretell.kit import session
from foretell.kit.process import (
    Limits,
    MemoryExceeded,
    OutputTooLarge,
    ProgramStopped,
    TimedOut,
    without_network,
)

_LENGTH_BYTES: Final = 4
# Importing a target on a busy machine; a call's own time starts after it.
_START_WITHIN: Final = timedelta(seconds=30)
_ENTRY: Final = "from foretell.kit.sandbox_child import main; main()"


class TargetFailed(ForetellError):
    """The function raised: `kind` is the name of the exception's type, the message is its text."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message or kind)
        self.kind = kind


class ChildDied(ProgramStopped):
    """The child ended in the middle of a call, by nothing that we did."""


class Sandbox:
    """Up to `size` warm children that run `target` ("package.module:function").

    The function takes one JSON-able value and returns one. A child serves one call at a time and is
    started when first needed; one that was killed is replaced by the next call. Of `limits`, `wall`
    bounds a call, `memory_bytes` is the child's address space (an interpreter alone takes about
    30 MB), `output_bytes` an answer; a child never has a network. Use it in one event loop, and
    `aclose` it there.
    """

    def __init__(self, target: str, limits: Limits, *, size: int = 1) -> None:
        self._target, self._limits = target, limits
        self._room = asyncio.Semaphore(size)
        self._idle: list[_Child] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def call(self, payload: Any, wall: timedelta | None = None) -> Any:
        """What the function returns for `payload`; `wall` may only shorten the limit.

        Raises TargetFailed when it raises; TimedOut, MemoryExceeded, OutputTooLarge or ChildDied
        when a limit ended it: the same payload will end the same way.
        """
        request = json.dumps(payload, default=_plain).encode()
        async with self._child() as child:
            answer = await child.ask(request, min(wall or self._limits.wall, self._limits.wall))
        if "failure" in answer:
            self._fail(answer["failure"]["type"], answer["failure"]["message"])
        return answer["value"]

    async def aclose(self) -> None:
        """Ends the idle children; busy ones end with their call."""
        self._closed = True
        while self._idle:
            await self._idle.pop().end()

    @asynccontextmanager
    async def _child(self) -> AsyncIterator["_Child"]:
        """One that is idle or new; it goes back only if the call ended in an answer."""
        async with self._room:
            child = self._idle.pop() if self._idle else _Child(self._target, self._limits)
            try:
                yield child
            except BaseException:
                await child.end()
                raise
            if self._closed:
                await child.end()
            else:
                self._idle.append(child)

    def _fail(self, kind: str, message: str) -> NoReturn:
        if kind == "MemoryError":
            raise _out_of_memory(self._target, self._limits)
        if kind == "AnswerTooLarge":
            raise OutputTooLarge(
                f"{self._target} answered more than {self._limits.output_bytes:,} bytes: "
                "let it produce less"
            )
        raise TargetFailed(kind, message)


class _Child:
    def __init__(self, target: str, limits: Limits) -> None:
        self._target, self._limits = target, limits
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, request: bytes, wall: timedelta) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await self._start()
            ready = await self._within(_START_WITHIN, self._receive(self._process))
            if "failure" in ready:
                why = "{type}: {message}".format_map(ready["failure"])
                raise ChildDied(f"{self._target} could not be loaded: {why}")
        return await self._within(wall, self._exchange(self._process, request))

    async def end(self) -> None:
        """At once: nothing that it does is worth a grace."""
        if self._process is None:
            return
        session.kill(self._process.pid)
        # Reaps it and closes both pipes, whatever is left in them.
        with suppress(BrokenPipeError, ConnectionResetError):
            await self._process.communicate()

    async def _start(self) -> asyncio.subprocess.Process:
        limits = self._limits
        cpu_seconds = math.ceil(limits.wall.total_seconds())
        numbers = (limits.memory_bytes, cpu_seconds, limits.output_bytes)
        python = [sys.executable, "-I", "-B", "-c", _ENTRY]
        return await asyncio.create_subprocess_exec(
            *without_network([*python, self._target, *map(str, numbers)]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )

    async def _within(self, wall: timedelta, work: Awaitable[bytes]) -> dict[str, Any]:
        try:
            async with asyncio.timeout(wall.total_seconds()):
                answer: dict[str, Any] = json.loads(await work)
                return answer
        except TimeoutError as error:
            raise TimedOut(
                f"{self._target} did not answer within {wall.total_seconds():g} s and was killed"
            ) from error

    async def _exchange(self, process: asyncio.subprocess.Process, request: bytes) -> bytes:
        assert process.stdin is not None
        process.stdin.write(len(request).to_bytes(_LENGTH_BYTES, "big") + request)
        with suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.drain()
        return await self._receive(process)

    async def _receive(self, process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout is not None
        try:
            head = await process.stdout.readexactly(_LENGTH_BYTES)
            return await process.stdout.readexactly(int.from_bytes(head, "big"))
        except asyncio.IncompleteReadError as error:
            raise self._death(await process.wait()) from error

    def _death(self, returncode: int) -> ProgramStopped:
        if returncode == -signal.SIGXCPU:
            return TimedOut(f"{self._target} used up its CPU time and was killed")
        if returncode in (-signal.SIGABRT, -signal.SIGSEGV):
            # What native code does when it gets no memory.
            return _out_of_memory(self._target, self._limits)
        return ChildDied(f"the child that runs {self._target} ended with status {returncode}")


def _out_of_memory(target: str, limits: Limits) -> MemoryExceeded:
    return MemoryExceeded(
        f"{target} needed more than {limits.memory_bytes:,} bytes of memory and was stopped"
    )


def _plain(value: object) -> object:
    """Frozen mappings are JSON objects too."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
