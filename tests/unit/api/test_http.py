"""The door to HTTP: what is repeated, what is not, and that no secret comes out of an error."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from foretell.domain.errors import InvalidRequest, Unavailable
from foretell.kit.http import Answer, Http, Options, Patience, checked_address

CANARY = "c4n4ry-s3cr3t"
Reply = Callable[[httpx.Request], httpx.Response]


class Server:
    """Answers each request with the next reply, the last one for ever."""

    def __init__(self, *replies: httpx.Response | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    def http(self, **more: object) -> Http:
        async def pause(seconds: float) -> None:
            self.pauses.append(seconds)

        options = Options(
            headers={"Authorization": f"Bearer {CANARY}"},
            secrets=frozenset({CANARY}),
            transport=httpx.MockTransport(self._reply),
            **more,  # type: ignore[arg-type]
        )
        return Http("https://host.test/below", options, sleep=pause)


OK = httpx.Response(200, json={"a": 1})
AWAY = httpx.Response(503, headers={"Retry-After": "7"})


async def test_the_path_is_below_the_address() -> None:
    server = Server(OK)
    async with server.http() as http:
        answer = await http.request("GET", "/v1/x", params={"q": "1"})
    assert str(server.requests[0].url) == "https://host.test/below/v1/x?q=1"
    assert answer.json() == {"a": 1}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_what_may_be_repeated_is_until_it_is_answered(method: str) -> None:
    server = Server(httpx.ReadError("broken"), AWAY, OK)
    async with server.http() as http:
        assert (await http.request(method, "x")).status == 200
    assert len(server.requests) == 3
    assert server.pauses[1] == 7


async def test_what_may_not_be_repeated_is_sent_once() -> None:
    server = Server(AWAY, OK)
    async with server.http() as http:
        assert (await http.request("POST", "x")).status == 503
    broken = Server(httpx.ReadError("broken"), OK)
    async with broken.http() as http:
        with pytest.raises(Unavailable):
            await http.request("POST", "x")
    assert (len(server.requests), len(broken.requests)) == (1, 1)


async def test_what_was_never_sent_may_be_sent_again() -> None:
    server = Server(httpx.ConnectError("refused"), OK)
    async with server.http() as http:
        assert (await http.request("POST", "x", body={"a": 1})).status == 200
    assert [request.content for request in server.requests] == [b'{"a":1}'] * 2


async def test_a_server_that_stays_away_is_unavailable_or_says_so_itself() -> None:
    gone, away = Server(httpx.ConnectError("refused")), Server(AWAY)
    async with gone.http() as http:
        with pytest.raises(
            Unavailable, match=r"GET https://host\.test/below/x: no answer: refused"
        ):
            await http.request("GET", "x")
    async with away.http() as http:
        assert (await http.request("GET", "x")).status == 503
    assert len(gone.requests) == len(away.requests) == Patience().attempts


async def test_other_statuses_are_answers() -> None:
    for status in (301, 400, 404, 429, 500):
        server = Server(httpx.Response(status, headers={"Location": "https://other.test/"}))
        async with server.http() as http:
            assert (await http.request("GET", "x")).status == status
        assert len(server.requests) == 1


async def test_no_secret_comes_out_of_an_error_or_a_repr() -> None:
    said = f"cannot reach https://user:{CANARY}@host.test/?token={CANARY}: {CANARY}"
    server = Server(httpx.ConnectError(said))
    async with server.http() as http:
        with pytest.raises(Unavailable) as caught:
            await http.request("GET", f"x?token={CANARY}")
        assert CANARY not in repr(http) + repr(Options(secrets=frozenset({CANARY})))
    assert CANARY not in str(caught.value)


async def test_an_answer_that_never_ends_is_cut_off() -> None:
    server = Server(httpx.Response(200, content=b"x" * 1000))
    async with server.http(max_bytes=999) as http:
        with pytest.raises(InvalidRequest, match="over 999 bytes"):
            await http.request("GET", "x")


def test_pauses_grow_to_a_bound_and_follow_what_was_asked_within_it() -> None:
    patience = Patience(first_pause=timedelta(seconds=1), longest_pause=timedelta(seconds=8))
    for attempt, most in enumerate((1, 2, 4, 8, 8)):
        assert most / 2 <= patience.pause(attempt) <= most
    assert patience.pause(10_000) <= 8
    assert (patience.pause(0, "3"), patience.pause(0, "3000")) == (3, 8)
    assert patience.pause(0, "Wed, 21 Oct 2015 07:28:00 GMT") <= 1


@pytest.mark.parametrize(
    "address", ["", "host", "ftp://host", "https://", "https://[x", f"https://h/?token={CANARY}"]
)
def test_what_is_no_address_is_refused_without_its_secrets(address: str) -> None:
    with pytest.raises(InvalidRequest, match="expected an address") as caught:
        checked_address(address)
    assert CANARY not in str(caught.value)


def test_a_body_that_is_no_json_is_quoted_from_its_end() -> None:
    with pytest.raises(InvalidRequest, match="status 200"):
        Answer(200, {}, b"<html>").json()
