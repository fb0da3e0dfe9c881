"""Which commit is planned, and its files as the archive that is uploaded."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foretell.agents.terraform_cloud.archive import Archive, archive_root, pack
from foretell.agents.terraform_cloud.config import Repository
from foretell.domain.context import Source, Version
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import GithubRef, PlanId
from foretell.kit.git import Checkouts
from foretell.kit.renders import SharedRenders
from foretell.kit.scrub import scrub

OWN = "."
"""`repository.url` for the repository that the plan itself is about."""
COMMIT = "git/sha"
"""The metadata of a version that names its commit."""
_REVISION = "?ref="
_SHA_LENGTHS = (40, 64)
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
    """What the plan is about: a version, and a checkout of it or a pull request's head."""

    plan: PlanId
    version: Version
    source: Source | None
    head: GithubRef | None


class Sources:
    """Checks out and packs, each commit once for all targets of a plan.

    `allowed`: URLs or folders that may be planned, and all below them; None: any. A request may
    override `repository`, and whatever is planned runs on the other side.
    """

    def __init__(self, checkouts: Checkouts, allowed: Sequence[str] | None) -> None:
        self._checkouts = checkouts
        self._allowed = allowed
        # An archive is large, and wanted by all targets of a plan at about the same time.
        self._packed = SharedRenders(keep=4)
        self._places = SharedRenders(keep=64)

    async def find(self, repository: Repository, asked: Asked) -> Place:
        """The commit. AgentRejected where nothing says which one is meant."""
        version = [asked.version.tag, asked.version.metadata.get(COMMIT)]
        told = [_told(asked.source), _told(asked.head), version]
        key = digest("place", asked.plan, repository.url, told)
        return await self._places.once(key, lambda: self._find(repository, asked))

    async def _find(self, repository: Repository, asked: Asked) -> Place:
        url, _, revision = repository.url.partition(_REVISION)
        source = _same(url, asked.source)
        if source is None and url == OWN:
            raise AgentRejected(
                f"repository.url {OWN!r} is the repository that the plan is about, and this plan "
                "is about none: name a git repository"
            )
        place = source.repository if source else url
        self._check(place)
        if source is not None and not revision:
            return await self._resolved(place, source.revision)
        return await self._resolved(place, revision or _commit(url, asked))

    async def _resolved(self, repository: str, revision: str) -> Place:
        if not revision:
            return Place(repository, "")
        commit = await self._checkouts.resolve(repository, revision)
        await self._check_commit(repository, commit)
        return Place(repository, commit)

    async def _check_commit(self, repository: str, commit: str) -> None:
        """Who may not push to the repository may still have its server give out their commit."""
        if self._allowed is None or await self._checkouts.is_on_a_branch(repository, commit):
            return
        raise AgentRejected(
            f"commit {commit[:12]} is on no branch or tag of {scrub(repository)}: a plan runs code "
            "with the workspace's credentials, so a server plans no commit of a fork, nor one that "
            "was taken back"
        )

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

    def _check(self, place: str) -> None:
        if self._allowed is None or any(_is_below(place, each) for each in self._allowed):
            return
        raise AgentRejected(
            f"{scrub(place)} may not be planned here: a plan runs code of the repository, with the "
            "workspace's credentials, so a server plans only those that the setting "
            "terraform_repositories names, and all below them; none by default"
        )


def _same(url: str, source: Source | None) -> Source | None:
    """`source` where `url` means it."""
    if source is None or url == OWN:
        return source
    is_path = url.startswith("/")
    return source if is_path and Path(url).resolve() == Path(source.repository).resolve() else None


def _commit(url: str, asked: Asked) -> str:
    """Never a branch that nobody named: it would be planned, and another be deployed."""
    named = _head_of(url, asked.head) or asked.version.metadata.get(COMMIT)
    if isinstance(named, str) and named:
        return named
    tag = asked.version.tag
    if len(tag) in _SHA_LENGTHS and not set(tag) - set("0123456789abcdef"):
        return tag
    raise AgentRejected(
        f"nothing says which commit of {scrub(url)} version {tag} is: ask with the pull request "
        f"that it is in (`github`), give it the metadata {COMMIT}, or end repository.url with "
        f"{_REVISION} and a template such as {{{{ version.tag }}}}"
    )


def _head_of(url: str, head: GithubRef | None) -> str:
    """The head's commit, where the pull request is one of this repository."""
    if head is None:
        return ""
    place = url.lower().removesuffix("/").removesuffix(".git")
    name = f"{head.owner}/{head.repo}".lower()
    return head.sha if place.endswith((f"/{name}", f":{name}")) else ""


def _is_below(place: str, allowed: str) -> bool:
    """By whole parts: `…/acme` does not allow `…/acme-evil`; a path's links are resolved."""
    if place.startswith("/") != allowed.startswith("/"):
        return False
    if place.startswith("/"):
        return Path(place).resolve().is_relative_to(Path(allowed).resolve())
    if ".." in place or "%" in place:
        return False
    mine, theirs = (each.removesuffix("/").removesuffix(".git") for each in (place, allowed))
    return mine == theirs or mine.startswith(theirs + "/")


def _told(value: Source | GithubRef | None) -> list[str]:
    match value:
        case Source():
            return [value.repository, value.revision]
        case GithubRef():
            return [value.owner, value.repo, value.sha]
        case None:
            return []
