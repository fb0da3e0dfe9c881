"""Which chart is meant, and where it is: a folder or a packed file that nobody changes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from foretell.agents.helm.config import HelmConfig
from foretell.agents.helm.content import Content, read_content
from foretell.agents.helm.dependency import complete
from foretell.agents.helm.pull import Reference, remote_reference
from foretell.domain.context import Source
from foretell.domain.errors import AgentRejected
from foretell.kit.git import Checkouts, inside, tree_inside

_PACKED = (".tgz", ".tar.gz")
_FILE = "file://"


@dataclass(frozen=True, slots=True)
class Chart:
    """`path` is a folder or a packed file; values files lie below `root`, if there is one.

    `name` is what people call it: the path or reference in the config, with its revision.
    """

    name: str
    path: Path
    root: Path | None
    content: Content


@dataclass(frozen=True, slots=True)
class Charts:
    """Finds charts. What may be read by path on this machine lies below `roots`, links resolved;
    the repository that a plan is about (its `Source`) may always be read."""

    checkouts: Checkouts
    roots: Sequence[Path]
    shelf: Path
    pull: Callable[[Reference], Awaitable[Path]]

    async def find(self, config: HelmConfig, source: Source | None) -> Chart:
        """Raises AgentRejected, or AgentUnavailable while the other side can't be reached."""
        if reference := remote_reference(config):
            path = await self.pull(reference)
            content = await asyncio.to_thread(read_content, path)
            return Chart(reference.name, path, await self._source(source), content)
        if config.repo_url is not None:
            revision = config.revision or "HEAD"
            root = await self._checkout(self._allowed(config.repo_url, source), revision)
            return await asyncio.to_thread(self._below, root, config.chart, revision)
        if (root_of_source := await self._source(source)) is not None and source is not None:
            revision = source.revision[:12] or "the work tree"
            return await asyncio.to_thread(self._below, root_of_source, config.chart, revision)
        return await asyncio.to_thread(self._on_this_machine, config)

    async def _source(self, source: Source | None) -> Path | None:
        """The tree that the plan is about; without a revision, a folder that nobody changes."""
        if source is None:
            return None
        if not source.revision:
            return Path(source.repository)
        return await self._checkout(source.repository, source.revision)

    async def _checkout(self, repository: str, revision: str) -> Path:
        sha = await self.checkouts.resolve(repository, revision)
        return await self.checkouts.checkout(repository, sha)

    def _allowed(self, url: str, source: Source | None) -> str:
        """`url`, unless it is a folder of this machine that may not be read."""
        if not _is_path(url):
            return url
        path = Path(url.removeprefix(_FILE))
        if source is not None and path.resolve() == Path(source.repository).resolve():
            return str(path)
        return str(self._below_a_root(path, "the repository"))

    def _below_a_root(self, path: Path, what: str) -> Path:
        resolved = path.resolve()
        if path.is_absolute() and any(resolved.is_relative_to(r.resolve()) for r in self.roots):
            return resolved
        raise AgentRejected(
            f"{what} {path} may not be read: on a server paths lie below the folders of the "
            "setting FORETELL_CHART_ROOTS; name a git repository with repoURL, or have this folder "
            "added"
        )

    def _on_this_machine(self, config: HelmConfig) -> Chart:
        if config.revision is not None:
            raise AgentRejected(
                f"revision {config.revision!r} needs a repository: set repoURL beside it"
            )
        path = Path(config.chart)
        places = [path] if path.is_absolute() else [root / path for root in self.roots]
        found = next((place for place in places if place.exists()), path)
        self._below_a_root(found, "the chart")
        root = next(r for r in self.roots if found.resolve().is_relative_to(r.resolve()))
        relative = str(found.resolve().relative_to(root.resolve()))
        return self._below(root, relative, "")

    def _below(self, root: Path, relative: str, revision: str) -> Chart:
        name = f"{relative} at {revision}" if revision else relative
        path = inside(root, relative)
        if path.is_file():
            if not path.name.endswith(_PACKED):
                raise AgentRejected(f"{name} is a file: expected a folder or a packed chart (.tgz)")
            return Chart(name, path, root, read_content(path))
        if not path.is_dir():
            raise AgentRejected(f"there is no chart {name}: check the path and the revision")
        path, content = complete(tree_inside(root, relative), root.resolve(), self.shelf)
        return Chart(name, path, root, content)


def _is_path(url: str) -> bool:
    return url.startswith((_FILE, "/", ".")) or ":" not in url
