"""GitHub's webhook events, as far as they matter here.

Source: GitHub's documentation "Webhook events and payloads"; the names of events, actions and
fields are its own. What is kept of an event is what decides; nobody's text is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from foretell.formats.pull_request import field
from foretell.formats.pull_request.command import read_command
from foretell.formats.pull_request.head import PullRequest, read_pull_request

_MOVES = frozenset(
    {
        "opened",
        "synchronize",
        "reopened",
        "ready_for_review",
        "converted_to_draft",
        "labeled",
        "unlabeled",
        "closed",
    }
)


@dataclass(frozen=True, slots=True)
class Moved:
    """A pull request is now as it says. `before`: the head until then, "" where that stayed.

    `label`: the one that was added by `sender`, "" where none was.
    """

    pull_request: PullRequest
    before: str = ""
    label: str = ""
    sender: str = ""


@dataclass(frozen=True, slots=True)
class PlanAsked:
    """A comment asks to plan again. Whether its author may is not known yet."""

    host: str
    owner: str
    repo: str
    number: int
    comment_id: int
    author: str
    asked_at: datetime
    deployments: tuple[str, ...] = ()
    is_understood: bool = True


@dataclass(frozen=True, slots=True)
class CheckAsked:
    """A check of a commit is to run again; GitHub lets only those ask who may write.

    `external_id` is what the check was made with, "" where all checks of the commit are meant.
    """

    host: str
    owner: str
    repo: str
    sha: str
    external_id: str = ""


Event: TypeAlias = Moved | PlanAsked | CheckAsked


def subject(event: Event) -> str:
    """What an event is about: the events of one subject are seen in order, one at a time."""
    match event:
        case Moved(pull_request=pull):
            return pull_subject(pull.host, pull.owner, pull.repo, pull.number)
        case PlanAsked():
            return pull_subject(event.host, event.owner, event.repo, event.number)
        case CheckAsked():
            return f"{_path(event.host, event.owner, event.repo)}@{event.sha}"


def pull_subject(host: str, owner: str, repo: str, number: int) -> str:
    """The subject of the events of a pull request."""
    return f"{_path(host, owner, repo)}#{number}"


def _path(host: str, owner: str, repo: str) -> str:
    return f"{host}/{owner}/{repo}".lower()


def read_event(name: str, payload: Mapping[str, Any]) -> Event | None:
    """The event of `X-GitHub-Event: name`; None for one that asks for nothing here.

    Raises InvalidRequest that names the field which is not as the schema says.
    """
    action = payload.get("action")
    match name, action:
        case "pull_request", str() if action in _MOVES:
            return _moved(payload, action)
        case "issue_comment", "created":
            return _plan_asked(payload)
        case "check_run", "rerequested":
            return _check_run_asked(payload)
        case "check_suite", "rerequested":
            return _check_asked(payload, "check_suite.head_sha", "")
        case _:
            return None


def _moved(payload: Mapping[str, Any], action: str) -> Moved:
    found = payload.get("pull_request")
    pull_request = read_pull_request(found if isinstance(found, Mapping) else {})
    return Moved(
        pull_request,
        before=field.sha(payload, "before") if action == "synchronize" else "",
        label=field.text(payload, "label.name") if action == "labeled" else "",
        sender=field.text(payload, "sender.login"),
    )


def _plan_asked(payload: Mapping[str, Any]) -> PlanAsked | None:
    if field.at(payload, "issue.pull_request") is None:
        return None
    command = read_command(field.text(payload, "comment.body"))
    # A program that quotes the command, ours among them, must not answer itself for ever.
    if command is None or field.text(payload, "comment.user.type") == "Bot":
        return None
    host, owner, repo = _repository(payload)
    return PlanAsked(
        host=host,
        owner=owner,
        repo=repo,
        number=field.number(payload, "issue.number"),
        comment_id=field.number(payload, "comment.id"),
        author=field.text(payload, "comment.user.login"),
        asked_at=field.time(payload, "comment.created_at"),
        deployments=command.deployments,
        is_understood=command.is_understood,
    )


def _check_run_asked(payload: Mapping[str, Any]) -> CheckAsked | None:
    """Ours has an external id; without one it is somebody else's."""
    own = field.at(payload, "check_run.external_id")
    if not own or not isinstance(own, str):
        return None
    return _check_asked(payload, "check_run.head_sha", own)


def _check_asked(payload: Mapping[str, Any], sha: str, external_id: str) -> CheckAsked:
    host, owner, repo = _repository(payload)
    return CheckAsked(host, owner, repo, field.sha(payload, sha), external_id)


def _repository(payload: Mapping[str, Any]) -> tuple[str, str, str]:
    host = field.host(payload, "repository.html_url")
    owner = field.word(payload, "repository.owner.login")
    return host, owner, field.word(payload, "repository.name")
