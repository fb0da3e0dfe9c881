"""The gate of these tests: PostgreSQL and the embedded engine."""

from collections.abc import AsyncIterator

import pytest
from gate import Gate

from foretell.policy.regorus import Regorus
from foretell.store.postgres import open_store

pytest.importorskip("regorus", reason="the extra foretell[rego] is not installed")


@pytest.fixture
async def gate(database: str) -> AsyncIterator[Gate]:
    store = await open_store(database)
    async with Regorus(size=1) as engine:
        yield Gate(store, database, engine)
    await store.close()
