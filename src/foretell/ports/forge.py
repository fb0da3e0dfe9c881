"""The place where pull requests live: what has to be asked there before one is planned."""

from enum import StrEnum
from typing import Protocol

from foretell.formats.pull_request.head import PullRequest


class Reaction(StrEnum):
    """How a comment is answered, in GitHub's words (REST API "Reactions")."""

    SEEN = "eyes"
    CONFUSED = "confused"


class Forge(Protocol):
    """Asked about one repository at a time, as who may read it.

    Raises Unavailable or RateLimited where asking again helps, and Forbidden, with the permission
    that is missing, where it does not.
    """

    async def pull_request(self, owner: str, repo: str, number: int) -> PullRequest | None:
        """As it stands now; None: there is none, or it can't be seen."""

    async def changed_files(self, owner: str, repo: str, number: int) -> frozenset[str] | None:
        """Every path that it touches, the old one of a rename too.

        None: there are more than are told (GitHub lists 3,000), so that nothing can be ruled out.
        """

    async def may_write(self, owner: str, repo: str, login: str) -> bool:
        """Whether that person may push to the repository: write, maintain or admin."""

    async def react(self, owner: str, repo: str, comment_id: int, reaction: Reaction) -> None:
        """React to a comment of a pull request's conversation; twice is once."""
