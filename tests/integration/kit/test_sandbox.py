import asyncio
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

import pytest

from foretell.kit import process
from foretell.kit.process import Limits
from foretell.kit.sandbox import ChildDied, Sandbox, TargetFailed

MIB = 1024**2
LIMITS = Limits(wall=timedelta(seconds=10), memory_bytes=128 * MIB, output_bytes=MIB, network=False)
IN_CHILD = "builtins:eval"


@pytest.fixture
async def evaluate() -> AsyncIterator[Sandbox]:
    """The worst target there is: the child runs whatever it is told."""
    async with Sandbox(IN_CHILD, LIMITS) as sandbox:
        yield sandbox


async def test_a_value_goes_in_and_comes_back() -> None:
    async with Sandbox("operator:itemgetter", LIMITS) as sandbox:
        with pytest.raises(TargetFailed, match="not JSON serializable"):
            await sandbox.call("x")
    async with Sandbox("builtins:sorted", LIMITS) as sandbox:
        assert await sandbox.call(["é", "a", "\U0001f600"]) == ["a", "é", "\U0001f600"]
        assert await sandbox.call(MappingProxyType({"b": 1, "a": 2})) == ["a", "b"]


async def test_a_child_is_kept_warm(evaluate: Sandbox) -> None:
    pid = "__import__('os').getpid()"
    assert await evaluate.call(pid) == await evaluate.call(pid)


async def test_an_exception_comes_back_by_name_and_the_child_lives_on(evaluate: Sandbox) -> None:
    pid = await evaluate.call("__import__('os').getpid()")
    with pytest.raises(TargetFailed, match="division by zero") as caught:
        await evaluate.call("1/0")
    assert caught.value.kind == "ZeroDivisionError"
    with pytest.raises(TargetFailed) as caught:
        await evaluate.call("__import__('sys').exit(0)")
    assert caught.value.kind == "SystemExit"
    assert await evaluate.call("__import__('os').getpid()") == pid


async def test_an_endless_call_is_killed_and_the_next_one_served(evaluate: Sandbox) -> None:
    with pytest.raises(process.TimedOut, match=r"builtins:eval did not answer within 0\.3 s"):
        await evaluate.call("10 ** 10 ** 9", wall=timedelta(seconds=0.3))
    assert await evaluate.call("1 + 1") == 2


async def test_the_child_stops_itself_when_nobody_is_left_to_stop_it(evaluate: Sandbox) -> None:
    limits = "__import__('resource').getrlimit(__import__('resource').RLIMIT_CPU)[0]"
    assert 0 < await evaluate.call(limits) <= LIMITS.wall.total_seconds() + 2


async def test_memory_is_bounded_and_named(evaluate: Sandbox) -> None:
    with pytest.raises(process.MemoryExceeded, match="more than 134,217,728 bytes of memory"):
        await evaluate.call("'x' * 10**9")
    assert await evaluate.call("1") == 1


async def test_an_answer_over_the_cap_is_an_error(evaluate: Sandbox) -> None:
    with pytest.raises(process.OutputTooLarge, match="more than 1,048,576 bytes"):
        await evaluate.call("'x' * 2 * 2**20")


async def test_a_child_that_dies_is_an_error_not_a_hang(evaluate: Sandbox) -> None:
    with pytest.raises(ChildDied, match="ended with status 7"):
        await evaluate.call("__import__('os')._exit(7)")
    with pytest.raises(process.MemoryExceeded):
        await evaluate.call("__import__('os').abort()")
    assert await evaluate.call("1") == 1


async def test_a_target_that_cannot_be_loaded_says_why() -> None:
    async with Sandbox("no.such.module:f", LIMITS) as sandbox:
        with pytest.raises(ChildDied, match="could not be loaded: ModuleNotFoundError"):
            await sandbox.call(1)


async def test_the_child_has_no_environment_no_files_and_no_say_on_stdout(
    evaluate: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FORETELL_SECRET_KEY", "canary")
    assert set(await evaluate.call("dict(__import__('os').environ)")) <= {"LC_CTYPE"}
    with pytest.raises(TargetFailed, match="File too large"):
        await evaluate.call(f"open({str(tmp_path / 'file')!r}, 'w', 1).write('x\\n')")
    assert await evaluate.call("print('x' * 100, flush=True)") is None


async def test_the_child_has_no_network(evaluate: Sandbox) -> None:
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    dial = f"__import__('socket').create_connection(('127.0.0.1', {port})).close()"
    async with server:
        if process.network_isolation().startswith("unshare"):
            with pytest.raises(TargetFailed):
                await evaluate.call(dial)


async def test_calls_wait_for_a_child_and_never_mix_answers() -> None:
    async with Sandbox(IN_CHILD, LIMITS, size=2) as sandbox:
        answers = await asyncio.gather(*(sandbox.call(str(n)) for n in range(100)))
        assert answers == list(range(100))
        pids = await asyncio.gather(*(sandbox.call("__import__('os').getpid()") for _ in range(20)))
        assert len(set(pids)) <= 2


async def test_a_cancelled_call_never_leaves_its_answer_to_the_next(evaluate: Sandbox) -> None:
    assert await evaluate.call("0") == 0
    started = asyncio.Event()

    async def ask() -> None:
        started.set()
        await evaluate.call("__import__('time').sleep(1000)")

    task = asyncio.ensure_future(ask())
    await started.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await evaluate.call("'mine'") == "mine"


async def test_a_child_starts_fast_enough_to_be_thrown_away() -> None:
    def seconds_since(started: float) -> float:
        return time.perf_counter() - started

    times = []
    for _ in range(5):
        async with Sandbox("builtins:len", LIMITS) as sandbox:
            started = time.perf_counter()
            await sandbox.call("x")
            times.append(seconds_since(started))
    assert min(times) < 0.15, f"{times} with {sys.version}"
