"""Fixtures: an installation with and without a worker."""

from collections.abc import AsyncIterator

import pytest
from installation import Site, make_site, working

from foretell.store.postgres import PostgresStore, open_store


@pytest.fixture
async def store(database: str) -> AsyncIterator[PostgresStore]:
    found = await open_store(database)
    yield found
    await found.close()


@pytest.fixture
async def quiet_site(store: PostgresStore, database: str) -> Site:
    """An installation whose worker is not running."""
    return await make_site(store, database)


@pytest.fixture
async def site(quiet_site: Site) -> AsyncIterator[Site]:
    """An installation with a worker."""
    async with working(quiet_site):
        yield quiet_site
