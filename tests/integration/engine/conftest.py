"""One world a test."""

from collections.abc import AsyncIterator

import pytest
from engine_world import World, open_world


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with open_world(database) as made:
        yield made
