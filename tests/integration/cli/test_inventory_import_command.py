"""`foretell inventory import argo-cd`, and what it says when it can't."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from foretell.cli.app import run
from foretell.inventory.load import load

TOKEN = "canary-4e1b-token"
REPOSITORY = "https://git.example.com/shop/platform"


def application(name: str, path: str, repository: str = REPOSITORY) -> dict[str, Any]:
    source = {"repoURL": repository, "path": path, "targetRevision": "main"}
    return {
        "metadata": {"name": name, "namespace": "argocd", "uid": "u-1"},
        "spec": {"project": "shop", "source": source, "destination": {"name": "eu"}},
        "status": {"sourceType": "Helm"},
    }


APPLICATIONS = [
    application("web-us", "charts/web"),
    application("web-eu", "charts/web"),
    application("config", "plain"),
    application("other", "plain", "https://git.example.com/shop/other"),
]


class _Answers(BaseHTTPRequestHandler):
    """The list of Applications, to who has the token."""

    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        body = json.dumps({"items": APPLICATIONS} if known else {"code": 16, "message": "no"})
        self.send_response(200 if known else 401)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("ARGOCD_AUTH_TOKEN", TOKEN)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as listening:
        thread = Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}"
        finally:
            listening.shutdown()
            thread.join()


def imported(server: str, *options: str, repo: str = "shop/platform") -> int:
    return run(["inventory", "import", "argo-cd", "--server", server, "--repo", repo, *options])


def test_what_is_written_is_an_inventory_without_the_token(server: str, tmp_path: Path) -> None:
    file = tmp_path / "inventory.yaml"
    assert imported(server, "--workspace", "shop", "-o", str(file)) == 0
    loaded = load([file])
    assert loaded.workspace == "shop"
    assert [one.slug for one in loaded.inventory.deployments] == ["charts-web", "plain"]
    assert sorted(one.identifier for one in loaded.inventory.resources) == [
        "argocd/config",
        "argocd/web-eu",
        "argocd/web-us",
    ]
    assert TOKEN not in file.read_text()


def test_without_a_file_it_is_shown(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert imported(server) == 0
    assert "serverUrl" in capsys.readouterr().out


def test_the_same_applications_are_the_same_text(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    imported(server)
    first = capsys.readouterr().out
    APPLICATIONS.reverse()
    imported(server)
    assert capsys.readouterr().out == first


def test_a_repository_without_applications_is_said(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(server, repo="shop/nothing") == 1
    told = capsys.readouterr().err
    assert "no Application with a source in shop/nothing (of 4" in told


def test_a_missing_token_is_named(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARGOCD_AUTH_TOKEN")
    assert imported(server) == 1
    assert "ARGOCD_AUTH_TOKEN is not set" in capsys.readouterr().err


def test_a_wrong_token_is_said_and_not_shown(
    server: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ARGOCD_AUTH_TOKEN", "wrong-9d2c-token")
    assert imported(server) == 1
    told = capsys.readouterr().err
    assert "401" in told or "token" in told
    assert "wrong-9d2c-token" not in told


def test_a_file_that_cannot_be_written_is_named(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert imported(server, "-o", str(tmp_path / "no" / "file")) == 1
    assert "can't be written" in capsys.readouterr().err
