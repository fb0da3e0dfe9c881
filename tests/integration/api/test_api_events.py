"""A plan as it comes: each settled target once, then the summary, across broken connections."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from installation import NOW, PATIENCE, PLAN, REST, Site, served

from foretell.api.schemas.documents import EndDocument, ResultTextsDocument, TargetDocument
from foretell.cli.client import Client, Deployed, Event, open_client, parse_events
from foretell.cli.remote import Server, show_remotely
from foretell.domain.errors import InvalidRequest, NotFound
from foretell.domain.plan import PlanId, PlanStatus
from foretell.domain.summary import exit_code
from foretell.kit.http import Http, Options, Patience

WEB = Deployed("shop", "web")


async def stream(site: Site, plan_id: str, last: str = "") -> tuple[int, list[Event]]:
    async def lines(text: str) -> AsyncIterator[str]:
        for line in text.split("\n"):
            yield line

    headers = {"Last-Event-ID": last} if last else {}
    async with site.client("viewer") as client, asyncio.timeout(PATIENCE):
        answer = await client.get(f"{PLAN}/{plan_id}/events", headers=headers)
    return answer.status_code, [event async for event in parse_events(lines(answer.text))]


async def test_each_target_comes_once_and_then_the_summary(site: Site) -> None:
    made = await site.submit()
    status, events = await stream(site, made["id"])
    assert status == 200
    assert [event.name for event in events] == ["target"] * 3 + ["summary"]
    assert [event.data for event in events[:3]] == made["targets"]
    assert events[-1].data["summary"] == made["summary"]
    assert events[-1].data["status"] == "completed"
    for event in events[:3]:
        assert TargetDocument.model_validate(event.data).model_dump(
            mode="json", by_alias=True
        ) == dict(event.data)
    assert EndDocument.model_validate(events[-1].data)


@pytest.mark.parametrize("seen", [1, 2, 3])
async def test_after_any_event_the_rest_comes_once(site: Site, seen: int) -> None:
    made = await site.submit()
    _, events = await stream(site, made["id"])
    _, rest = await stream(site, made["id"], events[seen - 1].id)
    assert [event.data for event in rest] == [event.data for event in events[seen:]]


async def test_who_has_seen_the_end_is_told_not_to_come_back(site: Site) -> None:
    made = await site.submit()
    assert await stream(site, made["id"], "end") == (204, [])


async def test_an_id_that_is_none_of_ours_begins_at_the_beginning(site: Site) -> None:
    made = await site.submit()
    for odd in ("zzz", "-1", "f" * 200_000):
        _, events = await stream(site, made["id"], odd)
        assert len(events) == 4


async def test_a_failed_plan_ends_its_stream_with_the_reason(quiet_site: Site) -> None:
    made = await quiet_site.submit(**NOW)
    async with quiet_site.client() as client:
        await client.delete(f"{PLAN}/{made['id']}")
    _, events = await stream(quiet_site, made["id"])
    assert [(event.name, event.data["reason"]) for event in events] == [("summary", "cancelled")]


async def test_the_client_follows_a_plan_to_its_report(site: Site) -> None:
    site.agent.open.clear()
    async with (
        asyncio.timeout(PATIENCE),
        served(site.app) as address,
        open_client(address, site.tokens["planner"]) as client,
    ):
        made = await client.submit(WEB, {"tag": "v2"}, key="a")
        again = await client.submit(WEB, {"tag": "v2"}, key="a")
        assert made.id == again.id
        assert made.status is PlanStatus.COMPUTING
        await site.agent.asked.wait()
        site.agent.open.set()
        names = []
        async for event in client.events(WEB, made.id):
            names.append(event.name)
            assert event.data.get("diff") is None
        report = await client.get(WEB, made.id)
        listed = [plan["id"] async for plan in client.list_plans(WEB)]
    assert names == ["target"] * 3 + ["summary"]
    assert exit_code(report.status, report.summary, detailed=True) == 2
    assert [row.has_changes for row in report.targets] == [True, False, True]
    assert listed == [made.id]


async def test_more_or_less_context_than_is_stored_is_made_from_the_texts(site: Site) -> None:
    made = await site.submit()
    async with asyncio.timeout(PATIENCE), served(site.app) as address:
        server = Server(address, site.tokens["viewer"])
        stored = await show_remotely(server, WEB, made["id"])
        bare = await show_remotely(server, WEB, made["id"], 0)
    assert f" {REST}" in (stored.targets[0].diff or "")
    assert "@@ -1 +1 @@\n-image: v1\n+image: v2\n" in (bare.targets[0].diff or "")
    assert REST not in (bare.targets[0].diff or "")
    assert bare.summary == stored.summary


class Breaking:
    """Between the client and the server: every connection breaks after so many events."""

    def __init__(self, app: Any, events: int) -> None:
        self.app = app
        self.events = events
        self.connections = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not scope.get("path", "").endswith("/events"):
            await self.app(scope, receive, send)
            return
        self.connections += 1
        left = self.events

        async def send_some(message: Any) -> None:
            nonlocal left
            if b"event: " in message.get("body", b""):
                if not left:
                    raise ConnectionAbortedError("the line is cut")
                left -= 1
            await send(message)

        await self.app(scope, receive, send_some)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_connection_that_breaks_loses_and_repeats_nothing(site: Site) -> None:
    made = await site.submit()
    breaking = Breaking(site.app, events=1)
    patience = Patience(first_pause=Patience().first_pause / 250)
    token = site.tokens["viewer"]
    options = Options(headers={"Authorization": f"Bearer {token}"}, patience=patience)
    async with (
        asyncio.timeout(PATIENCE),
        served(breaking) as address,
        Http(address, options) as http,
    ):
        events = [event async for event in Client(http).events(WEB, PlanId(made["id"]))]
    assert breaking.connections == 4
    assert [event.name for event in events] == ["target"] * 3 + ["summary"]
    assert len({event.data["id"] for event in events[:3]}) == 3


async def test_the_client_tells_the_servers_errors_as_they_were(site: Site) -> None:
    async with (
        served(site.app) as address,
        open_client(address, site.tokens["planner"]) as client,
    ):
        with pytest.raises(NotFound, match="there is no deployment 'nope'"):
            await client.submit(Deployed("shop", "nope"), {"tag": "v2"}, key="a")
        with pytest.raises(InvalidRequest) as caught:
            await client.submit(WEB, {"tag": "v2", "colour": "red"}, key="a")
        with pytest.raises(NotFound):
            async for _ in client.events(WEB, PlanId("00000000-0000-4000-8000-000000000000")):
                pass
    assert [problem.field for problem in caught.value.problems] == ["colour"]


async def test_a_result_shows_both_its_texts(site: Site) -> None:
    made = await site.submit()
    target = next(one for one in made["targets"] if one["resourceName"] == "Europe")
    result = target["agents"][0]["results"][0]["id"]
    async with site.client("viewer") as client:
        answer = await client.get(f"{PLAN}/{made['id']}/results/{result}")
        other = await client.get(f"{PLAN}/{made['id']}/results/{made['id']}")
        odd = await client.get(f"{PLAN}/{made['id']}/results/x")
    document = answer.json()
    assert (document["current"], document["proposed"]) == (
        f"image: v1\n{REST}",
        f"image: v2\n{REST}",
    )
    assert document["resources"][0]["before"] == f"image: v1\n{REST}"
    assert json.loads(ResultTextsDocument.model_validate(document).model_dump_json(by_alias=True))
    assert (other.status_code, odd.status_code) == (404, 404)
