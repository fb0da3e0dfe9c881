"""The Forge port on GitHub: pull requests, what they touch, and who may write."""

from foretell.domain.errors import NotFound
from foretell.formats.pull_request.head import PullRequest, read_pull_request
from foretell.ports.forge import Reaction
from foretell.reporters.github.auth import Repository
from foretell.reporters.github.client import Github

FILES_LISTED = 3000
"""GitHub lists no more files of a pull request (REST docs, "List pull requests files")."""


class GithubForge:
    """Asks with the same client, and so within the same limits, as the reporter writes."""

    def __init__(self, github: Github) -> None:
        self._github = github

    async def pull_request(self, owner: str, repo: str, number: int) -> PullRequest | None:
        try:
            found = await self._github.get(Repository(owner, repo), f"pulls/{number}")
        except NotFound:
            return None
        return read_pull_request(found)

    async def changed_files(self, owner: str, repo: str, number: int) -> frozenset[str] | None:
        found = [
            one
            async for one in self._github.pages(Repository(owner, repo), f"pulls/{number}/files")
        ]
        if len(found) >= FILES_LISTED:
            return None
        names = {name for one in found for name in (one["filename"], one.get("previous_filename"))}
        return frozenset(name for name in names if name)

    async def may_write(self, owner: str, repo: str, login: str) -> bool:
        path = f"collaborators/{login}/permission"
        try:
            found = await self._github.get(Repository(owner, repo), path)
        except NotFound:  # nobody of that name
            return False
        # `maintain` is told as write here, and `triage` as read.
        return found["permission"] in ("write", "admin")

    async def react(self, owner: str, repo: str, comment_id: int, reaction: Reaction) -> None:
        try:
            await self._github.post(
                Repository(owner, repo),
                f"issues/comments/{comment_id}/reactions",
                {"content": reaction.value},
            )
        except NotFound:  # deleted meanwhile
            return
