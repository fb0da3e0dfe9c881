"""Finders of the real programs, and a server PostgreSQL that the tests start for themselves."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from argo_server import ArgoCd, start_argo_cd
from programs.build import Missing, find, version_of

_USED = "real program"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker("real")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was used, so that a green run says against what it was green."""
    used = {
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == _USED
    }
    terminalreporter.section("real programs used")
    for line in sorted(used) or ["none"]:
        terminalreporter.write_line(line)


def _find(name: str, note: pytest.Item | None) -> Path:
    try:
        path = find(name)
    except Missing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))
    if note is not None:
        note.user_properties.append((_USED, f"{name}: {version_of(name)}, {path}"))
    return path


@pytest.fixture
def real_program(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Gives the path of a program of the table in `programs/build.py` by its name.

    Where it is missing the test is skipped with the reason, or fails when CI=true. What is asked
    for by its literal name in a file of this folder is what `make real-programs` makes.
    """
    return lambda name: _find(name, request.node)


def _unprivileged() -> str | None:
    """Whom to start the server as: PostgreSQL refuses to run as root."""
    return "nobody" if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class _Server:
    """A cluster of its own in a folder of its own, on a free port, with a password."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self._bin = bin_folder
        self._data = folder / "data"
        self._log = folder / "log"
        self._password_file = folder / "password"
        self._folder = folder
        self._user = _unprivileged()
        self._password = secrets.token_urlsafe(16)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        # To a file and not a pipe: the server would inherit the pipe and hold it open.
        with self._log.open("ab") as log:
            ended = subprocess.run(
                command,
                cwd=self._folder,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                group=pwd.getpwnam(self._user).pw_gid if self._user else None,
                extra_groups=[] if self._user else None,
                timeout=120,
            )
        if ended.returncode != 0:
            pytest.fail(f"{program} ended with {ended.returncode}:\n{self._log.read_text()}")

    def start(self) -> str:
        self._password_file.write_text(self._password)
        self._password_file.chmod(0o600)
        self._log.touch()
        if self._user:
            for path in (self._folder, self._password_file, self._log):
                shutil.chown(path, self._user)
        how = ["--auth=scram-sha-256", f"--pwfile={self._password_file}", "--encoding=UTF8"]
        self._run("initdb", "--username=foretell", "--no-sync", *how, str(self._data))
        port = _free_port()
        options = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        )
        log = ["--log", str(self._log)]
        self._run("pg_ctl", "start", "--wait", "-D", str(self._data), *log, "-o", options)
        return f"postgresql://foretell:{self._password}@127.0.0.1:{port}/postgres"

    def stop(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "stop", "--wait", "--mode=fast", "-D", str(self._data))


@pytest.fixture(scope="session")
def server_postgres() -> Iterator[str]:
    """The DSN of a server PostgreSQL over TCP, started for this session; make databases in it."""
    bin_folder = _find("postgres", None).parent
    with tempfile.TemporaryDirectory(prefix="foretell-postgres-") as folder:
        server = _Server(bin_folder, Path(folder))
        try:
            yield server.start()
        finally:
            server.stop()


MINIMAL = Path(__file__).parents[2] / "docs" / "agents" / "argo-cd-rbac.csv"
ACCOUNTS = {
    "foretell": MINIMAL.read_text(encoding="utf-8"),
    # As the document says for temporary Applications in a project of their own.
    "planner": MINIMAL.read_text(encoding="utf-8")
    .replace("foretell", "planner")
    .replace("*/*-plan-????????", "plans/*"),
    "reader": "p, reader, applications, get, default/*, allow\n",
    "elsewhere": "p, elsewhere, applications, *, other/*, allow\n",
    "stranger": "",
}
"""Accounts of the real Argo CD, with their lines of its policy."""


@pytest.fixture(scope="session")
def argo_cd() -> Iterator[ArgoCd]:
    """A real Argo CD, started for this session, with a token for each of `ACCOUNTS`."""
    with (
        tempfile.TemporaryDirectory(prefix="foretell-argo-cd-") as folder,
        start_argo_cd(lambda name: _find(name, None), Path(folder), ACCOUNTS) as started,
    ):
        yield started
