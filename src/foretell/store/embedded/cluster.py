"""One cluster in one folder: made, started, asked whether it runs, stopped.

Whoever calls `make`, `ensure_running` or `halt` holds the turn (`turns.py`), so none of them
races with another process of ours. Sources: PostgreSQL 18, "Database File Layout", and
`src/include/utils/pidfile.h` for the lines of `postmaster.pid`.
"""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from foretell.domain.errors import Unavailable
from foretell.kit.daemon import Account, Daemon, spawn
from foretell.store.embedded import account, keeper
from foretell.store.embedded.advice import advice
from foretell.store.embedded.keeper import is_server
from foretell.store.embedded.turns import lock_of_users

Answer = TypeVar("Answer")

POLL_SECONDS = 0.01
# Replaying the log after a crash takes longest; a killed server's last query may hold its memory
# for as long as that query runs.
START_SECONDS = 300.0
STOP_SECONDS = 60.0
STILL_IN_USE = "pre-existing shared memory block"
LOG_LIMIT_BYTES = 10_000_000

QUIET = ("listen_addresses=", "log_checkpoints=off")
SOCKET = ("unix_socket_directories=.", "unix_socket_permissions=0700")
# A throw-away cluster (tests, demo) need not survive a power cut; a user's does, so the default
# is PostgreSQL's own.
EPHEMERAL = ("fsync=off", "full_page_writes=off")


@dataclass(frozen=True, slots=True)
class Cluster:
    """`home` is ours; the cluster is `home/data`, what the server says is in `home/server.log`."""

    home: Path
    programs: Path
    ephemeral: bool
    account: Account | None

    @property
    def data(self) -> Path:
        return self.home / "data"

    async def make(self) -> None:
        """Make the cluster, whole or not at all: what an interruption left is thrown away."""
        unfinished = self.home / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        maker = account.initdb_account()
        _hand_over(unfinished, maker)
        argv: list[str | Path] = [
            *(self.programs / "initdb", "-D", unfinished, "-U", account.ROLE, "-A", "reject"),
            *("-E", "UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
            *(["--no-sync"] if self.ephemeral else []),
        ]
        child = self._spawn(argv, self.home / "initdb.log", maker)
        if await until(child.exit_code, START_SECONDS) != 0:
            raise self._failed("make its files", child.last_words())
        _hand_over(unfinished, self.account)
        unfinished.rename(self.data)

    async def ensure_running(self) -> None:
        """Start the server unless it runs, and wait until it accepts connections."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not self._is_ready():
                    if self.server_pid() is None:
                        await self._launch()
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            words = f"it was not ready after {START_SECONDS:g} seconds"
            raise self._failed("start", words) from error

    async def halt(self) -> None:
        """Have the server end its sessions and write its checkpoint; wait until it is gone."""
        pid = self.server_pid()
        if pid is None:
            return
        try:
            os.kill(pid, signal.SIGINT)
            await until(lambda: self.server_pid() != pid or None, STOP_SECONDS)
        except ProcessLookupError:
            return
        except TimeoutError as error:
            words = f"it still ran after {STOP_SECONDS:g} seconds"
            raise self._failed("stop", words) from error

    def server_pid(self) -> int | None:
        """The pid of the running server, or None; a pid file left behind names no server."""
        lines = self._pid_file()
        pid = int(lines[0]) if lines and lines[0].isdecimal() else 0
        return pid if pid and is_server(pid, self.data) else None

    async def _launch(self) -> None:
        """Start the server once; it may still be busy on return, or have lost to a dying one."""
        self._write_rules()
        self._disown_stale_pid_file()
        options = [
            word
            for setting in (
                *QUIET,
                *SOCKET,
                *(EPHEMERAL if self.ephemeral else ()),
                f"hba_file={self.home / 'pg_hba.conf'}",
                f"ident_file={self.home / 'pg_ident.conf'}",
            )
            for word in ("-c", setting)
        ]
        argv = [self.programs / "postgres", "-D", self.data, *options]
        child = self._spawn(argv, self._log(), self.account)
        await until(
            lambda: self._is_ready() or child.exit_code() is not None or None, START_SECONDS
        )
        if self._is_ready():
            self._appoint_keeper(child.pid)
        elif STILL_IN_USE not in (words := child.last_words()):
            raise self._failed("start", words or f"it ended with code {child.exit_code()}")

    def _appoint_keeper(self, pid: int) -> None:
        """Have somebody stop the server when all its users were killed.

        Where this Python cannot be started as a program, the next start finds the server and
        joins it: nothing worse, so that is no reason to fail.
        """
        lock = lock_of_users(self.home)
        try:
            with suppress(OSError):
                spawn(
                    [sys.executable, "-I", "-S", Path(keeper.__file__), str(pid), self.data],
                    cwd=Path("/"),
                    log=self.home / "keeper.log",
                    env={},
                    stdin=lock,
                )
        finally:
            os.close(lock)

    def _log(self) -> Path:
        log = self.home / "server.log"
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.replace(self.home / "server.log.old")
        return log

    def _spawn(self, argv: list[str | Path], log: Path, user: Account | None) -> Daemon:
        try:
            return spawn(argv, cwd=self.home, log=log, env={"LC_ALL": "C"}, account=user)
        except OSError as error:
            raise self._failed("start", str(error)) from error

    def _pid_file(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text().split("\n")
        except FileNotFoundError:
            return []

    def _is_ready(self) -> bool:
        lines = self._pid_file()
        return len(lines) > 7 and lines[7].strip() == "ready" and self.server_pid() is not None

    def _disown_stale_pid_file(self) -> None:
        """Let PostgreSQL see that the pid in a left-behind file is not a server's.

        It takes any living process of that number for a server, but never its own parent. Only
        the number is changed: by the other lines it finds out whether sessions of the killed
        server still hold its memory, so the file must not go.
        """
        lines = self._pid_file()
        if lines:
            text = "\n".join([str(os.getpid()), *lines[1:]])
            _write(self.data / "postmaster.pid", text, os.O_TRUNC)

    def _write_rules(self) -> None:
        """Beside the data: root makes no file in a folder that the server's user owns."""
        for name, text in (("pg_hba.conf", account.hba()), ("pg_ident.conf", account.ident())):
            _write(self.home / name, text, os.O_TRUNC | os.O_CREAT)
            _hand_over(self.home / name, self.account)

    def _failed(self, what: str, words: str) -> Unavailable:
        return Unavailable(
            f"The embedded database in {self.home} could not {what}: "
            f"{words.strip() or 'it said nothing'}\n{advice(words)}"
        )


async def until(ask: Callable[[], Answer | None], seconds: float) -> Answer:
    """Ask until the answer is not None; TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        while (answer := ask()) is None:
            await asyncio.sleep(POLL_SECONDS)
        return answer


def _write(path: Path, text: str, flags: int) -> None:
    """Write through no link: the folder may belong to another user."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | flags, 0o600), "w") as file:
        file.write(text)


def _hand_over(path: Path, to: Account | None) -> None:
    if to is None:
        return
    os.chown(path, to.uid, to.gid)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(Path(folder) / name, to.uid, to.gid, follow_symlinks=False)
