"""One inventory file: its values, and on which line each of them stands."""

from dataclasses import dataclass
from typing import Any

import yaml

from foretell.domain.errors import InvalidRequest, Problem
from foretell.formats.yaml import Limits, load_documents
from foretell.inventory.wording import written

Path = tuple[str | int, ...]
"""Where a value stands: keys and indexes from the top of the file."""

LIMITS = Limits(characters=16 * 1024 * 1024, documents=1, depth=60, alias_nodes=100_000)
"""An inventory of 10,000 resources is about 4 MB."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`value` as Kubernetes reads YAML, so that a number here is the number that a chart gets."""

    name: str
    value: Any
    root: yaml.Node | None

    def problem(self, path: Path, message: str) -> Problem:
        """`message` about the value at `path`."""
        return Problem(f"{self.name}:{self.line(path)}", written(path), message)

    def line(self, path: Path) -> int:
        """The line (from 1) of the value at `path`, or of what it would stand in."""
        node, line = self.root, 1
        for step in path:
            if node is None:
                break
            line = node.start_mark.line + 1
            node, line = _child(node, step, line)
        return node.start_mark.line + 1 if isinstance(node, yaml.ScalarNode) else line


def read_source(name: str, text: str) -> SourceFile:
    """Raises InvalidRequest that names file and line where `text` is no YAML."""
    documents = load_documents(text, source=name, limits=LIMITS)
    if not documents:
        return SourceFile(name, {}, None)
    return SourceFile(name, documents[0].value, _compose(name, text))


def _compose(name: str, text: str) -> yaml.Node | None:
    try:
        nodes = [*yaml.compose_all(text, Loader=yaml.CSafeLoader)]
    except yaml.YAMLError as error:
        raise InvalidRequest(f"{name} is no YAML that this reads: {error}") from error
    return next((node for node in nodes if isinstance(node, yaml.MappingNode)), None)


def _child(node: yaml.Node, step: str | int, line: int) -> tuple[yaml.Node | None, int]:
    """The node at `step` and the line of its key; (None, `line`) when there is none."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child = node.value[step]
        return child, child.start_mark.line + 1
    return None, line
