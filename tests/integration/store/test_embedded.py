"""The embedded PostgreSQL: shared, restarted, refused with a clear word."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
import pytest

from foretell.domain.errors import Unavailable
from foretell.store.embedded import EmbeddedPostgres, programs

JOIN_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from foretell.store.embedded import EmbeddedPostgres

async def main():
    async with EmbeddedPostgres(Path(sys.argv[1]), ephemeral=True) as dsn:
        print(dsn, flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # Short, and open to the account that the server runs as when root runs the tests.
    with tempfile.TemporaryDirectory(prefix="fe-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def server_pid(folder: Path) -> int:
    return int((folder / "postgres/data/postmaster.pid").read_text().split("\n")[0])


async def ask(dsn: str, statement: str) -> object:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        cursor = await connection.execute(statement.encode())
        row = await cursor.fetchone() if cursor.description else None
        return row and row[0]


async def answers(dsn: str) -> bool:
    try:
        return await ask(dsn, "SELECT 1") == 1
    except psycopg.OperationalError:
        return False


@asynccontextmanager
async def other_process(folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", JOIN_AND_WAIT, str(folder)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


async def first_line(child: asyncio.subprocess.Process) -> str:
    assert child.stdout is not None
    return (await child.stdout.readline()).decode().strip()


@contextmanager
def mounted(folder: Path, option: str) -> Iterator[None]:
    argv = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
    if subprocess.run(argv, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_it_starts_answers_and_stops(folder: Path) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
        assert await ask(dsn, "SELECT 1") == 1
        assert str(await ask(dsn, "SHOW listen_addresses")) == ""
    assert not await answers(dsn)
    assert not (folder / "postgres/data/postmaster.pid").exists()


async def test_starting_and_stopping_twice_is_once(folder: Path) -> None:
    server = EmbeddedPostgres(folder, ephemeral=True)
    assert await server.start() == await server.start()
    await server.stop()
    await server.stop()


async def test_what_was_written_is_there_after_a_restart(folder: Path) -> None:
    async with EmbeddedPostgres(folder) as dsn:
        assert await ask(dsn, "SHOW fsync") == "on"
        await ask(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    async with EmbeddedPostgres(folder) as dsn:
        assert await ask(dsn, "SELECT n FROM kept") == 7


async def test_two_users_in_one_process_share_it(folder: Path) -> None:
    first, second = (EmbeddedPostgres(folder, ephemeral=True) for _ in range(2))
    dsns = await asyncio.gather(first.start(), second.start())
    assert dsns[0] == dsns[1]
    await first.stop()
    assert await answers(dsns[1])
    await second.stop()
    assert not await answers(dsns[1])


async def test_another_process_joins_and_the_last_one_out_stops_it(folder: Path) -> None:
    server = EmbeddedPostgres(folder, ephemeral=True)
    dsn = await server.start()
    async with other_process(folder) as child:
        assert await first_line(child) == dsn
        await server.stop()
        assert await answers(dsn)
        await child.communicate(b"\n")
        assert child.returncode == 0
    assert not await answers(dsn)


async def test_the_server_goes_when_its_only_user_was_killed(folder: Path) -> None:
    async with other_process(folder) as child:
        dsn = await first_line(child)
        pid = server_pid(folder)
        child.kill()
        await child.wait()
    async with asyncio.timeout(10):
        while await answers(dsn):
            await asyncio.sleep(0.01)
    async with EmbeddedPostgres(folder, ephemeral=True) as again:
        assert again == dsn
        assert server_pid(folder) != pid


async def test_who_comes_while_the_last_user_dies_finds_a_server(folder: Path) -> None:
    for _ in range(3):
        async with other_process(folder) as child:
            await first_line(child)
            child.kill()
            async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
                assert await ask(dsn, "SELECT pg_sleep(0.2) IS NOT NULL")


async def test_the_death_of_one_user_leaves_the_server_to_the_other(folder: Path) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
        pid = server_pid(folder)
        async with other_process(folder) as child:
            await first_line(child)
            child.kill()
            await child.wait()
        assert await answers(dsn)
        assert server_pid(folder) == pid


@pytest.mark.parametrize("round_", range(3))
async def test_it_comes_back_after_the_server_was_killed(folder: Path, round_: int) -> None:
    server = EmbeddedPostgres(folder)
    dsn = await server.start()
    await ask(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
    os.kill(server_pid(folder), signal.SIGKILL)
    again = EmbeddedPostgres(folder)
    dsn = await again.start()
    assert await ask(dsn, "SELECT n FROM kept") == 7
    await again.stop()
    await server.stop()
    assert not await answers(dsn)


async def test_a_stale_pid_file_with_the_number_of_another_program_is_no_server(
    folder: Path,
) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True):
        text = (folder / "postgres/data/postmaster.pid").read_text()
    async with other_process(folder / "another") as child:
        await first_line(child)
        stale = folder / "postgres/data/postmaster.pid"
        stale.write_text("\n".join([str(child.pid), *text.split("\n")[1:]]))
        async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
            assert await ask(dsn, "SELECT 1") == 1
        assert child.returncode is None


async def test_a_server_that_was_killed_is_started_again_for_who_uses_it(folder: Path) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
        await ask(dsn, "CREATE TABLE kept AS SELECT 7 AS n")
        killed = server_pid(folder)
        os.kill(killed, signal.SIGKILL)
        async with asyncio.timeout(60):
            while Path(f"/proc/{killed}").exists() or not await answers(dsn):
                await asyncio.sleep(0)
        assert await ask(dsn, "SELECT n FROM kept") == 7
        again = server_pid(folder)
    assert not Path(f"/proc/{again}").exists()


async def test_an_interrupted_making_is_begun_again(folder: Path) -> None:
    leftover = folder / "postgres" / "unfinished"
    leftover.mkdir(parents=True)
    (leftover / "PG_VERSION").write_text("18\n")
    async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
        assert await answers(dsn)


async def test_nobody_else_gets_in(folder: Path) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True) as dsn:
        data = folder / "postgres" / "data"
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        assert stat.S_IMODE((data / ".s.PGSQL.5432").stat().st_mode) == 0o700
        with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
            await ask(dsn.replace("foretell@", "postgres@"), "SELECT 1")


async def test_a_folder_too_deep_for_a_socket_and_with_a_comma_works(folder: Path) -> None:
    deep = folder / ("a," + "x" * 120)
    async with EmbeddedPostgres(deep, ephemeral=True) as dsn:
        assert await answers(dsn)


async def test_a_cluster_of_another_version_is_not_touched(folder: Path) -> None:
    async with EmbeddedPostgres(folder, ephemeral=True):
        pass
    mark = folder / "postgres/data/PG_VERSION"
    mark.write_text("15\n")
    with pytest.raises(Unavailable, match=r"made by PostgreSQL 15.*FORETELL_DATABASE_URL"):
        await EmbeddedPostgres(folder, ephemeral=True).start()


async def test_no_programs_for_this_platform_is_said_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(programs, "PACKAGE", "no_such_package")
    with pytest.raises(Unavailable, match="FORETELL_DATABASE_URL"):
        await EmbeddedPostgres(folder).start()


async def test_a_data_folder_that_is_a_file_is_said(folder: Path) -> None:
    (folder / "data").write_text("")
    with pytest.raises(Unavailable, match="File exists"):
        await EmbeddedPostgres(folder / "data").start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to run it as somebody else")
class TestAsRoot:
    async def test_the_server_is_nobody_s_and_adds_no_user(self, folder: Path) -> None:
        users = Path("/etc/passwd").read_text()
        async with EmbeddedPostgres(folder, ephemeral=True):
            status = Path(f"/proc/{server_pid(folder)}/status").read_text()
        assert "Uid:\t60743\t60743\t60743\t60743" in status
        assert Path("/etc/passwd").read_text() == users

    async def test_programs_in_a_closed_folder_are_copied(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        inside = closed / "site-packages"
        inside.symlink_to(programs.installed().parent.parent.parent)
        monkeypatch.setattr(programs, "_may_enter", lambda *_: False)
        async with EmbeddedPostgres(folder / "d", ephemeral=True) as dsn:
            assert await answers(dsn)
            program = os.readlink(f"/proc/{server_pid(folder / 'd')}/exe")
        assert Path(program).is_relative_to(folder / "d" / "postgres")

    async def test_a_folder_below_a_closed_one_is_refused_by_name(self, folder: Path) -> None:
        closed = folder / "closed"
        closed.mkdir(mode=0o700)
        with pytest.raises(Unavailable, match=f"may not enter {closed}"):
            await EmbeddedPostgres(closed / "deeper" / "data").start()

    async def test_a_full_disk_is_said(self, folder: Path) -> None:
        with mounted(folder, "size=8m"), pytest.raises(Unavailable, match="disk is full"):
            await EmbeddedPostgres(folder / "data").start()

    async def test_a_read_only_disk_is_said(self, folder: Path) -> None:
        with mounted(folder, "ro"), pytest.raises(Unavailable, match="disk is read-only"):
            await EmbeddedPostgres(folder / "data").start()
