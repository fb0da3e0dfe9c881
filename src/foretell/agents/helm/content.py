"""What is in a chart: its digest, default values, dependencies, and whether it is steady."""

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.formats.yaml import load_documents

CHART_BYTES = 64 * 1024 * 1024
"""Of all files of a chart, unpacked. Helm itself stops at 100 MB."""
_FILES = 20_000
_UNSTEADY = re.compile(
    rb"\{\{[^{}]*\b(?:now|ago|rand\w*|uuidv4|shuffle|genPrivateKey|genCA\w*|genSelfSigned\w*"
    rb"|genSigned\w*|htpasswd|bcrypt|encryptAES)\b"
)
_PACKED_DEPENDENCY = re.compile(r"(?:^|/)charts/[^/]+\.tgz\Z")


@dataclass(frozen=True, slots=True)
class Dependency:
    """An entry of Chart.yaml's `dependencies`."""

    name: str
    repository: str


@dataclass(frozen=True, slots=True)
class Content:
    """`unsteady`: it calls a function that answers differently each time, or may."""

    fingerprint: str
    values: dict[str, Any]
    unsteady: bool
    dependencies: tuple[Dependency, ...]
    vendored: frozenset[str]

    @property
    def missing(self) -> tuple[Dependency, ...]:
        """Dependencies that are not in `charts/`."""
        return tuple(each for each in self.dependencies if each.name not in self.vendored)


def read_content(path: Path) -> Content:
    """Of a folder or a packed file. Raises AgentRejected where it is no chart or too large."""
    digest = hashlib.sha256()
    kept: dict[str, bytes] = {}
    unsteady, names, total = False, set(), 0
    for count, (name, data) in enumerate(_files(path)):
        total += len(data)
        if total > CHART_BYTES or count >= _FILES:
            raise AgentRejected(
                f"chart {path.name} is over {CHART_BYTES:,} bytes or {_FILES:,} files"
            )
        digest.update(f"{len(name)}:{name}:{len(data)}:".encode())
        digest.update(data)
        names.add(name)
        unsteady = unsteady or _is_unsteady(name, data)
        if name in ("Chart.yaml", "values.yaml", "requirements.yaml"):
            kept[name] = data
    if "Chart.yaml" not in kept:
        raise AgentRejected(f"there is no chart at {path.name}: expected a Chart.yaml in it")
    return Content(
        fingerprint=digest.hexdigest(),
        values=_mapping(kept.get("values.yaml", b""), "values.yaml"),
        unsteady=unsteady,
        dependencies=_dependencies(kept),
        vendored=frozenset(_vendored(names)),
    )


def _files(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                yield file.relative_to(path).as_posix(), _bounded(file)
        return
    yield from _packed(_bounded(path), path.name)


def _bounded(file: Path) -> bytes:
    if file.stat().st_size > CHART_BYTES:
        raise AgentRejected(f"{file.name} is over {CHART_BYTES:,} bytes")
    return file.read_bytes()


def _packed(data: bytes, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of a packed chart, without the folder that they all lie in."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            left = CHART_BYTES
            for member in archive:
                left -= member.size
                if left < 0:
                    raise AgentRejected(
                        f"packed chart {name} unpacks to over {CHART_BYTES:,} bytes"
                    )
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    yield "/".join(PurePosixPath(member.name).parts[1:]), file.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise AgentRejected(f"{name} is no packed chart: {error}") from error


def _is_unsteady(name: str, data: bytes) -> bool:
    if "templates/" in name or name.endswith("values.yaml"):
        return _UNSTEADY.search(data) is not None
    if _PACKED_DEPENDENCY.search(name):
        return any(_is_unsteady(inner, each) for inner, each in _packed(data, name))
    return False


def _mapping(data: bytes, name: str) -> dict[str, Any]:
    try:
        documents = load_documents(data, source=f"the chart's {name}")
    except InvalidRequest as error:
        raise AgentRejected(str(error)) from error
    value = documents[0].value if documents else {}
    if not isinstance(value, dict):
        raise AgentRejected(f"the chart's {name} is wrong: expected a map")
    return value


def _dependencies(kept: dict[str, bytes]) -> tuple[Dependency, ...]:
    found = _mapping(kept["Chart.yaml"], "Chart.yaml").get("dependencies")
    if found is None and "requirements.yaml" in kept:
        found = _mapping(kept["requirements.yaml"], "requirements.yaml").get("dependencies")
    if not isinstance(found, list):
        return ()
    return tuple(
        Dependency(str(each.get("name", "")), str(each.get("repository") or ""))
        for each in found
        if isinstance(each, dict)
    )


def _vendored(names: set[str]) -> Iterator[str]:
    """Names of what lies in `charts/`: a folder's, and what a packed file's can be."""
    for name in names:
        parts = name.split("/")
        if parts[0] == "charts" and len(parts) > 1:
            yield parts[1]
            if parts[1].endswith(".tgz"):
                stem = parts[1].removesuffix(".tgz").split("-")
                yield from ("-".join(stem[:end]) for end in range(1, len(stem)))
