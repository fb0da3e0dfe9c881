"""The folder that one plan runs in: its own copy of the configuration, data, home and plan file."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from foretell.domain.errors import AgentRejected
from foretell.kit.tree import inside

LOCK_FILE: Final = ".terraform.lock.hcl"
_OWNER: Final = "owner"
_STOP: Final = "stop"


@dataclass(frozen=True, slots=True)
class Folder:
    """Nobody else's: what is below `top` holds secrets in clear, and goes when the plan ends.

    `module` is the root module, writable: `init` writes its lock file there.
    """

    top: Path
    module: Path

    @property
    def data(self) -> Path:
        """TF_DATA_DIR: providers, modules, and the backend's configuration with its secrets."""
        return self.top / "data"

    @property
    def home(self) -> Path:
        """An empty one, so that no login or setting of the machine's user is found."""
        return self.top / "home"

    @property
    def plan_file(self) -> Path:
        """Where no older plan can be: a failed plan leaves one that `show` would take for its."""
        return self.top / "plan"

    def is_unwanted(self) -> bool:
        """Whether somebody asked this plan to stop (`discard`)."""
        return (self.top / _STOP).exists()

    def place(self, name: str) -> Path:
        """A path beside the tree for a file of ours."""
        return self.top / name


@contextmanager
def laid_out(parent: Path, name: str, tree: Path, relative: str) -> Iterator[Folder]:
    """A folder below `parent` whose name begins with `name`, gone in the end.

    `relative` below the read-only `tree` is copied, the rest of it linked: modules beside the
    root module are found, and a program that writes into its own folder spoils no other plan's.
    It is this process's until then, which the system sees to: a lock ends with who holds it.
    Raises AgentRejected where that is no folder of the tree.
    """
    source = inside(tree, relative)
    if not source.is_dir():
        raise AgentRejected(f"there is no folder {relative} in the repository: check its path")
    parent.mkdir(parents=True, exist_ok=True)
    top = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
    try:
        with open(top / _OWNER, "w") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX)
            yield _filled(top, tree.resolve(), source)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _filled(top: Path, tree: Path, source: Path) -> Folder:
    copy = top / "tree"
    for parent, folders, files in os.walk(tree):
        here = Path(parent)
        there = copy / here.relative_to(tree)
        there.mkdir()
        own = here.is_relative_to(source)
        for name in (*files, *(each for each in folders if (here / each).is_symlink())):
            _bring(here / name, there / name, own=own)
    made = Folder(top, copy / source.relative_to(tree))
    made.data.mkdir()
    made.home.mkdir()
    (top / "tmp").mkdir()
    return made


def _bring(file: Path, copy: Path, *, own: bool) -> None:
    if file.is_symlink():
        copy.symlink_to(os.readlink(file))
    elif own:
        shutil.copyfile(file, copy)
        copy.chmod(0o600 | (file.stat().st_mode & 0o111))
    else:
        _link(file, copy)


def _link(file: Path, copy: Path) -> None:
    try:
        os.link(file, copy)
    except OSError:  # another file system, or one without links
        shutil.copy2(file, copy)


def discard(top: Path) -> bool:
    """Removes a folder whose process died; asks one that lives to stop. Whether it is gone."""
    try:
        with open(top / _OWNER, "w") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        (top / _STOP).touch()
        return False
    except FileNotFoundError:
        return False
    shutil.rmtree(top, ignore_errors=True)
    return not top.exists()


def leftovers(parent: Path, older_than_s: float, now_s: float) -> Iterator[tuple[str, Path]]:
    """(name, path) of the folders that are that old; times in seconds of the clock."""
    for top in parent.glob("*-*") if parent.is_dir() else ():
        try:
            aged = now_s - top.stat().st_mtime >= older_than_s
        except FileNotFoundError:
            continue
        if aged:
            yield top.name.rpartition("-")[0], top
