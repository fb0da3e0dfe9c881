"""Folders that hold somebody else's files: made once, never changed, never a way out."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from foretell.domain.errors import AgentRejected, InvalidRequest

WORKTREE = "WORKTREE"
"""The revision that means "as the files are now", committed or not."""


def repository_of(path: Path) -> Path:
    """The git work tree that holds `path`, which itself need not exist.

    Links are not followed. Raises InvalidRequest when no folder above is one.
    """
    for folder in (path, *path.parents):
        if (folder / ".git").exists():
            return folder
    raise InvalidRequest(
        f"{path} is in no git repository: revisions are those of the one that holds it"
    )


def inside(root: Path, relative: str) -> Path:
    """The real path of `relative` below `root`, symbolic links followed.

    Raises AgentRejected when it leaves `root`, by `..`, as an absolute path or through a link. That
    something is there is not promised.
    """
    try:
        found = (root / relative).resolve()
        if found.is_symlink():
            # A loop, which Python 3.13 and later leave as it is.
            raise OSError("its links lead to each other")
    except (OSError, RuntimeError, ValueError) as error:
        raise AgentRejected(f"path {relative!r} can't be followed: {error}") from error
    if not found.is_relative_to(root.resolve()):
        raise AgentRejected(f"path {relative!r} leads outside the repository: use a path inside it")
    return found


def tree_inside(root: Path, relative: str) -> Path:
    """`inside`, and the same for every link below it.

    For folders that are handed to a program that follows links, as Helm does in a chart.
    """
    found = inside(root, relative)
    for folder, folders, files in os.walk(found):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.is_symlink():
                inside(root, str(path.relative_to(root.resolve())))
    return found


def seal(draft: Path, folder: Path) -> Path:
    """Moves `draft` to `folder` and takes the write permission away from everything in it.

    When another was faster and `folder` is there, that one stays.
    """
    _, *below = _all_below(draft)
    for path in below:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    try:
        draft.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        return folder
    # Not before: a folder without write permission can't be moved.
    folder.chmod(0o555)
    return folder


def remove(folder: Path) -> None:
    """Deletes a sealed folder; nobody finds it half deleted. Gone already is no error."""
    grave = Path(tempfile.mkdtemp(prefix=".gone-", dir=folder.parent))
    try:
        folder.chmod(0o700)
        folder.rename(grave / "tree")
    except FileNotFoundError:
        pass
    for path in _all_below(grave):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(grave)


def copy_files(source: Path, names: Iterable[str], destination: Path) -> None:
    """Copies regular files and links; what is a folder or is gone by now is left out."""
    for name in names:
        path, copy = source / name, destination / name
        if path.is_symlink() or path.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)


def _all_below(folder: Path) -> Iterable[Path]:
    """`folder` too, before what is in it; links are not followed and not among them."""
    yield folder
    for parent, folders, files in os.walk(folder):
        paths = (Path(parent, name) for name in (*folders, *files))
        yield from (path for path in paths if not path.is_symlink())
