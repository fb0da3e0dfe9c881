"""The promises of the Budget port, for any implementation."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

import pytest

from foretell.ports import Budget

FAST = 20.0
"""Calls a second: slow enough to be seen, quick enough to wait for."""
LATE = 2.0
"""What a busy machine may add to a wait, in seconds; too early is never its fault."""


class BudgetContract:
    """Inherit it and give a `budget`; time is the real one, measured from below."""

    @pytest.fixture
    def budget(self) -> Budget:
        raise NotImplementedError("override: a budget nobody has used")

    async def test_the_first_call_does_not_wait(self, budget: Budget) -> None:
        assert await _seconds(lambda: budget.take("a", per_second=0.1)) < LATE

    async def test_calls_are_no_more_often_than_the_rate(self, budget: Budget) -> None:
        turns = [budget.take("a", per_second=FAST) for _ in range(11)]
        assert await _seconds(lambda: asyncio.gather(*turns)) >= 10 / FAST * 0.95

    async def test_what_is_not_used_is_saved_up_to_the_burst(self, budget: Budget) -> None:
        turns = [budget.take("a", per_second=FAST, burst=6) for _ in range(11)]
        spent = await _seconds(lambda: asyncio.gather(*turns))
        assert 5 / FAST * 0.95 <= spent < 5 / FAST + LATE

    async def test_names_do_not_know_of_each_other(self, budget: Budget) -> None:
        await budget.take("a", per_second=0.01)
        assert await _seconds(lambda: budget.take("b", per_second=0.01)) < LATE

    async def test_nobody_has_a_turn_before_the_hold_ends(self, budget: Budget) -> None:
        await budget.hold("a", timedelta(seconds=0.4))
        await budget.hold("a", timedelta(seconds=0.1))
        first = await _seconds(lambda: budget.take("a", per_second=FAST, burst=5))
        assert first >= 0.35
        assert await _seconds(lambda: budget.take("a", per_second=FAST)) < LATE


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    began = monotonic()
    await work()
    return monotonic() - began
