"""The demo's repository: a chart and an inventory at two revisions, the same on every machine."""

import shutil
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from foretell.domain.errors import InvalidRequest
from foretell.kit.remote import git
from foretell.kit.scrub import tail

_OLD_TAG, _NEW_TAG = "default: 1.8.2", "default: 1.9.0"
# Whoever commits and when is part of a commit's id.
_WHO: Final = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Foretell"),
        ("EMAIL", "demo@foretell.invalid"),
        ("DATE", "2026-01-05T09:00:00Z"),
    )
}


@dataclass(frozen=True, slots=True)
class DemoRepository:
    """`base` and `head` are full commit ids; the work tree is at `head`, on branch `main`."""

    path: Path
    base: str
    head: str


async def make_repository(folder: Path) -> DemoRepository:
    """Writes the repository into `folder`, which must not be there or be empty.

    From base to head a new image goes everywhere but to one pinned place, production gets an
    autoscaler, and a setting goes. Raises InvalidRequest where there is no git, or no room.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InvalidRequest(f"{folder} is not empty: name a folder that is not there yet")
    with as_file(files("foretell.cli") / "demo_files") as content:
        shutil.copytree(content / "before", folder, dirs_exist_ok=True)
        await _git(folder, "init", "--quiet", "--initial-branch=main")
        base = await _commit(folder, "Storefront 1.8.2")
        shutil.copytree(content / "after", folder, dirs_exist_ok=True)
    inventory = folder / "inventory.yaml"
    inventory.write_text(inventory.read_text().replace(_OLD_TAG, _NEW_TAG))
    return DemoRepository(folder, base, await _commit(folder, "Storefront 1.9.0, autoscaled"))


async def _commit(folder: Path, message: str) -> str:
    await _git(folder, "add", "--all")
    await _git(folder, "commit", "--quiet", "--no-gpg-sign", f"--message={message}")
    return await _git(folder, "rev-parse", "HEAD")


async def _git(folder: Path, *arguments: str) -> str:
    done = await git("-C", str(folder), *arguments, env=_WHO)
    if done.returncode != 0:
        raise InvalidRequest(f"git {arguments[0]} failed in {folder}: {tail(done.stderr)}")
    return done.stdout.decode().strip()
