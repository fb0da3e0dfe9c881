"""How many renders one server makes at once: fewer when it refuses, more again when it copes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class Turn:
    """One call's turn. `refused` is for the caller to set: the server had too much to do."""

    round: int
    refused: bool = False


class Gate:
    """At most `most` calls at once. A refusal halves that, once for all calls that were under way.

    After that one more is let in for each full round that went well, up to one less than what was
    refused last: a server that takes eight is not asked for nine again and again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = most
        self._running = 0
        self._served = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many may run at once for now."""
        return self._limit

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Waits, first come first served, until there is room."""
        await self._enter()
        turn = Turn(self._round)
        try:
            yield turn
        finally:
            self._running -= 1
            self._learn(turn)
            self._wake()

    async def _enter(self) -> None:
        if self._running < self._limit and not self._waiting:
            self._running += 1
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter  # who wakes us counts us in
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._running -= 1
                self._wake()
            raise

    def _wake(self) -> None:
        while self._waiting and self._running < self._limit:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._running += 1
                waiter.set_result(None)

    def _learn(self, turn: Turn) -> None:
        if turn.refused:
            if turn.round == self._round:
                self._round += 1
                self._served = 0
                self._most = max(1, self._limit - 1)
                self._limit = max(1, self._limit // 2)
            return
        self._served += 1
        if self._served >= self._limit and self._limit < self._most:
            self._served = 0
            self._limit += 1
