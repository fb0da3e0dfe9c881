"""A repository in all its spellings, and the one thing that a comment can ask for."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.formats.pull_request.command import Command, read_command
from foretell.formats.pull_request.repository import read_repository, refers, repository

SHOP = repository("github.com", "Acme", "Shop")


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/shop",
        "https://github.com/acme/shop/",
        "https://github.com/acme/shop.git",
        "http://www.github.com/acme/shop",
        "HTTPS://GitHub.com/ACME/SHOP.git",
        "https://x-access-token:ghs_abc@github.com/acme/shop.git",
        "https://github.com:443/acme/shop",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@ssh.github.com:443/acme/shop.git",
        "git@github.com:acme/shop.git",
        "git@github.com:/acme/shop.git",
        "github.com:acme/shop",
        "git://github.com/acme/shop",
        "git+https://github.com/acme/shop.git@main",
        "git+ssh://git@github.com/acme/shop",
        "git::https://github.com/acme/shop.git//modules/network?ref=v1",
        "git::ssh://git@github.com/acme/shop.git//modules?ref=v1",
        "github.com/acme/shop//modules/network",
        "https://github.com/acme/shop/tree/main/charts",
        "https://github.com/acme/shop?ref=main",
        "https://github.com/acme/shop#main",
        "  https://github.com/acme/shop  ",
    ],
)
def test_every_spelling_is_the_same_repository(address: str) -> None:
    assert read_repository(address) == SHOP


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/shop-front",
        "https://github.com/acme/shop.git.evil",
        "https://github.com/acme/shops",
        "https://github.com/acme/myshop",
        "https://github.com.evil.example/acme/shop",
        "https://evil.example/github.com/acme/shop",
        "https://evil.example/?u=https://github.com/acme/shop",
        "https://github.com@evil.example/acme/shop",
        "https://gitlab.com/acme/shop",
        "oci://ghcr.io/acme/shop",
        "https://acme.github.io/shop",
        "https://github.com/{{ owner }}/shop",
        "https://github.com/acme",
        "acme/shop",
        "./charts/shop",
        "/srv/github.com/acme/shop",
        "",
    ],
)
def test_another_repository_is_none_of_them(address: str) -> None:
    assert read_repository(address) != SHOP


WORD = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=20)


@given(WORD, WORD, st.sampled_from(["https://{h}/{o}/{n}", "git@{h}:{o}/{n}.git", "{h}/{o}/{n}"]))
def test_a_spelling_gives_back_what_it_was_made_of(owner: str, name: str, form: str) -> None:
    address = form.format(h="git.example.com", o=owner, n=name)
    assert read_repository(address) == repository("git.example.com", owner, name)


@pytest.mark.parametrize(
    "config",
    [
        {"owner": "acme", "repo": "shop"},
        {"github": {"owner": "ACME", "repo": "Shop"}},
        {"repoURL": "https://github.com/acme/shop"},
        {"template": {"spec": {"source": {"repoURL": "git@github.com:acme/shop"}}}},
        {
            "template": {
                "spec": {"sources": [{"repoURL": "x"}, {"repoURL": "github.com/acme/shop"}]}
            }
        },
        {"template": "source:\n  repoURL: https://github.com/acme/shop.git\n  path: a\n"},
        {"template": "spec:\n  sources:\n    - repoURL: 'https://github.com/acme/shop'\n"},
        {"template": '{"spec": {"source": {"repoURL": "https://github.com/acme/shop"}}}'},
        {"template": "{spec: {source: {repoURL: https://github.com/acme/shop, path: x}}}"},
        {"repository": {"url": "ssh://git@github.com/acme/shop.git", "path": "infra"}},
        {"repository": "https://github.com/acme/shop"},
        {"chart": "git::https://github.com/acme/shop.git//charts/web"},
    ],
)
def test_a_config_refers_to_the_repository(config: dict[str, object]) -> None:
    assert refers(config, SHOP)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"owner": "acme", "repo": "other"},
        {"a": {"owner": "acme"}, "b": {"repo": "shop"}},
        {"owner": {"env": "OWNER"}, "repo": "shop"},
        {"values": {"homepage": "https://github.com/acme/shop"}},
        {"template": "# see https://github.com/acme/shop\nspec: {}\n"},
        {"template": "repoURL: https://github.com/acme/{{ resource.name }}\n"},
        {"repoURL": None, "url": 7, "chart": True},
    ],
)
def test_a_config_that_only_mentions_it_does_not(config: dict[str, object]) -> None:
    assert not refers(config, SHOP)


def test_depth_is_no_danger() -> None:
    config: dict[str, object] = {"repoURL": "https://github.com/acme/shop"}
    for _ in range(100_000):
        config = {"a": [config]}
    assert refers(config, SHOP)


@pytest.mark.parametrize(
    ("comment", "deployments"),
    [
        ("foretell plan", ()),
        ("Foretell  plan \r\nthanks", ()),
        ("\n\nforetell plan", ()),
        ("foretell plan -d web", ("web",)),
        ("foretell plan -d web -d api -d web", ("web", "api")),
        ("foretell plan --deployment web", ("web",)),
        ("foretell plan --deployment=web", ("web",)),
    ],
)
def test_a_comment_that_starts_with_the_command_asks(
    comment: str, deployments: tuple[str, ...]
) -> None:
    assert read_command(comment) == Command(deployments)


@pytest.mark.parametrize(
    "comment",
    [
        "foretell plan web",
        "foretell plan -d",
        "foretell plan -d --force",
        "foretell plan -d 'web'",
        "foretell plan -d web && x",
        "foretell plan please",
    ],
)
def test_what_is_meant_for_us_and_not_understood_is_told_apart(comment: str) -> None:
    assert read_command(comment) == Command(is_understood=False)


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "please foretell plan",
        "> foretell plan",
        "    foretell plan",
        "```\nforetell plan\n```",
        "`foretell plan`",
        "looks good\nforetell plan",
        "foretell planning is great",
        "foretell plan; rm -rf /",
        "foretell apply",
        "foretell",
        "### Foretell Deployment Plan",
    ],
)
def test_what_is_quoted_or_told_in_passing_is_no_order(comment: str) -> None:
    assert read_command(comment) is None


@given(st.text(max_size=300))
def test_any_comment_is_read_in_time_and_without_a_crash(text: str) -> None:
    read_command(text)
    read_command("foretell plan " + text)
    read_repository(text)


def test_a_hostile_comment_is_read_at_once() -> None:
    assert read_command("foretell plan" + " -d x" * 50_000 + " !") is not None
    assert read_command("foretell plan" + " " * 65_000 + "-") is not None
    read_repository("https://" + "a." * 50_000 + "/" + "b" * 50_000)
    read_repository("x@" * 50_000)
