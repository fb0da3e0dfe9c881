"""The embedded PostgreSQL as its users see it: start, a DSN, stop."""

import asyncio
import os
import re
import tempfile
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

import psycopg
import structlog

from foretell.domain.errors import Unavailable
from foretell.store.embedded import programs
from foretell.store.embedded.account import DATABASE, ROLE, server_account
from foretell.store.embedded.advice import advice
from foretell.store.embedded.cluster import POLL_SECONDS, START_SECONDS, Cluster
from foretell.store.embedded.programs import ELSEWHERE
from foretell.store.embedded.turns import Use, turn

# `sun_path` of unix(7) with its final zero, less on macOS (104).
SOCKET_PATH_BYTES = 103
SOCKET_NAME = ".s.PGSQL.5432"
GUARD_SECONDS = 0.5
PASSING = re.compile(r"starting up|shutting down|recovery|terminating connection")

_log = structlog.get_logger()


class EmbeddedPostgres:
    """A private server below `data_dir`, shared by all processes that name the same folder.

    The first one in starts it, the last one out stops it; for as long as an `async with` lasts, one
    that was killed is started again. It listens on a Unix socket only, and only the user who owns
    the folder gets in. `ephemeral` gives up durability for speed: for data
    that nobody would miss. Raises Unavailable, with what to do, when it cannot run here.
    """

    def __init__(self, data_dir: Path, *, ephemeral: bool = False) -> None:
        self._data_dir = data_dir
        self._ephemeral = ephemeral
        self._home = data_dir.absolute() / "postgres"
        self._use: Use | None = None
        self._cluster: Cluster | None = None
        self._short: tempfile.TemporaryDirectory[str] | None = None
        self._guard: asyncio.Task[None] | None = None

    async def __aenter__(self) -> str:
        dsn = await self.start()
        self._guard = asyncio.create_task(self._restart_when_gone())
        return dsn

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._guard is not None:
            self._guard.cancel()
            await asyncio.wait({self._guard})
        await self.stop()

    async def start(self) -> str:
        """Make, start or join the server; the DSN of its database. Twice is once."""
        if self._use is None:
            try:
                await self._join()
            except OSError as error:
                raise Unavailable(
                    f"The embedded database in {self._home} could not start: {error}\n"
                    f"{advice(str(error))}"
                ) from error
        return self._dsn()

    async def stop(self) -> None:
        """Leave; the last one out stops the server and waits for it. Twice is once."""
        use, cluster = self._use, self._cluster
        if use is None or cluster is None:
            return
        try:
            async with turn(self._home):
                if use.is_last():
                    await cluster.halt()
                use.leave()
        finally:
            self._use = None
            if self._short:
                self._short.cleanup()
                self._short = None

    async def _join(self) -> None:
        binaries = programs.installed()
        _prepare(self._data_dir, self._home)
        account = server_account()
        async with turn(self._home):
            readable = programs.readable(binaries, self._home, account)
            cluster = Cluster(self._home, readable, self._ephemeral, account)
            use = await Use.take(self._home)
            try:
                if not cluster.data.exists():
                    await cluster.make()
                _check_version(cluster)
                await self._until_it_answers(cluster)
            except BaseException:
                use.leave()
                raise
            self._use, self._cluster = use, cluster

    async def _restart_when_gone(self) -> None:
        """Killed it was by the kernel, for want of memory, or by hand: plans go on afterwards."""
        while self._cluster is not None:
            await asyncio.sleep(GUARD_SECONDS)
            if self._cluster.server_pid() is not None:
                continue
            _log.warning("database.gone", folder=str(self._home))
            try:
                async with turn(self._home):
                    await self._until_it_answers(self._cluster)
            except (Unavailable, OSError) as error:
                _log.warning("database.not_restarted", error=str(error))
            else:
                _log.info("database.restarted", folder=str(self._home))

    async def _until_it_answers(self, cluster: Cluster) -> None:
        """A server that was killed a moment ago still looks alive: only a session is proof."""
        async with asyncio.timeout(START_SECONDS):
            while True:
                await cluster.ensure_running()
                try:
                    session = await psycopg.AsyncConnection.connect(self._dsn())
                except psycopg.OperationalError as error:
                    if "FATAL" in str(error) and not PASSING.search(str(error)):
                        raise Unavailable(
                            f"The embedded database in {self._home} lets nobody in: {error}"
                        ) from error
                    await asyncio.sleep(POLL_SECONDS)
                else:
                    await session.close()
                    return

    def _dsn(self) -> str:
        folder = quote(str(self._socket_folder()), safe="")
        return f"postgresql://{ROLE}@/{DATABASE}?host={folder}"

    def _socket_folder(self) -> Path:
        """Where a client finds the socket: the data, or a link to it that is short enough.

        A socket's address holds about a hundred bytes, and a comma would part two hosts.
        """
        data = self._home / "data"
        if len(os.fsencode(data / SOCKET_NAME)) <= SOCKET_PATH_BYTES and "," not in str(data):
            return data
        if self._short is None:
            self._short = tempfile.TemporaryDirectory(
                prefix="foretell-", ignore_cleanup_errors=True
            )
            (Path(self._short.name) / "s").symlink_to(data)
        return Path(self._short.name) / "s"


def _prepare(data_dir: Path, home: Path) -> None:
    """Make the folders, closed to others; the server's account may pass through, no more."""
    account = server_account()
    for folder in (data_dir, home):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_private = folder.stat().st_mode & 0o077 == 0 and folder.stat().st_uid == os.geteuid()
        if account and is_private:
            os.chown(folder, -1, account.gid)
            folder.chmod(0o710)
    closed = account and programs.closed_folder(home, account)
    if closed:
        raise Unavailable(
            f"The embedded database does not run as root, and its own user may not enter {closed}, "
            f"which is on the way to {home}. Choose a data folder that others may pass through, "
            f"such as /var/lib/foretell; or {ELSEWHERE}."
        )


def _check_version(cluster: Cluster) -> None:
    """Refuse a cluster of another major version: it would have to be moved, not opened."""
    made_by = (cluster.data / "PG_VERSION").read_text().strip()
    ours = programs.major_version()
    if made_by != ours:
        raise Unavailable(
            f"The embedded database in {cluster.home} was made by PostgreSQL {made_by}, and this "
            f"installation brings {ours}. Dump it with the old version and load it into an empty "
            f"folder; or {ELSEWHERE}."
        )
