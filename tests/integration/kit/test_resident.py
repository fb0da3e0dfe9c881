"""A warm program: asked many times, ended by a limit, and never left behind."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from foretell.kit.process import (
    Limits,
    MemoryExceeded,
    OutputTooLarge,
    ProgramMissing,
    TimedOut,
)
from foretell.kit.resident import Died, Resident

MIB = 1024**2
LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=128 * MIB, output_bytes=MIB, network=False)
SERVER = """\
import http.server, json, os, socketserver, sys, threading

class Asked(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        code = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            said = str(eval(code)).encode()
        except Exception as error:
            said = repr(error).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def address_string(self):
        return ""

    def log_message(self, *_):
        pass

socketserver.UnixStreamServer(sys.argv[1], Asked).serve_forever()
"""


async def start(folder: Path, limits: Limits = LIMITS, server: str = SERVER) -> Resident:
    socket = folder / "socket"
    socket.unlink(missing_ok=True)
    argv = [sys.executable, "-I", "-c", server, str(socket)]
    return await Resident.start(
        argv, socket=socket, folder=folder, limits=limits, env={"GIVEN": "1"}
    )


@pytest.fixture
async def resident(tmp_path: Path) -> AsyncIterator[Resident]:
    found = await start(tmp_path)
    yield found
    await found.end()


async def said(resident: Resident, code: str) -> str:
    return (await resident.call("POST", "/", code.encode())).body.decode()


async def test_it_is_asked_many_times_and_stays_the_same(resident: Resident) -> None:
    pids = {await said(resident, "os.getpid()") for _ in range(3)}
    assert len(pids) == 1


async def test_it_has_our_environment_alone_and_can_fill_no_file(
    resident: Resident, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "c4n4ry")
    names = await said(resident, "sorted(n for n in os.environ if not n.startswith('LC_'))")
    assert names == "['GIVEN']"
    wrote = await said(resident, "open('x', 'w').write('y' * 9) and 1")
    assert "File too large" in wrote or wrote == "1"
    assert await said(resident, "os.path.getsize('x')") == "0"


async def test_what_never_ends_is_a_timeout(tmp_path: Path) -> None:
    resident = await start(tmp_path, replace(LIMITS, wall=timedelta(seconds=1)))
    with pytest.raises(TimedOut, match="within 1 s"):
        await said(resident, "threading.Event().wait()")
    await resident.end()


async def test_what_grows_is_ended_and_named(resident: Resident) -> None:
    with pytest.raises(MemoryExceeded, match="134,217,728 bytes"):
        await said(resident, f"[bytearray({256 * MIB}), threading.Event().wait()]")


async def test_an_answer_over_the_cap_is_an_error(resident: Resident) -> None:
    with pytest.raises(OutputTooLarge):
        await said(resident, f"'x' * {2 * MIB}")


async def test_one_that_dies_is_an_error_and_no_hang(resident: Resident) -> None:
    with pytest.raises(Died):
        await said(resident, "os._exit(3)")


async def test_one_that_does_not_start_is_an_error_and_no_hang(tmp_path: Path) -> None:
    with pytest.raises(Died, match="status 3"):
        await start(tmp_path, server="import os; os._exit(3)")
    with pytest.raises(ProgramMissing):
        await Resident.start(
            [str(tmp_path / "none")], socket=tmp_path / "s", folder=tmp_path, limits=LIMITS, env={}
        )


async def test_its_end_is_its_end(tmp_path: Path) -> None:
    resident = await start(tmp_path)
    pid = int(await said(resident, "os.getpid()"))
    await resident.end()
    await resident.end()
    async with asyncio.timeout(20):
        while is_there(pid):
            await asyncio.sleep(0)


def is_there(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


KILLED = """\
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from foretell.kit.process import Limits
from foretell.kit.resident import Resident

async def main():
    limits = Limits(timedelta(seconds=20), 128 * 1024**2, 1024**2, network=False)
    socket, server = Path(sys.argv[1]) / "socket", sys.argv[2]
    argv = [sys.executable, "-I", "-c", server, str(socket)]
    started = await Resident.start(
        argv, socket=socket, folder=Path(sys.argv[1]), limits=limits, env={}
    )
    print((await started.call("POST", "/", b"os.getpid()")).body.decode(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of our end")
async def test_it_ends_with_us_however_we_end(tmp_path: Path) -> None:
    us = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(tmp_path), SERVER, stdout=asyncio.subprocess.PIPE
    )
    assert us.stdout is not None
    pid = int(await us.stdout.readline())
    assert is_there(pid)
    us.send_signal(signal.SIGKILL)
    await us.wait()
    async with asyncio.timeout(20):
        while is_there(pid):
            await asyncio.sleep(0)
