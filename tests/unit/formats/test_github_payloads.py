"""GitHub's events as it sends them: its published examples (octokit/webhooks, MIT licence)."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.formats.pull_request.event import (
    CheckAsked,
    Event,
    Moved,
    PlanAsked,
    read_event,
    subject,
)
from foretell.formats.pull_request.head import PullRequest

HEAD = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
PAYLOADS = Path(__file__).parent / "github_payloads"
SUBJECT = "github.com/codertocat/hello-world#2"


def payload(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PAYLOADS / f"{name}.json").read_bytes())
    return found


def event(name: str) -> Event | None:
    return read_event(name.partition(".")[0], payload(name))


def moved(name: str) -> Moved:
    found = event(f"pull_request.{name}")
    assert isinstance(found, Moved)
    assert subject(found) == SUBJECT
    return found


def test_an_opened_pull_request_is_read_in_full() -> None:
    assert moved("opened").pull_request == PullRequest(
        host="github.com",
        owner="Codertocat",
        repo="Hello-World",
        number=2,
        sha=HEAD,
        branch="changes",
        base="master",
        updated_at=datetime(2019, 5, 15, 15, 20, 33, tzinfo=UTC),
        labels=("bug",),
    )


def test_a_push_names_the_head_before_it() -> None:
    assert moved("synchronize").before == "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
    assert moved("opened").before == ""


def test_a_label_names_itself_and_who_set_it() -> None:
    found = moved("labeled")
    assert (found.label, found.sender) == ("bug", "Codertocat")


def test_a_closed_pull_request_is_no_longer_open() -> None:
    assert not moved("closed").pull_request.is_open


def test_a_check_run_with_our_id_asks_and_one_without_is_somebody_elses() -> None:
    assert event("check_run.rerequested") is None
    given = payload("check_run.rerequested")
    given["check_run"]["external_id"] = "an-id"
    found = read_event("check_run", given)
    sha = given["check_run"]["head_sha"]
    assert found == CheckAsked("github.com", "github", "hello-world", sha, "an-id")


def test_a_check_suite_asks_for_all_of_its_commit() -> None:
    found = event("check_suite.rerequested")
    assert found == CheckAsked("github.com", "Codertocat", "Hello-World", HEAD)
    assert subject(found) == f"github.com/codertocat/hello-world@{HEAD}"


def test_a_comment_asks_only_on_a_pull_request_and_in_our_words() -> None:
    given = payload("issue_comment.created")
    given["comment"]["body"] = "foretell plan -d web"
    assert read_event("issue_comment", given) is None
    given["issue"]["pull_request"] = {"url": "https://api.github.com/x"}
    found = read_event("issue_comment", given)
    assert isinstance(found, PlanAsked)
    assert (found.author, found.deployments) == ("Codertocat", ("web",))
    given["comment"]["body"] = "thanks"
    assert read_event("issue_comment", given) is None


def test_a_head_whose_repository_is_gone_is_a_fork() -> None:
    given = payload("pull_request.opened")
    for repo, is_fork in (({"id": 1}, True), (None, True), (given["repository"], False)):
        given["pull_request"]["head"]["repo"] = repo
        found = read_event("pull_request", given)
        assert isinstance(found, Moved)
        assert found.pull_request.is_fork is is_fork


@pytest.mark.parametrize("wrong", [None, 7, "", "yesterday", "2019-05-15T15:20:33", "9" * 5000])
def test_a_time_that_is_none_is_named(wrong: Any) -> None:
    given = payload("pull_request.opened")
    given["pull_request"]["updated_at"] = wrong
    with pytest.raises(InvalidRequest, match="updated_at"):
        read_event("pull_request", given)
