"""The configuration as a gzipped tar archive: equal trees give equal bytes."""

import gzip
import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from foretell.agents.terraform_cloud.ignore import Ignore
from foretell.domain.errors import AgentRejected
from foretell.kit.tree import inside

IGNORE_FILE: Final = ".terraformignore"
MAX_BYTES: Final = 100 * 1024**2
"""Of the packed archive: it is held in memory, once for all targets of a plan."""
_MAX_IGNORE_BYTES: Final = 256 * 1024
_CONFIGURATION: Final = (".tf", ".tf.json", ".tofu", ".tofu.json")


@dataclass(frozen=True, slots=True)
class Archive:
    """What is uploaded, and the folder of the root module in it ("" is its top)."""

    content: bytes = field(repr=False)
    files: int


def archive_root(tree: Path, path: str, working_directory: str) -> str:
    """Which folder of the repository becomes the archive's root.

    The root module's own, unless the workspace has a working directory: that is a path in the
    archive, so the archive is of the whole repository then. Raises AgentRejected where the two do
    not mean the same folder.
    """
    path, working = path.strip("/"), working_directory.strip("/")
    if not working:
        return path
    if not path or _same(path, working):
        return "" if inside(tree, working).is_dir() else _absent(working)
    if inside(tree, f"{path}/{working}").is_dir():
        return path
    raise AgentRejected(
        f"the workspace's working directory is {working!r} and repository.path {path!r}: make them "
        "one folder, or leave path out"
    )


def _same(one: str, other: str) -> bool:
    return os.path.normpath(one) == os.path.normpath(other)


def _absent(working: str) -> str:
    raise AgentRejected(
        f"the workspace's working directory {working!r} is not in the repository at this commit"
    )


def pack(tree: Path, root: str, module: str) -> Archive:
    """The files below `tree/root` that `.terraformignore` leaves in.

    `module` is the folder of the root module below `root`; one without a configuration file is
    refused, as it would plan to destroy everything. Raises AgentRejected for a link that leads
    out of the archive, and for an archive over `MAX_BYTES`.
    """
    folder = inside(tree, root)
    if not folder.is_dir():
        raise AgentRejected(f"there is no folder {root!r} in the repository at this commit")
    ignore = Ignore(_ignore_lines(folder))
    names = sorted(_names(folder, ignore), key=os.fsencode)
    _check_module(names, module)
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=6, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name in names:
            _add(tar, folder, name)
            _check_size(buffer, root)
    _check_size(buffer, root)
    return Archive(buffer.getvalue(), len(names))


def _check_size(buffer: io.BytesIO, root: str) -> None:
    if buffer.tell() > MAX_BYTES:
        raise AgentRejected(
            f"the configuration in {root or 'the repository'} is over {MAX_BYTES:,} bytes packed; "
            f"leave out what Terraform does not read with a {IGNORE_FILE}"
        )


def _check_module(names: list[str], module: str) -> None:
    """Without a configuration a plan destroys everything: a wrong path must not look like that."""
    top = f"{module.strip('/')}/" if module.strip("/") else ""
    here = (name.removeprefix(top) for name in names if name.startswith(top))
    if not any("/" not in name and name.endswith(_CONFIGURATION) for name in here):
        raise AgentRejected(
            f"there is no Terraform configuration in {module or 'the archive'!s}: check "
            "repository.path, the workspace's working directory and .terraformignore"
        )


def _ignore_lines(folder: Path) -> list[str]:
    path = folder / IGNORE_FILE
    if path.is_symlink() or not path.is_file():
        return []
    with path.open("rb") as file:
        content = file.read(_MAX_IGNORE_BYTES + 1)
    if len(content) > _MAX_IGNORE_BYTES:
        raise AgentRejected(f"{IGNORE_FILE} is over {_MAX_IGNORE_BYTES:,} bytes")
    return content.decode("utf-8", "replace").splitlines()


def _names(folder: Path, ignore: Ignore) -> Iterator[str]:
    """Files, and links to whatever, from the archive's root; folders need no entry."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        if parent == str(folder) and ".git" in folders:
            folders.remove(".git")
        for name in (*files, *links):
            path = Path(parent, name).relative_to(folder).as_posix()
            if not ignore.leaves_out(path):
                yield path


def _add(tar: tarfile.TarFile, folder: Path, name: str) -> None:
    path = folder / name
    entry = tarfile.TarInfo(name)
    if path.is_symlink():
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, _link(folder, name), 0o777
        tar.addfile(entry)
        return
    entry.mode = 0o755 if os.access(path, os.X_OK) else 0o644
    entry.size = path.stat().st_size
    with path.open("rb") as file:
        tar.addfile(entry, file)


def _link(folder: Path, name: str) -> str:
    target = os.readlink(folder / name)
    if os.path.isabs(target) or not _leads_inside(folder, name):
        raise AgentRejected(
            f"{name} is a link that leads out of what is uploaded: give the workspace a working "
            f"directory, so that the whole repository is uploaded, or name it in {IGNORE_FILE}"
        )
    return target


def _leads_inside(folder: Path, name: str) -> bool:
    try:
        inside(folder, name)
    except AgentRejected:
        return False
    return True
