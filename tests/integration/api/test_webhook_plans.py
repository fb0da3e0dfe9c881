"""What happens to a pull request becomes plans of its head."""

import pytest
from webhook_desk import Desk, make_desk

from foretell.store.postgres import PostgresStore


@pytest.fixture
async def desk(store: PostgresStore, database: str) -> Desk:
    return await make_desk(store, database)


def short(desk: Desk) -> str:
    return desk.pull.sha[:6]


async def test_an_opened_pull_request_is_planned_with_its_head_as_the_tag(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == [("front", short(desk), "computing")]
    (plan,) = await desk.plans()
    assert plan.request.tag == desk.pull.sha
    assert plan.request.github is not None
    found = plan.request.github
    assert (found.owner, found.repo, found.sha, found.pr_number) == (
        "acme",
        "shop",
        desk.pull.sha,
        7,
    )
    assert plan.request.metadata["git/sha"] == desk.pull.sha
    assert await desk.told("rival") == []
