"""Event ids, and reading a stream of events."""

from collections.abc import AsyncIterator

import pytest

from foretell.api.events import sent_targets
from foretell.cli.client import Event, parse_events


@pytest.mark.parametrize("odd", [None, "", "x", "-1", "+1", "0x1", " 1", "1_0", "F", "f" * 100_001])
def test_what_is_no_event_id_is_nothing_sent(odd: str | None) -> None:
    assert sent_targets(odd) == 0


@pytest.mark.parametrize("sent", [0, 1, 5, 2**1000 - 1])
def test_an_event_id_is_the_set_of_what_was_sent(sent: int) -> None:
    assert sent_targets(f"{sent:x}") == sent


async def read(text: str) -> list[Event]:
    async def lines() -> AsyncIterator[str]:
        for line in text.split("\n"):
            yield line

    return [event async for event in parse_events(lines())]


async def test_events_are_read_as_the_standard_says() -> None:
    text = 'retry: 1\n\n: beat\n\nevent: a\nid: 7\ndata: {"x":\ndata:1}\n\ndata: {"y": 2}\n\n'
    assert await read(text) == [Event("a", "7", {"x": 1}), Event("message", "", {"y": 2})]


async def test_half_an_event_is_none() -> None:
    assert await read('event: a\ndata: {"x": 1}') == []
