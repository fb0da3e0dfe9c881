"""Names that YAML takes for true or false, as they are spelled.

Kubernetes reads `namespace: n` as false and refuses the object. People write it all the same, in
examples and tests above all, and what they mean is clear: the change is shown, with a warning.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from foretell.formats.yaml import Document

Path = tuple[str | int, ...]
_FIELDS = ("name", "namespace", "generateName")


def spelled(document: Document, place: str, warnings: list[str]) -> Any:
    """The document's value with such names as text; itself where there is none, or no text."""
    unread = list(_booleans(document.value))
    if not unread or not document.text:
        return document.value
    # Every scalar is text here. That the document is well-formed and small is known by now.
    source = yaml.load(document.text, Loader=yaml.CBaseLoader)
    value = document.value
    for path in unread:
        text = _at(source, path)
        if isinstance(text, str):
            value = _with(value, path, text)
            warnings.append(
                f"{place}: {'.'.join(map(str, path))} is taken for the text {text!r}; Kubernetes"
                " reads true or false there unless it is put in quotes"
            )
    return value


def _booleans(value: Any) -> Iterator[Path]:
    if not isinstance(value, dict):
        return
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        for field in _FIELDS:
            if isinstance(metadata.get(field), bool):
                yield ("metadata", field)
    items = value.get("items")
    for index, item in enumerate(items if isinstance(items, list) else ()):
        for path in _booleans(item):
            yield ("items", index, *path)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _with(value: Any, path: Path, text: str) -> Any:
    """A copy: equal documents share their value."""
    if not path:
        return text
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _with(value[path[0]], path[1:], text)
    return copy
