"""Our one comment of a pull request: found, written, repaired, never somebody else's."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from foretell.domain.errors import Forbidden, InvalidRequest, NotFound
from foretell.formats.markdown import COMMENT_LIMIT
from foretell.ports.memory import Thread
from foretell.reporters.github.auth import Author, Repository
from foretell.reporters.github.client import Github

SHORTER = COMMENT_LIMIT // 4
"""What is tried where GitHub takes no long one after all: a summary is never lost to a limit."""
_DIGITS = 32


def marker(thread: Thread, key: bytes) -> str:
    """The comment's first line. It names the deployment, not the plan: a push makes no new one.

    Signed, for who may comment with our account (another job of the workflow) is not yet us.
    """
    place = f"{thread.deployment_id} {thread.owner}/{thread.repo}#{thread.pr_number}".lower()
    signature = hmac.new(key, place.encode(), hashlib.sha256).hexdigest()[:_DIGITS]
    return f"<!-- foretell {thread.deployment_id} {signature} -->"


@dataclass(frozen=True, slots=True)
class CommentWriter:
    """Writes the comment that begins with `marker` and is ours."""

    github: Github
    repository: Repository
    pr_number: int
    marker: str

    async def write(self, known_id: int | None, body: Callable[[int], str]) -> int:
        """The id of the comment, which now has the text that `body` makes for a limit.

        Twice is once: a known comment is changed, one that somebody deleted is made anew, and
        before one is made all pages are searched for one whose making was not heard of.
        """
        try:
            return await self._write(known_id, body(COMMENT_LIMIT))
        except InvalidRequest:
            return await self._write(known_id, body(SHORTER))

    async def _write(self, known_id: int | None, body: str) -> int:
        if known_id is not None and await self._changed(known_id, body):
            return known_id
        own = await self._own()
        if own and await self._changed(own[0], body):
            for other in own[1:]:
                await self.github.delete(self.repository, f"issues/comments/{other}")
            return own[0]
        path = f"issues/{self.pr_number}/comments"
        made = await self.github.post(self.repository, path, {"body": body})
        return int(made["id"])

    async def _changed(self, comment_id: int, body: str) -> bool:
        """False where it is gone, or is no longer ours to change."""
        path = f"issues/comments/{comment_id}"
        try:
            await self.github.patch(self.repository, path, {"body": body})
        except (NotFound, Forbidden):
            return False
        return True

    async def _own(self) -> list[int]:
        author = await self.github.author()
        path = f"issues/{self.pr_number}/comments"
        return [
            int(one["id"])
            async for one in self.github.pages(self.repository, path)
            if is_by(one, author) and (one["body"] or "").partition("\n")[0].strip() == self.marker
        ]


def is_by(comment: Any, author: Author) -> bool:
    """Whether `author` wrote it: by the App where it is one, else by the account."""
    app = comment.get("performed_via_github_app")
    if author.app_id is not None and app is not None:
        return bool(app["id"] == author.app_id)
    user = comment.get("user") or {}
    return bool(str(user.get("login", "")).lower() == author.login.lower())
