"""Trees of a repository at a revision, as folders that nobody changes any more.

A local repository is read where it is. A remote one goes through a bare mirror below the cache,
which holds the commits that somebody asked for, one deep where the other side can do that.
Submodules are not followed, and of files kept in Git LFS there are the pointers.
"""

import asyncio
import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Final

from foretell.domain.errors import AgentRejected
from foretell.kit import tree
from foretell.kit.process import NO_VARIABLES, Completed
from foretell.kit.remote import (
    REMOTE,
    Remote,
    candidates,
    check_repository,
    git,
    parse_refs,
    refused,
)
from foretell.kit.scrub import scrub, tail
from foretell.kit.tree import inside, tree_inside

__all__ = ["MAX_FILES", "MAX_TREE_BYTES", "Checkouts", "inside", "tree_inside"]

# Bounds for one tree. A tree can hold itself many times over at no cost to its author.
MAX_TREE_BYTES: Final = 1024**3
MAX_FILES: Final = 200_000
_SHA: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REVISION: Final = re.compile(r"[\w.+=,#@][\w./+=,#@{}~^-]{0,254}")
# A tree used so recently may be in use: it is pruned by age alone, never to make room.
_IN_USE_FOR: Final = timedelta(hours=1)


class Checkouts:
    """Resolves revisions and checks trees out, each (repository, commit) once.

    `env` is what git gets besides its safe settings (SSH_AUTH_SOCK, HOME for known_hosts). A
    folder that was handed out stays until `prune` finds it unused for long enough.
    """

    def __init__(self, cache_root: Path, *, env: Mapping[str, str] = NO_VARIABLES) -> None:
        self._mirrors = cache_root / "mirrors"
        self._trees = cache_root / "trees"
        self._env = env
        self._flights: dict[tuple[str, str], asyncio.Task[Path]] = {}

    async def resolve(self, repository: str, revision: str) -> str:
        """The full id of the commit that `revision` (branch, tag, id, `main~1`) names now.

        `repository` is a path in a local one, or a URL. Raises AgentRejected when either is not
        there, AgentUnavailable when the other side can't be reached.
        """
        check_repository(repository)
        if not _REVISION.fullmatch(revision):
            raise AgentRejected(f"{revision!r} is not a revision: name a branch, a tag or a commit")
        found = await (self._resolve_local if _is_local(repository) else self._resolve_remote)(
            repository, revision
        )
        if found is None:
            raise AgentRejected(f"revision {revision} not found in {scrub(repository)}")
        return found

    async def checkout(self, repository: str, sha: str) -> Path:
        """A read-only folder with the tree of commit `sha` (40 or 64 hexadecimal digits).

        Links in it may lead anywhere: open nothing in it but through `inside` or `tree_inside`.
        Raises AgentRejected when there is no such commit or its tree is over the bounds.
        """
        check_repository(repository)
        if not _SHA.fullmatch(sha):
            raise AgentRejected(f"{sha!r} is not a full commit id: resolve it first")
        folder = self._trees / _key(repository) / sha
        try:
            os.utime(folder)
        except FileNotFoundError:
            await self._once((repository, sha), lambda: self._extract(repository, sha, folder))
        return folder

    async def is_on_a_branch(self, repository: str, sha: str) -> bool:
        """Whether a branch or a tag leads to the commit: servers give out those of forks too."""
        if _is_local(repository):
            return await self._leads(("-C", repository), sha)
        async with self._mirror(repository) as mirror:
            tips = await self._ask(mirror, repository, "ls-remote", "--heads", "--tags", REMOTE)
            if sha in parse_refs(tips.stdout).values():
                return True
            await self._fetch_all(mirror, repository)
            return await self._leads((f"--git-dir={mirror}",), sha)

    async def _leads(self, where: tuple[str, ...], sha: str) -> bool:
        options = ("--contains", sha, "--count=1", "refs/heads", "refs/tags")
        return bool((await self._local(*where, "for-each-ref", *options)).stdout)

    async def worktree_snapshot(self, repository: str) -> Path:
        """A read-only copy of the files as they are now: also untracked, not ignored ones."""
        top = await self._local("-C", repository, "rev-parse", "--show-toplevel")
        if top.returncode != 0:
            raise AgentRejected(f"{scrub(repository)} is no git work tree: {tail(top.stderr)}")
        source = Path(os.fsdecode(top.stdout.rstrip(b"\n")))
        options = ("--cached", "--others", "--exclude-standard", "--deduplicate", "-z")
        listed = await self._local("-C", str(source), "ls-files", *options)
        names = [os.fsdecode(name) for name in listed.stdout.split(b"\0") if name]
        folder = self._trees / "worktree"
        with _draft(folder) as draft:
            await asyncio.to_thread(tree.copy_files, source, names, draft)
            return await asyncio.to_thread(tree.seal, draft, folder / draft.name.lstrip("."))

    async def prune(self, older_than: timedelta, *, most: int = 500) -> int:
        """Deletes trees and mirrors not used for `older_than`, and the oldest beyond `most`.

        To make room, nothing is deleted that was used in the last hour. Returns how many went.
        """
        return await asyncio.to_thread(self._prune, older_than.total_seconds(), most)

    def _prune(self, older_than: float, most: int) -> int:
        now = time.time()
        folders = [*self._trees.glob("*/*"), *self._mirrors.glob("*.git")]
        aged = sorted((now - folder.stat().st_mtime, str(folder)) for folder in folders)
        gone = [
            folder
            for place, (age, folder) in enumerate(aged)
            if age > older_than or (place >= most and age > _IN_USE_FOR.total_seconds())
        ]
        for folder in gone:
            tree.remove(Path(folder))
        return len(gone)

    # Local repositories

    async def _local(self, *arguments: str, **env: str) -> Completed:
        return await git(*arguments, env={**self._env, **env})

    async def _resolve_local(self, repository: str, revision: str) -> str | None:
        return await self._parse(("-C", repository), revision)

    async def _parse(self, where: tuple[str, ...], revision: str) -> str | None:
        name = f"{revision}^{{commit}}"
        done = await self._local(*where, "rev-parse", "--verify", name)
        if b"not a git repository" in done.stderr:
            place = "the copy in the cache" if where[0] != "-C" else scrub(where[-1])
            raise AgentRejected(f"{place} is no git repository")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    # Mirrors of remote ones

    async def _resolve_remote(self, repository: str, revision: str) -> str | None:
        async with self._mirror(repository) as mirror:
            where = (f"--git-dir={mirror}",)
            if _SHA.fullmatch(revision):
                held = await self._parse(where, revision)
                return held or await self._fetch_commit(mirror, repository, revision)
            listed = await self._ask(mirror, repository, "ls-remote", REMOTE)
            if listed.returncode != 0:
                raise refused(repository, listed)
            refs = parse_refs(listed.stdout)
            for name in candidates(revision):
                if name in refs:
                    return refs[name]
            await self._fetch_all(mirror, repository)
            return await self._parse(where, revision)

    async def _ask(self, mirror: Path, repository: str, *arguments: str) -> Completed:
        remote = Remote.of(repository)
        return await git(f"--git-dir={mirror}", *arguments, remote=remote, env=self._env)

    async def _fetch_commit(self, mirror: Path, repository: str, sha: str) -> str | None:
        """One deep where the other side gives any commit, else with everything it has."""
        shallow = ("fetch", "--quiet", "--no-tags", "--depth=1", REMOTE, sha)
        done = await self._ask(mirror, repository, *shallow)
        if done.returncode != 0:
            await self._fetch_all(mirror, repository)
        return await self._parse((f"--git-dir={mirror}",), sha)

    async def _fetch_all(self, mirror: Path, repository: str) -> None:
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        deep = ("--unshallow",) if (mirror / "shallow").exists() else ()
        done = await self._ask(
            mirror, repository, "fetch", "--quiet", "--prune", *deep, REMOTE, *refs
        )
        if done.returncode != 0:
            raise refused(repository, done)

    @asynccontextmanager
    async def _mirror(self, repository: str) -> AsyncIterator[Path]:
        """One at a time, over all workers of this machine: git's own locks fail, not wait."""
        self._mirrors.mkdir(parents=True, exist_ok=True)
        mirror = self._mirrors / f"{_key(repository)}.git"
        with open(mirror.with_suffix(".lock"), "w") as lock:
            await _locked(lock)
            if not (mirror / "HEAD").exists():
                await self._local("init", "--quiet", "--bare", "--template=", str(mirror))
            os.utime(mirror)
            yield mirror

    # Trees

    async def _once(
        self, key: tuple[str, str], work: Callable[[], Coroutine[Any, Any, Path]]
    ) -> Path:
        """Single flight: whoever comes meanwhile waits for the first; no one cancels it."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = asyncio.create_task(work())
            flight.add_done_callback(lambda done: self._land(key, done))
        return await asyncio.shield(flight)

    def _land(self, key: tuple[str, str], flight: asyncio.Task[Path]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()

    async def _extract(self, repository: str, sha: str, folder: Path) -> Path:
        if _is_local(repository):
            done = await self._local("-C", repository, "rev-parse", "--absolute-git-dir")
            if done.returncode != 0:
                raise AgentRejected(f"{scrub(repository)} is no git repository")
            return await self._write(done.stdout.decode().strip(), repository, sha, folder)
        async with self._mirror(repository) as mirror:
            if await self._parse((f"--git-dir={mirror}",), sha) is None:
                await self._fetch_commit(mirror, repository, sha)
            return await self._write(str(mirror), repository, sha, folder)

    async def _write(self, git_dir: str, repository: str, sha: str, folder: Path) -> Path:
        await self._check_bounds(git_dir, repository, sha)
        with _draft(folder.parent) as draft:
            content = draft / "tree"
            content.mkdir()
            where = (f"--git-dir={git_dir}", f"--work-tree={content}")
            for step in (("read-tree", sha), ("checkout-index", "--all", "--quiet")):
                done = await self._local(*where, *step, GIT_INDEX_FILE=str(draft / "index"))
                if done.returncode != 0:
                    raise AgentRejected(
                        f"commit {sha} of {scrub(repository)} can't be checked out: "
                        f"{tail(done.stderr)}"
                    )
            return await asyncio.to_thread(tree.seal, content, folder)

    async def _check_bounds(self, git_dir: str, repository: str, sha: str) -> None:
        done = await self._local(f"--git-dir={git_dir}", "ls-tree", "-r", "-l", "-z", sha)
        if done.returncode != 0:
            raise AgentRejected(f"revision {sha} not found in {scrub(repository)}")
        sizes = [entry.split(maxsplit=4)[3] for entry in done.stdout.split(b"\0") if entry]
        total = sum(int(size) for size in sizes if size != b"-")
        if len(sizes) > MAX_FILES or total > MAX_TREE_BYTES:
            raise AgentRejected(
                f"commit {sha} of {scrub(repository)} holds {len(sizes):,} files of {total:,} "
                f"bytes; at most {MAX_FILES:,} files of {MAX_TREE_BYTES:,} bytes are checked out"
            )


def _is_local(repository: str) -> bool:
    """A path; `host:path` is one of ssh unless there is such a file."""
    if "://" in repository:
        return False
    return ":" not in repository.split("/")[0] or Path(repository).exists()


def _key(repository: str) -> str:
    """A folder's name for a repository.

    Credentials count: what was fetched with one must not be served to who has none.
    """
    place = str(Path(repository).resolve()) if _is_local(repository) else repository
    return hashlib.sha256(place.encode()).hexdigest()[:32]


async def _locked(file: IO[str]) -> None:
    """Waits without a thread: the pool may be full of work that the lock's holder waits for."""
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(0.05)


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """A folder beside the final one, gone in the end with whatever is left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder))
    try:
        yield draft
    finally:
        if draft.exists():
            tree.remove(draft)
