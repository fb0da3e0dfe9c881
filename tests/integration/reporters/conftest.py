"""One reporter a test."""

from collections.abc import AsyncIterator

import pytest
from reporter_world import Showing, showing


@pytest.fixture
async def shown(database: str) -> AsyncIterator[Showing]:
    async with showing(database) as made:
        yield made


@pytest.fixture
async def shown_by_token(database: str) -> AsyncIterator[Showing]:
    async with showing(database, token="ghp_1") as made:
        permissions = {"pull_requests": "write", "statuses": "write"}
        made.fake.add_token("ghp_1", "octocat", permissions)
        yield made
