"""What charts, overlays and links refer to beyond their own folder."""

import posixpath
from collections.abc import Iterator
from typing import Any

from foretell.domain.errors import InvalidRequest
from foretell.formats.argo_inventory.application import clean
from foretell.formats.argo_inventory.tree import Tree
from foretell.formats.yaml import load_documents

CHART_FILES = ("Chart.yaml", "requirements.yaml")
KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""`RecognizedKustomizationFileNames` of kubernetes-sigs/kustomize."""


def references(tree: Tree, place: str) -> Iterator[str]:
    """The files and folders that `place` refers to directly; some may be inside of it."""
    yield from map(clean, tree.links(place))
    for name in CHART_FILES:
        yield from _dependencies(tree, place, name)
    for name in KUSTOMIZATION_FILES:
        yield from _bases(tree, place, name)


def _dependencies(tree: Tree, folder: str, name: str) -> Iterator[str]:
    """Charts of the same repository (Helm, "Chart Dependencies": `file://` and a path)."""
    chart = _document(tree, posixpath.join(folder, name))
    for each in (chart.get("dependencies") if isinstance(chart, dict) else None) or ():
        address = str(each.get("repository") or "") if isinstance(each, dict) else ""
        if address.startswith("file://"):
            yield clean(posixpath.join(folder, address.removeprefix("file://")))


def _bases(tree: Tree, folder: str, name: str) -> Iterator[str]:
    """Whatever an overlay names that is there, in whichever field: its fields grow every year.

    A path that leads upwards counts even where nothing is: what was there may just be deleted.
    """
    for text in _texts(_document(tree, posixpath.join(folder, name))):
        for part in (text, text.rpartition("=")[2]):  # configMapGenerator: KEY=PATH
            if not part or "\n" in part or "://" in part or part.startswith("/"):
                continue
            path = clean(posixpath.join(folder, part))
            if part.startswith("../") or tree.is_file(path) or tree.is_folder(path):
                yield path


def _document(tree: Tree, path: str) -> Any:
    text = tree.text(path)
    if text is None:
        return None
    try:
        documents = load_documents(text, source=path)
    except InvalidRequest:
        return None  # it renders nothing until it is mended, and mending it is a change of it
    return documents[0].value if documents else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
