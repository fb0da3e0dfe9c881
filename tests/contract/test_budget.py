"""The budget's promises, held by the one that workers share and by the one of a process."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from foretell.kit.budget import ProcessBudget
from foretell.ports import Budget
from foretell.store.budget import PostgresBudget
from foretell.store.postgres import open_store
from foretell.testing.contracts.budget import BudgetContract


class TestProcessBudget(BudgetContract):
    @pytest.fixture
    def budget(self) -> Budget:
        return ProcessBudget()


class TestPostgresBudget(BudgetContract):
    @pytest.fixture
    async def budget(self, database: str) -> AsyncIterator[Budget]:
        store = await open_store(database, size=4)
        yield store.budget
        await store.close()

    async def test_two_workers_share_one_rate(self, database: str) -> None:
        stores = [await open_store(database, size=2) for _ in range(2)]
        waits: list[float] = []

        async def note(seconds: float) -> None:
            waits.append(seconds)

        budgets = [PostgresBudget(store._pool, sleep=note) for store in stores]
        await asyncio.gather(*(one.take("a", per_second=0.1) for one in budgets for _ in range(5)))
        for store in stores:
            await store.close()
        # Ten calls at one in ten seconds: nobody waits for the first, 90 seconds for the last.
        assert len(waits) == 9
        assert [round(wait, -1) for wait in sorted(waits)] == [10.0 * n for n in range(1, 10)]
