"""Which commit is planned, and its files as the archive that is uploaded."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foretell.agents.terraform_cloud.archive import Archive, archive_root, pack
from foretell.agents.terraform_cloud.config import Repository
from foretell.domain.context import Source
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import GithubRef, PlanId
from foretell.kit.git import Checkouts
from foretell.kit.renders import SharedRenders
from foretell.kit.scrub import scrub

OWN = "."
"""`repository.url` for the repository that the plan itself is about."""
_REVISION = "?ref="
_UNCOMMITTED = "uncommitted"


@dataclass(frozen=True, slots=True)
class Place:
    """A repository at a commit; `commit` "" is a folder that nobody changes."""

    repository: str
    commit: str

    @property
    def name(self) -> str:
        """The commit as people call it."""
        return self.commit[:12] or _UNCOMMITTED


@dataclass(frozen=True, slots=True)
class Asked:
    """What the plan is about: a checkout of it, a pull request's head, or neither."""

    plan: PlanId
    source: Source | None
    head: GithubRef | None


class Sources:
    """Checks out and packs, each commit once for all targets of a plan.

    Repositories by path lie below `roots`; the one that a plan is about may always be read.
    """

    def __init__(self, checkouts: Checkouts, roots: Sequence[Path]) -> None:
        self._checkouts = checkouts
        self._roots = roots
        # An archive is large, and wanted by all targets of a plan at about the same time.
        self._packed = SharedRenders(keep=4)
        self._places = SharedRenders(keep=64)

    async def find(self, repository: Repository, asked: Asked) -> Place:
        """The commit. AgentRejected where nothing says which one is meant."""
        key = digest("place", asked.plan, repository.url, _told(asked.source), _told(asked.head))
        return await self._places.once(key, lambda: self._find(repository, asked))

    async def _find(self, repository: Repository, asked: Asked) -> Place:
        url, _, revision = repository.url.partition(_REVISION)
        source = asked.source
        if source is not None and (url == OWN or url == source.repository):
            return await self._resolved(source.repository, revision or source.revision)
        self._check_allowed(url)
        named = revision or _head_of(url, asked.head)
        if not named:
            raise AgentRejected(
                f"nothing says which commit of {scrub(url)} is meant: ask with the pull request "
                f"it is in (`github`), or write {_REVISION}BRANCH behind repository.url"
            )
        return await self._resolved(url, named)

    async def _resolved(self, repository: str, revision: str) -> Place:
        if not revision:
            return Place(repository, "")
        return Place(repository, await self._checkouts.resolve(repository, revision))

    async def pack(self, place: Place, path: str, working_directory: str) -> Archive:
        """The archive for a workspace with that working directory."""
        tree = await self._tree(place)
        root = archive_root(tree, path, working_directory)
        key = digest("archive", place.repository, place.commit, root, working_directory, str(tree))
        return await self._packed.once(
            key, lambda: asyncio.to_thread(pack, tree, root, working_directory)
        )

    async def _tree(self, place: Place) -> Path:
        if not place.commit:
            return Path(place.repository)
        return await self._checkouts.checkout(place.repository, place.commit)

    def _check_allowed(self, url: str) -> None:
        if url == OWN:
            raise AgentRejected(
                f"repository.url {OWN!r} is the repository that the plan is about, and this plan "
                "is about none: name a git repository"
            )
        if "://" in url and not url.startswith("file:"):
            return
        path = Path(url.removeprefix("file://"))
        if not path.exists() and ":" in url:
            return  # host:path of ssh
        resolved = path.resolve()
        if not any(resolved.is_relative_to(root.resolve()) for root in self._roots):
            raise AgentRejected(
                f"the repository {url} may not be read: on a server paths lie below the folders of "
                "the setting chart_roots; name a git repository by URL"
            )


def _head_of(url: str, head: GithubRef | None) -> str:
    """The head's commit, where the pull request is one of this repository."""
    if head is None:
        return ""
    place = url.lower().removesuffix("/").removesuffix(".git")
    name = f"{head.owner}/{head.repo}".lower()
    return head.sha if place.endswith((f"/{name}", f":{name}")) else ""


def _told(value: Source | GithubRef | None) -> list[str]:
    match value:
        case Source():
            return [value.repository, value.revision]
        case GithubRef():
            return [value.owner, value.repo, value.sha]
        case None:
            return []
