"""The program as those who use it have it: child processes, a folder of data, and HTTP."""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import httpx

from foretell.store.embedded.account import DATABASE, ROLE

PATIENCE = 90
ATTEMPTS = 20
UNAVAILABLE = 503
FORETELL = Path(sys.executable).with_name("foretell")
_TOKEN = re.compile(r"^\s+(ft_\S+)$")
_ADDRESS = re.compile(r"^Foretell listens on (\S+)$")


@dataclass
class Server:
    """One `foretell serve` process."""

    process: subprocess.Popen[str]
    log: Path
    address: str = ""
    token: str = ""
    output: str = ""

    def client(self, token: str | None = None) -> httpx.Client:
        shown = self.token if token is None else token
        headers = {"Authorization": f"Bearer {shown}"} if shown else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=PATIENCE)

    def terminate(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@dataclass
class Home:
    """A folder of data, and the servers that a test started on it."""

    data: Path
    env: dict[str, str] = field(default_factory=dict)
    servers: list[Server] = field(default_factory=list)
    token: str = ""

    def serve(self, *arguments: str, **settings: str) -> Server:
        """A server that listens; raises AssertionError with its log when it ended instead."""
        log = self.data / f"serve-{len(self.servers)}.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [FORETELL, "serve", "--port", "0", *arguments],
                env=self._environment(settings),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        server = Server(process, log)
        self.servers.append(server)
        assert process.stdout is not None
        self._read_start(server, process.stdout)
        return server

    def _read_start(self, server: Server, output: IO[str]) -> None:
        for line in output:
            server.output += line
            if found := _TOKEN.match(line):
                self.token = found[1]
            if found := _ADDRESS.match(line):
                server.address, server.token = found[1], self.token
                return
        raise AssertionError(f"serve ended: {server.output}\n{server.log.read_text()}")

    def run(self, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
        """One command to its end."""
        return subprocess.run(
            [FORETELL, *arguments],
            env=self._environment(settings),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def _environment(self, settings: dict[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        own = {"FORETELL_DATA_DIR": str(self.data), "FORETELL_LOG_FORMAT": "json"}
        return {**kept, **own, **self.env, **settings}

    def postmaster(self) -> int:
        """The process id of the database's server."""
        return int((self.data / "postgres/data/postmaster.pid").read_text().split("\n")[0])

    def dsn(self) -> str:
        return f"postgresql://{ROLE}@/{DATABASE}?host={self.data / 'postgres/data'}"

    def close(self) -> None:
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()
            if server.process.stdout is not None:
                server.process.stdout.close()


@contextmanager
def home() -> Iterator[Home]:
    """A new, empty folder of data; every server on it ends with the block."""
    # Not below pytest's own folder: that is closed to the account which the database runs as.
    with tempfile.TemporaryDirectory(prefix="foretell-e2e-", ignore_cleanup_errors=True) as folder:
        made = Home(Path(folder))
        try:
            yield made
        finally:
            with suppress(OSError, ValueError):
                postmaster = made.postmaster()
                made.close()
                wait_for_end(postmaster)
            made.close()


def wait_for_end(pid: int) -> None:
    """Wait until the process is gone; AssertionError when it stays."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended, _, _ = select.select([handle], [], [], PATIENCE)
    finally:
        os.close(handle)
    assert ended, f"process {pid} is left behind"


def inventory(delay: float = 0, places: int = 4, **config: Any) -> dict[str, Any]:
    """One deployment of a test runner in two environments."""
    return {
        "workspace": "shop",
        "jobAgents": [
            {"name": "runner", "type": "test-runner", "config": {"delay": delay, **config}}
        ],
        "environments": [
            {"name": "stage", "resourceSelector": 'resource.metadata.stage == "stage"'},
            {"name": "prod", "resourceSelector": 'resource.metadata.stage == "prod"'},
        ],
        "resources": [
            {
                "identifier": f"place-{number}",
                "kind": "Cluster",
                "metadata": {"stage": "prod" if number % 2 else "stage"},
            }
            for number in range(places)
        ],
        "deployments": [{"name": "Web", "slug": "web", "jobAgentSelector": "true"}],
    }


PLAN = "/v1/workspaces/shop/deployments/web/plan"


def fill(server: Server, content: dict[str, Any]) -> None:
    """Make the inventory of the workspace it names."""
    slug = content["workspace"]
    with server.client() as client:
        client.put(f"/v1/workspaces/{slug}", json={"name": slug}).raise_for_status()
        answer = client.put(f"/v1/workspaces/{slug}/inventory", json=content)
    assert answer.is_success, answer.text


def ask(server: Server, tag: str = "v2", *, wait: int = 0, **fields: Any) -> dict[str, Any]:
    """A plan, as far as it comes in `wait` seconds; 503 is asked again, as it says."""
    with server.client() as client:
        for _ in range(ATTEMPTS):
            answer = client.post(
                PLAN, json={"tag": tag, **fields}, headers={"Prefer": f"wait={wait}"}
            )
            if answer.status_code != UNAVAILABLE:
                break
    assert answer.is_success, answer.text
    return dict(answer.json())


def followed(server: Server, plan_id: str) -> dict[str, Any]:
    """The plan once it has ended, by its events; asked again for as long as the server says so."""
    with server.client() as client:
        while True:
            with client.stream("GET", f"{PLAN}/{plan_id}/events") as events:
                has_ended = any(line == "event: summary" for line in events.iter_lines())
            answer = client.get(f"{PLAN}/{plan_id}")
            if answer.status_code != UNAVAILABLE and (has_ended or not answer.is_success):
                break
    assert answer.is_success, answer.text
    return dict(answer.json())


def first_target(server: Server, plan_id: str) -> None:
    """Wait until one target has settled."""
    with server.client() as client, client.stream("GET", f"{PLAN}/{plan_id}/events") as events:
        assert any(line == "event: target" for line in events.iter_lines())


def texts(plan: dict[str, Any]) -> list[str]:
    """Each target's status, in the plan's order."""
    return [str(target["status"]) for target in plan["targets"]]
