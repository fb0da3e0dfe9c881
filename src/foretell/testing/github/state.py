"""What the fake knows: repositories, pull requests, comments, checks, and who may what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Permissions = Mapping[str, str]
"""`{"checks": "write", "metadata": "read"}`."""


@dataclass(slots=True)
class Repo:
    """`owner/name`; `permissions` are those of its collaborators, by login."""

    id: int
    owner: str
    name: str
    created_at: datetime
    permissions: dict[str, str] = field(default_factory=dict)
    fork_of: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(slots=True)
class Pull:
    """A pull request. `files` are paths, `head_repo` another one where it comes from a fork."""

    id: int
    repo: Repo
    number: int
    sha: str
    head_repo: Repo
    author: str
    created_at: datetime
    state: str = "open"
    draft: bool = False
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    base_ref: str = "main"
    base_sha: str = "0" * 40
    head_ref: str = "feature"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who calls: a person, an App (`app` set, by its id), or an App's bot on an installation."""

    login: str
    permissions: Permissions
    account: str
    app: int | None = None
    is_app_itself: bool = False
    repositories: frozenset[str] | None = None
    """Full names in lower case that the token is for; None: all."""


@dataclass(slots=True)
class Comment:
    """`number` is its pull request's."""

    id: int
    repo: Repo
    number: int
    author: str
    app: int | None
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: list[tuple[str, str]] = field(default_factory=list)
    writes: int = 1


@dataclass(slots=True)
class Check:
    """A check run; `writes` counts the calls that wrote it."""

    id: int
    repo: Repo
    app: int
    head_sha: str
    name: str
    started_at: datetime | None
    external_id: str = ""
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    details_url: str = ""
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: Sequence[Mapping[str, Any]] = ()
    writes: int = 1


@dataclass(frozen=True, slots=True)
class StatusRow:
    """A commit status: the newest of a context is the one that counts."""

    id: int
    repo: Repo
    sha: str
    context: str
    state: str
    description: str
    target_url: str
    creator: str
    created_at: datetime


@dataclass(slots=True)
class App:
    """An App, its public keys in PEM form, and what its installations may."""

    id: int
    slug: str
    owner: str
    keys: list[str]
    permissions: Permissions
    created_at: datetime
    installations: dict[str, int] = field(default_factory=dict)
    """By owner, in lower case."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that came, the status that went back, and what it took to be allowed."""

    method: str
    path: str
    status: int
    query: str = ""
    body: Any = field(default=None, repr=False)
    answer: Any = field(default=None, repr=False)
    needed: tuple[tuple[str, str], ...] = ()
    account: str = ""


class Refused(Exception):
    """The answer is no: a status and what the body says."""

    def __init__(self, status: int, message: str, errors: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = tuple(errors)
        self.headers: dict[str, str] = {}
