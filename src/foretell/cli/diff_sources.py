"""What `foretell diff` compares: files, folders, standard input or a path at a revision, as text.

Bounded before anything is read: a side holds no more than the parser takes.
"""

import codecs
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from foretell.domain.errors import InvalidRequest, NotFound
from foretell.formats.kubernetes import CompareOptions
from foretell.kit.git import Checkouts, inside
from foretell.kit.scrub import scrub
from foretell.kit.tree import WORKTREE, remove, repository_of

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")
MOST_BYTES = CompareOptions().limits.characters
"""Of one side, all its files together: what the parser takes."""
MOST_FILES = 20_000

_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE,
         codecs.BOM_UTF16_BE)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its name for people and its bytes."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison; `name` is what people call it."""

    name: str
    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> list[tuple[bytes, str]]:
        """Each file's bytes with its name."""
        return [(part.content, part.name) for part in self.parts]


def read_side(path: str) -> Side:
    """A file, a folder with its subfolders, or `-`.

    Raises NotFound, or InvalidRequest that says what is wrong with which file.
    """
    if path == STDIN:
        content = _bounded(sys.stdin.buffer, "standard input", MOST_BYTES)
        return Side("standard input", (Part("standard input", content),))
    return _read(Path(path), scrub(path))


async def read_revision(checkouts: Checkouts, path: Path, revision: str) -> Side:
    """`path` as it is at `revision` of the repository that holds it; nothing when it is not there.

    WORKTREE holds what git would add: untracked files too, but no ignored ones.
    """
    repository = repository_of(path)
    relative = str(path.relative_to(repository))
    if revision == WORKTREE:
        snapshot = await checkouts.worktree_snapshot(str(repository))
        try:
            return _at(snapshot, relative, revision)
        finally:
            remove(snapshot)
    sha = await checkouts.resolve(str(repository), revision)
    return _at(await checkouts.checkout(str(repository), sha), relative, revision)


def _at(tree: Path, relative: str, revision: str) -> Side:
    checkout = _Checkout(tree, f" at {revision}")
    found = inside(tree, relative)
    return _read(found, relative, checkout) if found.exists() else _absent(relative + checkout.at)


def _absent(name: str) -> Side:
    """A side that is not there, which is said: everything of the other is new, or goes."""
    return Side(name, (), (f"{name} does not exist; this side is empty",))


@dataclass(frozen=True, slots=True)
class _Checkout:
    """A tree whose links may lead anywhere; `at` is what names of its files end in."""

    tree: Path
    at: str

    def inside(self, path: Path) -> Path:
        return inside(self.tree, str(path.relative_to(self.tree.resolve())))


def _read(path: Path, name: str, checkout: _Checkout | None = None) -> Side:
    if not os.path.lexists(path):
        raise NotFound(f"there is no file or folder {name}")
    at = checkout.at if checkout else ""
    if not path.is_dir():
        return Side(f"{name}{at}", (_file(path, f"{name}{at}", MOST_BYTES),))
    names, warnings = _listed(path, name)
    left = MOST_BYTES
    parts: list[Part] = []
    for relative in names:
        file = checkout.inside(path / relative) if checkout else path / relative
        part = _file(file, f"{name}/{relative}{at}", left)
        left -= len(part.content)
        parts.append(part)
    return Side(f"{name}{at}", tuple(parts), tuple(warnings))


def _listed(folder: Path, name: str) -> tuple[list[str], list[str]]:
    """The manifests below a folder, sorted; links to folders are not followed, and that is said."""
    files, links = [], []
    for path in _walk(folder):
        relative = str(path.relative_to(folder))
        if path.is_dir():
            links.append(f"{name}/{relative} is a link to a folder; left out")
        elif path.suffix in ENDINGS:
            files.append(relative)
            if not path.is_symlink() and not path.is_file():
                raise InvalidRequest(f"{name}/{relative} is neither a file nor a folder")
    if not files:
        raise InvalidRequest(f"{name} holds no manifests: no file that ends in {_endings()}")
    if len(files) > MOST_FILES:
        raise InvalidRequest(
            f"{name} holds {len(files):,} manifests; at most {MOST_FILES:,} are read: name a "
            "folder further down"
        )
    return sorted(files), sorted(links)


def _endings() -> str:
    return f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"


def _walk(folder: Path) -> Iterator[Path]:
    """Files, and links to folders; nothing that is hidden."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        links = [one for one in folders if os.path.islink(os.path.join(parent, one))]
        yield from (Path(parent, one) for one in (*files, *links) if not one.startswith("."))


def _file(path: Path, name: str, left: int) -> Part:
    try:
        if path.is_file() and path.stat().st_size > left:
            raise _too_large(name, f"{path.stat().st_size:,} bytes", left)
        with open(path, "rb") as file:
            content = _bounded(file, name, left)
    except OSError as error:
        raise InvalidRequest(f"{name} can't be read: {error.strerror}") from error
    if b"\0" in content and not content.startswith(_BOMS):
        raise InvalidRequest(f"{name} is a binary file; expected manifests in YAML or JSON")
    return Part(name, content)


def _bounded(file: BinaryIO, name: str, left: int) -> bytes:
    content = file.read(left + 1)
    if len(content) > left:
        raise _too_large(name, "too large", left)
    return content


def _too_large(name: str, size: str, left: int) -> InvalidRequest:
    among = "" if left == MOST_BYTES else f" ({left:,} are left for it)"
    return InvalidRequest(
        f"{name} is {size}: one side may have at most {MOST_BYTES:,} bytes{among}; compare it in "
        "parts"
    )
