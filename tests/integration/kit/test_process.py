import asyncio
import os
import signal
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from foretell.kit import process, session
from foretell.kit.process import Limits, run

MIB = 1024**2
LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=256 * MIB, output_bytes=MIB, network=True)


def python(source: str, *arguments: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", source, *arguments]


def limits(**changes: object) -> Limits:
    kept = {name: getattr(LIMITS, name) for name in Limits.__dataclass_fields__}
    return Limits(**{**kept, **changes})  # type: ignore[arg-type]


async def gone(pid: int) -> None:
    """Returns when no such process runs; a zombie counts as gone."""
    while True:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return
        await asyncio.sleep(0)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


async def read_fifo(path: Path) -> str:
    return await asyncio.to_thread(path.read_text)


# Writes its own id and its child's, then waits for ever; the child ignores what is polite.
FAMILY = """
import os, signal, sys, time
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(100)
with open(sys.argv[1], "w") as file: file.write(f"{os.getpid()} {child}")
while True: time.sleep(100)
"""


async def test_both_streams_and_the_status_come_back() -> None:
    done = await run(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"),
        limits=LIMITS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert 0 < done.seconds < 20


async def test_the_input_is_given_whole_and_none_is_an_empty_one() -> None:
    echo = python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    data = os.urandom(700_000)
    assert (await run(echo, limits=LIMITS, stdin=data)).stdout == data
    assert (await run(echo, limits=LIMITS)).stdout == b""


async def test_a_child_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETELL_SECRET_KEY", "canary")
    show = python("import os; print(sorted(os.environ))")
    done = await run(show, limits=LIMITS, env={"GIVEN": "1"})
    assert set(eval(done.stdout)) - {"LC_CTYPE"} == {"GIVEN", "LANG", "PATH"}


async def test_full_pipes_on_both_streams_never_lock() -> None:
    both = python("import os\nfor _ in range(100): os.write(1, b'o'*9000); os.write(2, b'e'*9000)")
    done = await run(both, limits=LIMITS)
    assert (len(done.stdout), len(done.stderr)) == (900_000, 900_000)


@pytest.mark.parametrize("descriptor", [1, 2])
async def test_output_over_the_cap_is_reported_not_cut(descriptor: int) -> None:
    endless = python(f"import os\nwhile True: os.write({descriptor}, b'x' * 65536)")
    with pytest.raises(process.OutputTooLarge, match=r"python.* printed more than 1,048,576 bytes"):
        await run(endless, limits=LIMITS)


async def test_a_timeout_ends_the_child_and_the_child_of_the_child(fifo: Path) -> None:
    ids = asyncio.ensure_future(read_fifo(fifo))
    short = limits(wall=timedelta(seconds=1), grace=timedelta(milliseconds=200))
    with pytest.raises(process.TimedOut, match=r"did not end within 1 s.*raise its timeout"):
        await run(python(FAMILY, str(fifo)), limits=short)
    async with asyncio.timeout(5):
        for pid in (await ids).split():
            await gone(int(pid))


async def test_a_cancellation_ends_both_as_well(fifo: Path) -> None:
    running = asyncio.ensure_future(run(python(FAMILY, str(fifo)), limits=LIMITS))
    parent, child = map(int, (await read_fifo(fifo)).split())
    assert session.members(parent).keys() == {parent, child}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(5):
        await gone(parent)
        await gone(child)


async def test_the_polite_signal_comes_first(fifo: Path, tmp_path: Path) -> None:
    polite = """
import signal, sys, time
def end(number, frame):
    open(sys.argv[2], "w").write(str(number)); sys.exit(0)
signal.signal(signal.SIGINT, end)
open(sys.argv[1], "w").write("ready")
while True: time.sleep(100)
"""
    note = tmp_path / "note"
    asked = limits(stop=signal.SIGINT)
    running = asyncio.ensure_future(run(python(polite, str(fifo), str(note)), limits=asked))
    assert await read_fifo(fifo) == "ready"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert note.read_text() == str(int(signal.SIGINT))


async def test_what_is_left_behind_in_the_background_does_not_hold_us() -> None:
    leave = python(
        "import os, time\npid = os.fork()\nif pid == 0:\n    time.sleep(1000)\nprint(pid)"
    )
    started = time.monotonic()
    done = await run(leave, limits=LIMITS)
    assert time.monotonic() - started < 10
    async with asyncio.timeout(5):
        await gone(int(done.stdout))


@pytest.mark.skipif(not session.can_be_watched(), reason="no /proc: memory is capped instead")
async def test_memory_is_counted_over_the_whole_family() -> None:
    halves = """
import os, time
os.fork()
held = bytearray(os.urandom(1)) * (80 * 1024 ** 2)
while True: time.sleep(100)
"""
    with pytest.raises(process.MemoryExceeded, match="more than 125,829,120 bytes of memory"):
        await run(python(halves), limits=limits(memory_bytes=120 * MIB))


async def test_without_proc_the_address_space_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "can_be_watched", lambda: False)
    done = await run(python("b'x' * (3 * 1024 ** 3)"), limits=LIMITS)
    assert done.returncode == 1
    assert b"MemoryError" in done.stderr
    assert (await run(python("print(1)"), limits=LIMITS)).stdout == b"1\n"


async def test_a_child_writes_no_file_beyond_its_bound(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    write = python(f"import pathlib; pathlib.Path({path!r}).write_text('x'); print('written')")
    bound = replace(LIMITS, file_bytes=0)
    done = await run(write, limits=bound)
    assert done.returncode != 0
    assert (tmp_path / "file").read_bytes() == b""
    assert (await run(python("print('a pipe is no file')"), limits=bound)).returncode == 0
    assert (await run(write, limits=LIMITS)).stdout == b"written\n"


async def test_a_missing_program_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(process.ProgramMissing, match=r"nosuch was not found.*put it on PATH"):
        await run(["nosuch"], limits=LIMITS)
    plain = tmp_path / "plain"
    plain.write_text("")
    with pytest.raises(process.ProgramMissing, match="plain was not found, or may not be run"):
        await run([str(plain)], limits=LIMITS)
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/at/all\n")
    broken.chmod(0o755)
    with pytest.raises(process.ProgramMissing, match="broken could not be started"):
        await run([str(broken)], limits=LIMITS)


async def test_no_message_holds_an_argument() -> None:
    cases = [
        (["/nowhere/nosuch", "canary"], LIMITS),
        (python("while True: pass", "canary"), limits(wall=timedelta(milliseconds=50))),
        (python("print('x' * 2000000)", "canary"), LIMITS),
    ]
    for argv, allowed in cases:
        with pytest.raises(process.ProgramStopped) as caught:
            await run(argv, limits=allowed)
        assert "canary" not in str(caught.value)


async def test_without_network_not_even_the_own_machine_answers() -> None:
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    dial = python("import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))")
    async with server:
        assert (await run([*dial, str(port)], limits=LIMITS)).returncode == 0
        cut_off = await run([*dial, str(port)], limits=limits(network=False))
    isolated = process.network_isolation().startswith("unshare")
    assert (cut_off.returncode != 0) == isolated


async def test_many_at_once_leave_no_descriptor_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    await asyncio.gather(*(run(["true"], limits=LIMITS) for _ in range(20)))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
