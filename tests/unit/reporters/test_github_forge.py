"""What is asked of GitHub before a pull request is planned, against the fake."""

import pytest
from github_wire import APP, SHA, client, world

from foretell.ports.forge import Reaction
from foretell.reporters.github.forge import GithubForge
from foretell.testing.github import FakeGithub

SHOP = (APP.owner, APP.name)


async def test_a_pull_request_is_read_as_it_stands() -> None:
    fake = world()
    fake.add_repository("mallory/shop", fork_of="acme/shop")
    fork = fake.add_pull("acme/shop", 8, "b" * 40, fork="mallory/shop")
    fork.draft, fork.labels, fork.state = True, ("plan",), "closed"
    async with client(fake) as github:
        forge = GithubForge(github)
        own = await forge.pull_request(*SHOP, 7)
        theirs = await forge.pull_request(*SHOP, 8)
        assert await forge.pull_request(*SHOP, 9) is None
    assert own is not None
    assert (own.sha, own.is_open, own.is_fork, own.is_draft) == (SHA, True, False, False)
    assert theirs is not None
    assert (theirs.is_open, theirs.is_fork, theirs.is_draft) == (False, True, True)
    assert theirs.labels == ("plan",)


async def test_all_changed_files_are_told_or_none() -> None:
    fake = world()
    async with client(fake) as github:
        forge = GithubForge(github)
        for count, expected in ((0, 0), (250, 250), (2999, 2999)):
            paths = tuple(f"charts/{n}.yaml" for n in range(count))
            fake.pull(fake.repo("acme/shop"), 7).files = paths
            found = await forge.changed_files(*SHOP, 7)
            assert found == frozenset(paths)
            assert len(found) == expected
        fake.pull(fake.repo("acme/shop"), 7).files = tuple(map(str, range(3500)))
        assert await forge.changed_files(*SHOP, 7) is None


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("admin", True),
        ("maintain", True),
        ("write", True),
        ("triage", False),
        ("read", False),
        ("none", False),
        ("unknown", False),
    ],
)
async def test_who_may_push_may_ask_for_a_plan(role: str, may: bool) -> None:
    fake = world()
    fake.repo("acme/shop").permissions["kim"] = role
    async with client(fake) as github:
        assert await GithubForge(github).may_write(*SHOP, "kim") is may


async def test_a_reaction_is_there_once_and_a_deleted_comment_is_no_error() -> None:
    fake: FakeGithub = world()
    asked = fake.add_comment("acme/shop", 7, "kim", "foretell plan")
    async with client(fake) as github:
        forge = GithubForge(github)
        for _ in range(2):
            await forge.react(*SHOP, asked.id, Reaction.SEEN)
        await forge.react(*SHOP, 1, Reaction.CONFUSED)
    assert asked.reactions == [("foretell[bot]", "eyes")]
