"""A pull request as it stood at one moment: where its head is, and what may be said of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from foretell.formats.pull_request import field


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What decides whether, and what, to plan.

    `updated_at` is GitHub's, in whole seconds: two states may share one. `is_fork`: the head is
    in another repository than the base, or in one that is gone.
    """

    host: str
    owner: str
    repo: str
    number: int
    sha: str
    branch: str
    base: str
    updated_at: datetime
    is_open: bool = True
    is_draft: bool = False
    is_fork: bool = False
    labels: tuple[str, ...] = ()


def read_pull_request(value: Mapping[str, Any]) -> PullRequest:
    """The "pull-request" object of GitHub's REST API and of its events.

    Raises InvalidRequest that names the field which is not as the schema says.
    """
    base_id, head_id = field.number(value, "base.repo.id"), field.at(value, "head.repo.id")
    return PullRequest(
        host=field.host(value, "base.repo.html_url"),
        owner=field.word(value, "base.repo.owner.login"),
        repo=field.word(value, "base.repo.name"),
        number=field.number(value, "number"),
        sha=field.sha(value, "head.sha"),
        branch=field.text(value, "head.ref"),
        base=field.text(value, "base.ref"),
        updated_at=field.time(value, "updated_at"),
        is_open=field.text(value, "state") == "open",
        is_draft=field.flag(value, "draft"),
        is_fork=head_id != base_id,
        labels=_labels(value.get("labels")),
    )


def _labels(found: Any) -> tuple[str, ...]:
    labels = found if isinstance(found, list) else []
    return tuple(sorted(field.text(label, "name") for label in labels))
