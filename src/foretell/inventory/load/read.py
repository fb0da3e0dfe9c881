"""From paths or texts to the inventory, in four looks: YAML, shape, sense, agents."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.target import Inventory
from foretell.inventory.load import agents as agent_checks
from foretell.inventory.load import check
from foretell.inventory.load.build import Parts, build
from foretell.inventory.load.schema import InventoryPart
from foretell.inventory.load.source import SourceFile, read_source
from foretell.inventory.wording import complaints
from foretell.ports import Agents

DEFAULT_WORKSPACE = "default"
_ENDINGS = (".yaml", ".yml")
_FILE_BYTES = 16 * 1024 * 1024

Read = Callable[[str], str]
"""The text of a file by its name; raises InvalidRequest where there is none."""


@dataclass(frozen=True, slots=True)
class LoadedInventory:
    """`workspace` is the slug that the files name; `warnings` are nothing to stop at."""

    workspace: str
    inventory: Inventory
    warnings: tuple[Problem, ...] = ()


def load(paths: Sequence[Path], *, agents: Agents | None = None) -> LoadedInventory:
    """The inventory of YAML files and folders of them, read as one.

    A folder is read with its subfolders, without hidden ones. With `agents`, their configuration
    is checked too. Raises InvalidRequest whose `problems` name every place that is wrong.
    """
    texts = {str(file): _text(file) for file in inventory_files(paths)}
    roots = [path if path.is_dir() else path.parent for path in paths]
    return parse(texts, agents=agents, read=lambda name: _below(roots, Path(name)))


def inventory_files(paths: Sequence[Path]) -> list[Path]:
    """The files that `load` reads, each once. Raises InvalidRequest where there is none."""
    return list(dict.fromkeys(file for path in paths for file in _yaml_files(path)))


def parse(
    files: Mapping[str, str], *, agents: Agents | None = None, read: Read | None = None
) -> LoadedInventory:
    """The inventory of texts by file name: the same as `load`, for a revision or a request.

    A rule's `file` is read by `read`, from among `files` when there is none.
    """
    known = dict(files)
    sources = [read_source(name, text) for name, text in known.items() if name.endswith(_ENDINGS)]
    parts, workspace = _shaped(sources)
    rego = _RuleFiles(read or _among(known))
    _raise(check.problems(parts, rego.problem))
    inventory = build(workspace, parts, rego.text)
    if agents is None:
        return LoadedInventory(workspace, inventory)
    _raise(agent_checks.config_problems(parts, inventory, agents))
    return LoadedInventory(
        workspace, inventory, tuple(agent_checks.warnings(parts, inventory, agents))
    )


def _raise(problems: Sequence[Problem]) -> None:
    if problems:
        places = "one place" if len(problems) == 1 else f"{len(problems)} places"
        raise InvalidRequest(f"the inventory is wrong in {places}", problems)


def _shaped(sources: Sequence[SourceFile]) -> tuple[Parts, str]:
    parts, problems = Parts(), []
    workspaces: dict[str, str] = {}
    for source in sources:
        try:
            part = InventoryPart.model_validate(source.value)
        except ValidationError as error:
            found = complaints(error, InventoryPart)
            problems += [source.problem(each.path, each.message) for each in found]
            continue
        parts.add(source, part)
        if part.workspace is not None:
            workspaces.setdefault(part.workspace, source.name)
            problems += _other_workspace(source, part.workspace, workspaces)
    _raise(problems)
    return parts, next(iter(workspaces), DEFAULT_WORKSPACE)


def _other_workspace(source: SourceFile, name: str, seen: Mapping[str, str]) -> list[Problem]:
    first = next(iter(seen))
    if name == first:
        return []
    message = f"{name!r}, but {seen[first]} says {first!r}; an inventory has one workspace"
    return [source.problem(("workspace",), message)]


class _RuleFiles:
    """The Rego files that rules name, relative to the inventory file that names them."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def text(self, source: SourceFile, file: str) -> str:
        if posixpath.isabs(file):
            raise InvalidRequest("expected a path relative to this file")
        folder = posixpath.dirname(source.name)
        return self._read(posixpath.normpath(posixpath.join(folder, file)))

    def problem(self, source: SourceFile, file: str) -> str | None:
        try:
            text = self.text(source, file)
        except InvalidRequest as error:
            return error.message
        return None if text.strip() else "the file is empty; expected a Rego module"


def _among(files: Mapping[str, str]) -> Read:
    def read(name: str) -> str:
        if name not in files:
            raise InvalidRequest(f"there is no file {name} beside this one; give its text as rego")
        return files[name]

    return read


def _below(roots: Sequence[Path], path: Path) -> str:
    """The text of `path`; a file of rules is part of the inventory, so it lies with it."""
    resolved = path.resolve()
    if not any(resolved.is_relative_to(root.resolve()) for root in roots):
        raise InvalidRequest(f"{path} is outside of the inventory's folder; move it there")
    return _text(path)


def _yaml_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InvalidRequest(f"there is no inventory at {path}: expected a YAML file or a folder")
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix in _ENDINGS and file.is_file() and not _hidden(file.relative_to(path))
    )
    if not found:
        raise InvalidRequest(f"the folder {path} holds no .yaml or .yml file")
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _FILE_BYTES:
            raise InvalidRequest(f"{path} is over {_FILE_BYTES:,} bytes; split it")
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise InvalidRequest(f"{path} can't be read: {error.strerror}") from error
