"""Servers that the tests start in the background, each in a session of its own, and stop again."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

PATIENCE_SECONDS = 60.0
"""Long beyond any start that was seen: a machine under load must not turn into a failure."""


def free_ports(count: int) -> list[int]:
    """Distinct ports of loopback that nobody listens on; all are held until all are chosen."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Children:
    """The running programs of one folder; `stop` leaves none of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, argv: list[str], env: Mapping[str, str]) -> None:
        # Without setpriv a killed test run leaves its servers behind: nothing worse.
        setpriv = shutil.which("setpriv")
        tied = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        with self._log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                [*tied, *argv],
                cwd=self._folder,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def until(self, name: str, ready: Callable[[], bool]) -> None:
        """Returns once `ready()`; fails with the log of the child that is waited for."""
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while not ready():
            code = self._running[name].poll()
            if code is not None:
                raise AssertionError(f"{name} ended with {code}:\n{self.last_words(name)}")
            if time.monotonic() > ends_at:
                raise AssertionError(f"{name} is not ready:\n{self.last_words(name)}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Last started, first stopped, so that nobody complains about who is gone."""
        for name in reversed(list(self._running)):
            child = self._running.pop(name)
            child.terminate()
            try:
                child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def pids(self) -> list[int]:
        return [child.pid for child in self._running.values()]

    def last_words(self, name: str) -> str:
        return self._log(name).read_text(errors="replace")[-4_000:]

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
