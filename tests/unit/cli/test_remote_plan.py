"""What `foretell plan` asks a server for, and where the plan is to be shown."""

import pytest

from foretell.cli.remote import RemotePlan, github_ref
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import GithubRef


def test_a_plan_of_a_pull_request_says_where_it_is_shown() -> None:
    wanted = RemotePlan("acme", "api", "v2", github=github_ref("shop/platform", "3f9c1d2", 12))
    github = {"owner": "shop", "repo": "platform", "sha": "3f9c1d2", "prNumber": 12}
    assert wanted.body() == {"tag": "v2", "github": github}


def test_a_commit_needs_no_pull_request_and_a_plan_neither() -> None:
    assert github_ref("shop/platform", "3f9c1d2", None) == GithubRef("shop", "platform", "3f9c1d2")
    assert github_ref("", "", None) is None
    assert RemotePlan("acme", "api", "v2").body() == {"tag": "v2"}


@pytest.mark.parametrize(
    ("repo", "sha", "pr", "words"),
    [
        ("", "3f9c1d2", None, "need a --repo"),
        ("", "", 12, "need a --repo"),
        ("shop/platform", "", 12, "--sha"),
        ("platform", "3f9c1d2", None, "expected OWNER/NAME, found 'platform'"),
        ("https://github.com/shop/platform", "3f9c1d2", None, "expected OWNER/NAME"),
    ],
)
def test_half_of_it_is_named(repo: str, sha: str, pr: int | None, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        github_ref(repo, sha, pr)
