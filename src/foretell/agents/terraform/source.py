"""Which tree of files is planned, and whether it may be: a plan runs what is in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foretell.agents.terraform.config import TerraformConfig
from foretell.domain.context import Side, Source
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected
from foretell.kit.git import Checkouts
from foretell.kit.scrub import scrub
from foretell.ports import Renders

HERE: Final = "."
"""The `url` of the repository that the plan is about."""
COMMIT: Final = "git/sha"
"""The label of a version that names its commit."""
_REF: Final = "?ref="
_SHA_LENGTHS: Final = (40, 64)


@dataclass(frozen=True, slots=True)
class Repositories:
    """Finds trees. `allowed`: URLs or folders that may be planned, and all below them; None: any.

    Nothing may be planned on a server that nobody allowed: neither a fork's commit, nor a URL that
    only a request names.
    """

    checkouts: Checkouts
    allowed: Sequence[str] | None
    renders: Renders

    async def tree(self, config: TerraformConfig, side: Side, head: str = "") -> Path:
        """A folder that nobody changes; `head` is the commit that a request named for the side.

        Raises AgentRejected, or AgentUnavailable while the other side can't be reached.
        """
        url, _, revision = config.repository.url.partition(_REF)
        source = _same(url, side.source)
        if source is not None and not revision:
            url, revision = source.repository, source.revision
            self._check(url)
            if not revision:
                return Path(url)
        elif url == HERE:
            raise AgentRejected(
                "repository.url is '.', the repository that a local plan is about: a server needs "
                "its URL"
            )
        self._check(url)
        sha = await self.checkouts.resolve(url, revision or head or _commit(side))
        await self._check_commit(url, sha)
        return await self.checkouts.checkout(url, sha)

    async def _check_commit(self, url: str, sha: str) -> None:
        """Who may not push to the repository may still have the server give out their commit."""
        key = digest("terraform-commit", url, sha)
        if self.allowed is None or await self.renders.once(
            key, lambda: self.checkouts.is_on_a_branch(url, sha)
        ):
            return
        raise AgentRejected(
            f"commit {sha[:12]} is on no branch or tag of {scrub(url)}: a plan runs code, so a "
            "server plans no commit of a fork, nor one that was taken back"
        )

    def _check(self, url: str) -> None:
        if self.allowed is None or any(_is_below(url, each) for each in self.allowed):
            return
        raise AgentRejected(
            f"{scrub(url)} may not be planned here: a plan runs code of the repository, so a "
            "server plans only those that the setting terraform_repositories names, and all below "
            "them; none by default"
        )


def _same(url: str, source: Source | None) -> Source | None:
    """`source` where `url` means it."""
    if source is None or url == HERE:
        return source
    is_path = url.startswith("/")
    return source if is_path and Path(url).resolve() == Path(source.repository).resolve() else None


def _commit(side: Side) -> str:
    """Never a branch that nobody named: it would be planned, and another be deployed."""
    version = side.version
    named = version.metadata.get(COMMIT)
    if isinstance(named, str) and named:
        return named
    if len(version.tag) in _SHA_LENGTHS and not set(version.tag) - set("0123456789abcdef"):
        return version.tag
    raise AgentRejected(
        f"it is not known which commit version {version.tag} is: give it the metadata {COMMIT}, "
        "or end repository.url with ?ref= and a template such as {{ release.version.tag }}"
    )


def _is_below(url: str, allowed: str) -> bool:
    """By whole parts: `…/acme` does not allow `…/acme-evil`; a path's links are resolved."""
    if url.startswith("/") != allowed.startswith("/"):
        return False
    if url.startswith("/"):
        return Path(url).resolve().is_relative_to(Path(allowed).resolve())
    if ".." in url or "%" in url:
        return False
    mine, theirs = (each.removesuffix("/").removesuffix(".git") for each in (url, allowed))
    return mine == theirs or mine.startswith(theirs + "/")
