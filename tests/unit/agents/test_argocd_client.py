"""The client: what it sends, how it reads refusals, and that it gives an overloaded server room."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from foretell.agents.argocd.client import ArgoCD, connect
from foretell.agents.argocd.gate import Gate
from foretell.agents.argocd.wire import Wire
from foretell.domain.errors import Forbidden, InvalidRequest, NotFound, Unavailable
from foretell.kit.http import Http, Options, Patience

TOKEN = "canary-token-71c4"


class Server:
    """Answers with what it was given, the last of it again and again, and keeps the requests."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self._answers = list(answers)
        self.seen: list[httpx.Request] = []
        self.pauses: list[float] = []

    def client(self) -> ArgoCD:
        options = Options(
            secrets=frozenset({TOKEN}),
            patience=Patience(attempts=1),
            transport=httpx.MockTransport(self._reply),
        )
        http = Http("https://argo.example.test/base", options)
        return ArgoCD(Wire(http, Gate(4), sleep=self._sleep))

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        status, body = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        headers = {"Retry-After": "7"} if status == 429 else {}
        return httpx.Response(status, json=body, headers=headers)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def test_revisions_are_asked_for_by_position_and_a_source_may_keep_its_own() -> None:
    server = Server((200, {"manifests": None}))
    async with server.client() as argocd:
        found = await argocd.manifests("web", project="shop", revision=("", "abc"))
    assert found.manifests == ()
    assert str(server.seen[0].url) == (
        "https://argo.example.test/base/api/v1/applications/web/manifests"
        "?project=shop&revisions=abc&sourcePositions=2"
    )


async def test_a_repository_address_stays_one_part_of_the_path() -> None:
    server = Server((200, {"type": "Helm"}))
    source = {"repoURL": "https://git.example.test/a/b.git", "path": "x"}
    async with server.client() as argocd:
        assert await argocd.source_type(source, name="web-plan-1", project="shop") == "Helm"
    raw = server.seen[0].url.raw_path.decode()
    assert raw == (
        "/base/api/v1/repositories/https%3A%2F%2Fgit.example.test%2Fa%2Fb.git/appdetails"
    )
    assert json.loads(server.seen[0].content)["appProject"] == "shop"


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, Forbidden), (403, Forbidden), (404, NotFound), (400, InvalidRequest)],
)
async def test_a_refusal_is_told_once_and_without_the_token(
    status: int, error: type[Exception]
) -> None:
    server = Server((status, {"code": 7, "message": f"permission denied for {TOKEN}"}))
    async with server.client() as argocd:
        with pytest.raises(error) as caught:
            await argocd.application("web", project="shop")
    assert TOKEN not in str(caught.value)
    assert "permission denied" in str(caught.value)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "busy",
    [
        (429, {"code": 8, "message": "too many"}),
        (503, {"code": 14, "message": "away"}),
        (500, {"code": 2, "message": "error generating manifests: rpc error: code = Unavailable"}),
    ],
)
async def test_an_overloaded_server_is_asked_again(busy: tuple[int, Any]) -> None:
    server = Server(busy, busy, (200, {"manifests": ["{}"], "revision": "abc"}))
    async with server.client() as argocd:
        found = await argocd.manifests("web")
    assert (found.revision, len(server.seen)) == ("abc", 3)
    assert (server.pauses == [7.0, 7.0]) == (busy[0] == 429)


async def test_a_server_that_stays_away_is_unavailable() -> None:
    server = Server((503, {"message": "no healthy upstream"}))
    async with server.client() as argocd:
        with pytest.raises(Unavailable, match="no healthy upstream"):
            await argocd.version()


async def test_an_answer_that_is_no_document_names_the_field_and_quotes_nothing() -> None:
    server = Server((200, {"metadata": {"name": ["canary"]}}))
    async with server.client() as argocd:
        with pytest.raises(InvalidRequest, match=r"metadata\.name") as caught:
            await argocd.application("web")
    assert "canary" not in str(caught.value)


async def test_deleting_what_is_gone_is_no_error() -> None:
    server = Server((404, {"message": "not found"}))
    async with server.client() as argocd:
        assert await argocd.delete("web-plan-1", project="shop") is False
    assert server.seen[0].url.params["cascade"] == "false"


async def _through(gate: Gate, calls: int, accepts: Callable[[int], bool]) -> tuple[int, int]:
    """The peak of calls over all, and over the second half, all repeated until accepted."""
    running, peaks = 0, []

    async def call() -> None:
        nonlocal running
        while True:
            async with gate.turn() as turn:
                running += 1
                peaks.append(running)
                turn.refused = not accepts(running)
                await asyncio.sleep(0)
                running -= 1
            if not turn.refused:
                return

    await asyncio.gather(*(call() for _ in range(calls)))
    return max(peaks), max(peaks[len(peaks) // 2 :])


async def test_the_gate_adapts_to_what_the_server_takes() -> None:
    first, later = await _through(Gate(40), 600, lambda running: running <= 8)
    assert first == 40
    assert later <= 8


async def test_the_gate_opens_again_after_a_refusal() -> None:
    gate = Gate(8)
    async with gate.turn() as turn:
        turn.refused = True
    assert gate.limit == 4
    await _through(gate, 100, lambda _: True)
    assert gate.limit == 7


async def test_a_cancelled_wait_takes_no_turn() -> None:
    gate = Gate(1)
    async with gate.turn():
        waiting = asyncio.ensure_future(gate.turn().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with asyncio.timeout(1), gate.turn():
        pass


async def test_a_client_needs_an_address() -> None:
    with pytest.raises(InvalidRequest, match="expected an address"):
        connect("argo.example.test", TOKEN)
