"""How calls go over the wire: again where that helps, renders in turn and at a shared pace."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from foretell.agents.argocd.gate import Gate
from foretell.agents.argocd.refusal import is_overload
from foretell.domain.errors import Unavailable
from foretell.kit.http import Answer, Http, Patience

ATTEMPTS = 8
"""How often a call is sent to a server that is away or has too much to do, with pauses between."""
PATIENCE = Patience(read_for=timedelta(seconds=90), attempts=1)
"""Argo CD gives its renderer 60 s. Attempts are counted here, where the gate sees each of them."""


class Pace(Protocol):
    """The rate at which renders are asked for, shared with whoever else asks this server."""

    async def take(self) -> None:
        """Waits for the next turn."""

    async def hold(self, wait_for: timedelta) -> None:
        """The server asked for a pause: nobody has a turn before it is over."""


class Freely(Pace):
    """The pace of those who share a server with nobody."""

    async def take(self) -> None:
        """At once."""

    async def hold(self, wait_for: timedelta) -> None:
        """Whoever was refused waits by itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """`target` is a path with its query. `renders`: the server's renderer works for it, so that
    it waits for its turn."""

    method: str
    target: str
    body: Any = field(repr=False)
    renders: bool


class Wire:
    """To one server, with one token. Whatever is sent may be sent twice: creating is an upsert,
    deleting twice is once."""

    def __init__(
        self,
        http: Http,
        gate: Gate,
        *,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = http
        self._gate = gate
        self._pace = pace or Freely()
        self._sleep = sleep

    async def close(self) -> None:
        """Close every connection."""
        await self._http.close()

    def masked(self, text: str) -> str:
        """`text` without the token, and without whatever looks like a secret."""
        return self._http.masked(text)

    async def answer(self, call: Call) -> Answer:
        """What came of the last attempt; raises Unavailable where that was nothing."""
        for attempt in range(ATTEMPTS - 1):
            answer: Answer | None = None
            with suppress(Unavailable):
                answer = await self._attempt(call)
            if answer is not None and not is_overload(answer):
                return answer
            await self._rest(attempt, answer)
        return await self._attempt(call)

    async def _attempt(self, call: Call) -> Answer:
        if not call.renders:
            return await self._send(call)
        await self._pace.take()
        async with self._gate.turn() as turn:
            answer = await self._send(call)
            turn.refused = is_overload(answer)
            return answer

    async def _send(self, call: Call) -> Answer:
        return await self._http.request(call.method, call.target, body=call.body, idempotent=True)

    async def _rest(self, attempt: int, answer: Answer | None) -> None:
        asked = answer.headers.get("retry-after") if answer else None
        pause = PATIENCE.pause(attempt, asked)
        if asked is not None:
            await self._pace.hold(timedelta(seconds=pause))
        await self._sleep(pause)
