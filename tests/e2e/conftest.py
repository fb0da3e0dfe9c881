"""A folder of its own for each test that breaks what runs there."""

from collections.abc import Iterator

import pytest
from program import Home, home


@pytest.fixture
def own_home() -> Iterator[Home]:
    with home() as made:
        yield made
