"""GitHub's side of the webhook: a pull request that people push to, and its signed deliveries."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx

from foretell.formats.pull_request.head import PullRequest, read_pull_request
from foretell.ports import Reaction

SECRET = b"the webhook's own secret"
WEBHOOK = "/v1/github/webhook"
_numbers = count(1)


def sha_of(number: int) -> str:
    return hashlib.sha1(str(number).encode()).hexdigest()


@dataclass
class Pull:
    """A pull request; each change of it is a second later, unless told otherwise."""

    owner: str = "acme"
    repo: str = "shop"
    number: int = 7
    sha: str = field(default_factory=lambda: sha_of(0))
    state: str = "open"
    draft: bool = False
    labels: tuple[str, ...] = ()
    head_repo: int | None = 1
    base: str = "main"
    host: str = "github.com"
    at: datetime = field(default_factory=lambda: datetime.now(UTC).replace(microsecond=0))  # noqa: TID251 - GitHub's clock is its own

    def later(self, seconds: float = 1, **changes: Any) -> None:
        self.at += timedelta(seconds=seconds)
        for name, value in changes.items():
            setattr(self, name, value)

    def repository(self) -> dict[str, Any]:
        return {
            "id": 1,
            "name": self.repo,
            "full_name": f"{self.owner}/{self.repo}",
            "owner": {"login": self.owner, "type": "Organization"},
            "html_url": f"https://{self.host}/{self.owner}/{self.repo}",
        }

    def document(self) -> dict[str, Any]:
        head = None if self.head_repo is None else {"id": self.head_repo}
        return {
            "number": self.number,
            "state": self.state,
            "draft": self.draft,
            "title": "Closes #1 @everyone",
            "labels": [{"id": 1, "name": name} for name in self.labels],
            "updated_at": self.at.isoformat().replace("+00:00", "Z"),
            "head": {"ref": "topic", "sha": self.sha, "repo": head},
            "base": {"ref": self.base, "sha": sha_of(10_000), "repo": self.repository()},
        }

    def event(self, action: str, **more: Any) -> dict[str, Any]:
        return {
            "action": action,
            "number": self.number,
            "pull_request": self.document(),
            "repository": self.repository(),
            "sender": {"login": "dora", "type": "User"},
            **more,
        }

    def push(self, number: int, seconds: float = 1) -> dict[str, Any]:
        before, sha = self.sha, sha_of(number)
        self.later(seconds, sha=sha)
        return self.event("synchronize", before=before, after=sha)

    def comment(self, body: str, author: str = "dora", kind: str = "User") -> dict[str, Any]:
        number = next(_numbers)
        return {
            "action": "created",
            "issue": {"number": self.number, "pull_request": {"url": "https://x"}},
            "comment": {
                "id": number,
                "body": body,
                "user": {"login": author, "type": kind},
                "created_at": self.at.isoformat().replace("+00:00", "Z"),
            },
            "repository": self.repository(),
            "sender": {"login": author, "type": kind},
        }

    def check(self, external_id: str = "", sha: str = "") -> dict[str, Any]:
        return {
            "action": "rerequested",
            "check_run": {
                "id": next(_numbers),
                "head_sha": sha or self.sha,
                "external_id": external_id,
            },
            "repository": self.repository(),
            "sender": {"login": "dora", "type": "User"},
        }


@dataclass
class FakeForge:
    """Answers from the pull request as it stands; `writers` may push."""

    pull: Pull
    writers: frozenset[str] = frozenset({"dora"})
    files: frozenset[str] | None = frozenset({"README.md"})
    reactions: list[tuple[int, Reaction]] = field(default_factory=list)
    fails: list[Exception] = field(default_factory=list)

    def _may_fail(self) -> None:
        if self.fails:
            raise self.fails.pop()

    async def pull_request(self, owner: str, repo: str, number: int) -> PullRequest | None:
        self._may_fail()
        asked = (owner, repo, number) == (self.pull.owner, self.pull.repo, self.pull.number)
        return read_pull_request(self.pull.document()) if asked else None

    async def changed_files(self, owner: str, repo: str, number: int) -> frozenset[str] | None:
        self._may_fail()
        return self.files

    async def may_write(self, owner: str, repo: str, login: str) -> bool:
        self._may_fail()
        return login in self.writers

    async def react(self, owner: str, repo: str, comment_id: int, reaction: Reaction) -> None:
        self._may_fail()
        self.reactions.append((comment_id, reaction))


def signature(body: bytes, secret: bytes = SECRET) -> str:
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


async def send(
    client: httpx.AsyncClient,
    event: Mapping[str, Any] | bytes,
    name: str = "pull_request",
    **headers: str,
) -> httpx.Response:
    """One delivery, signed as GitHub does; a header given as "" is left out."""
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    own = {
        "X-GitHub-Event": name,
        "X-GitHub-Delivery": f"d-{next(_numbers)}",
        "X-Hub-Signature-256": signature(body),
        "Content-Type": "application/json",
    } | {key.replace("_", "-"): value for key, value in headers.items()}
    shown = {key: value for key, value in own.items() if value}
    return await client.post(WEBHOOK, content=body, headers=shown)
