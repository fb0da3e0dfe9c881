"""What two commits of a local repository differ in, and the names and texts of one of them.

Nothing is checked out: a repository may hold far more than somebody asks about.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foretell.domain.errors import InvalidRequest
from foretell.kit.process import NO_VARIABLES
from foretell.kit.remote import git
from foretell.kit.scrub import tail

_LINK, _SUBMODULE = b"120000", b"160000"
LARGEST_TEXT_BYTES = 1024**2
"""A larger file is no text that somebody wrote; it counts as none."""


@dataclass(frozen=True, slots=True)
class CommitFiles:
    """`links` and `texts` are by path; of texts those that were asked for."""

    files: tuple[str, ...]
    links: Mapping[str, str]
    texts: Mapping[str, str]


async def changed_files(repository: Path, base: str, head: str) -> tuple[str, ...]:
    """Paths that `head` has otherwise than the commit at which it left `base`, both of a rename.

    Raises InvalidRequest where either is not there, or no common commit is.
    """
    options = ("--name-only", "--no-renames", "--no-ext-diff", "--no-relative", "-z")
    listed = await _git(repository, "diff", *options, "--end-of-options", f"{base}...{head}", "--")
    return tuple(os.fsdecode(name) for name in listed.split(b"\0") if name)


async def files_of(repository: Path, revision: str, wanted: Callable[[str], bool]) -> CommitFiles:
    """The names of all files, with the texts of the `wanted` ones; a submodule is one of them."""
    options = ("-r", "-l", "-z", "--full-tree", "--end-of-options")
    listed = await _git(repository, "ls-tree", *options, revision)
    entries = [_Entry.parse(line) for line in listed.split(b"\0") if line]
    read = [each for each in entries if each.is_link or (each.is_text and wanted(each.path))]
    texts = dict(zip((e.path for e in read), await _contents(repository, read), strict=True))
    links = {each.path: texts.pop(each.path) for each in read if each.is_link}
    return CommitFiles(tuple(each.path for each in entries), links, texts)


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: bytes
    id: bytes
    size_bytes: int
    path: str

    @classmethod
    def parse(cls, line: bytes) -> "_Entry":
        """`mode type id size<TAB>path` (git-ls-tree, "Output format"); a submodule has no size."""
        about, _, path = line.partition(b"\t")
        mode, _, id, size = about.split()
        return cls(mode, id, 0 if size == b"-" else int(size), os.fsdecode(path))

    @property
    def is_link(self) -> bool:
        return self.mode == _LINK

    @property
    def is_text(self) -> bool:
        return self.mode not in (_LINK, _SUBMODULE) and self.size_bytes <= LARGEST_TEXT_BYTES


async def _contents(repository: Path, entries: list[_Entry]) -> list[str]:
    """The texts in the order of `entries`: `id type size<LF>content<LF>` each (git-cat-file)."""
    asked = b"".join(each.id + b"\n" for each in entries)
    told = await _git(repository, "cat-file", "--batch", stdin=asked) if entries else b""
    found, at = [], 0
    for each in entries:
        at = told.index(b"\n", at) + 1
        content = told[at : at + each.size_bytes]
        found.append(os.fsdecode(content) if each.is_link else content.decode(errors="replace"))
        at += each.size_bytes + 1
    return found


async def _git(repository: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    done = await git("-C", str(repository), *arguments, env=NO_VARIABLES, stdin=stdin)
    if done.returncode != 0:
        raise InvalidRequest(f"git {arguments[0]} in {repository}: {tail(done.stderr)}")
    return done.stdout
