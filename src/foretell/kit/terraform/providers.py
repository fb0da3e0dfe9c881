"""Providers that many plans share, without a folder that two programs write to.

The programs' own plugin cache is not safe for that: an `init` writes over what another's plan
runs. So each plan that finds nothing downloads for itself; when its lock file was complete, what
it has is kept under that lock file's digest, and is never written to again.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from foretell.domain.digest import digest
from foretell.kit import tree
from foretell.kit.terraform.folder import LOCK_FILE, Folder
from foretell.kit.terraform.program import Program


class Providers:
    """Kept below `cache`, a folder for each lock file."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._flights: dict[str, asyncio.Lock] = {}
        self._not_kept: set[str] = set()

    @asynccontextmanager
    async def for_init(self, program: Program, folder: Folder) -> AsyncIterator[Path | None]:
        """The shared folder for this configuration, or None: `init` downloads into its own.

        Of those that find nothing one goes first, and the others find what it leaves.
        """
        lock_file = folder.module / LOCK_FILE
        locked = await asyncio.to_thread(_text, lock_file)
        if not locked:  # versions float: what is there today may not be what is wanted
            yield None
            return
        key = digest("terraform-providers", program.name, program.version, locked)
        kept = self._cache / key.replace(":", "-")
        async with self._flights.setdefault(key, asyncio.Lock()):
            shared = kept if await asyncio.to_thread(_is_there, kept) else None
            if shared is None and key not in self._not_kept:
                yield None
                unchanged = await asyncio.to_thread(_text, lock_file) == locked
                if not (unchanged and await asyncio.to_thread(_keep, folder.data, kept)):
                    self._not_kept.add(key)
                return
        yield shared

    def prune(self, older_than_s: float) -> int:
        """Removes what nobody used for that many seconds; returns how many."""
        now = time.time()
        old = [path for path in self._cache.glob("*") if now - path.stat().st_mtime > older_than_s]
        for path in old:
            tree.remove(path)
        return len(old)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _is_there(kept: Path) -> bool:
    try:
        os.utime(kept)
    except FileNotFoundError:
        return False
    return True


def _keep(data: Path, kept: Path) -> bool:
    """By links: the plan that downloaded them goes on using its own. False: there are none."""
    providers = data / "providers"
    if not providers.is_dir():
        return False
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=kept.parent))
    try:
        content = draft / "providers"
        shutil.copytree(providers, content, copy_function=_link)
        tree.seal(content, kept)
    finally:
        if draft.exists():
            tree.remove(draft)
    return True


def _link(source: str, destination: str) -> None:
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)
