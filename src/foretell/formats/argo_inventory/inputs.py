"""What an Application is rendered from: folders, files and patterns of its repository.

More than it reads is no harm, less would hide a change: what cannot be known is said, and whoever
chooses then takes the Application.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from foretell.formats.argo_inventory.application import (
    GENERATE_PATHS,
    Application,
    Source,
    clean,
)
from foretell.formats.argo_inventory.reading import references
from foretell.formats.argo_inventory.tree import Tree

_MOST = 10_000
"""Folders and files of one Application, before it counts as one that reads everything."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """`places` are folders and files from the root, "" the root itself, and Go patterns of them.

    `undecided` says why there may be more; "" where there is not.
    """

    places: frozenset[str] = frozenset()
    undecided: str = ""


def inputs(one: Application, tree: Tree | None) -> Inputs:
    """What of the repository `one` is rendered from, as it is in `tree`; None: nobody knows."""
    if one.spec.get("sourceHydrator"):
        return Inputs(undecided="it is hydrated from another folder")
    places: set[str] = set()
    for place, source in enumerate(one.sources):
        told = one.types[place] if place < len(one.types) else ""
        found = _of_source(one, source, told, tree)
        if found.undecided:
            return found
        places |= found.places
    return _with_references(places, tree)


def _of_source(one: Application, source: Source, told: str, tree: Tree | None) -> Inputs:
    values = _files(one, source)
    if not source.is_here or not source.fields.get("path"):
        return values
    declared = _declared(one)
    reason = "" if declared else _unknown(source, told, tree)
    own = declared or {source.path}
    overrides = (".argocd-source.yaml", f".argocd-source-{one.name}.yaml")
    own |= {clean(posixpath.join(source.path, name)) for name in overrides}
    if tree is not None:
        # Argo CD renders the chart or the overlay of its folder, whatever else was declared.
        own |= set(references(tree, source.path))
    return Inputs(values.places | own, values.undecided or reason)


def _declared(one: Application) -> set[str]:
    """The annotation's paths: from the root with a slash, else from the folder of every source."""
    text = str(one.annotations.get(GENERATE_PATHS) or "")
    found = set()
    for item in filter(None, text.split(";")):
        if item.startswith("/"):
            found.add(clean(item))
        else:
            found |= {clean(posixpath.join(each.path, item)) for each in one.here}
    return found


def _unknown(source: Source, told: str, tree: Tree | None) -> str:
    if told == "Plugin" or "plugin" in source.fields:
        return "a plugin may read any file"
    if tree is None:
        return "the repository is not here to be looked at"
    if any(name.endswith((".jsonnet", ".libsonnet")) for name in tree.below(source.path)):
        return "Jsonnet may import any file"
    return ""


def _files(one: Application, source: Source) -> Inputs:
    """Files and folders that the source names in its own fields."""
    helm, found = source.part("helm"), set[str]()
    values = [str(each) for each in helm.get("valueFiles") or ()]
    values += [str(each.get("path") or "") for each in helm.get("fileParameters") or ()]
    for text in filter(None, values):
        where = _value_file(one, source, text.replace("$ARGOCD_APP_NAME", one.name))
        if where is None:
            return Inputs(undecided=f"nobody knows which file {text} is")
        found |= {where} if where else set()
    if source.is_here:
        found |= set(_folders(source))
    return Inputs(frozenset(found))


def _value_file(one: Application, source: Source, text: str) -> str | None:
    """The file's path; "" for one that is not in this repository, None where nobody knows."""
    if "://" in text:
        return ""
    if text.startswith("$"):
        name, _, below = text[1:].partition("/")
        given = next((each for each in one.sources if each.ref == name), None)
        if given is None or "$" in below:
            return None
        return clean(below) if given.is_here else ""
    if "$" in text:
        return None
    if not source.is_here:
        return ""
    return clean(text if text.startswith("/") else posixpath.join(source.path, text))


def _folders(source: Source) -> Iterator[str]:
    for each in source.part("kustomize").get("components") or ():
        yield clean(posixpath.join(source.path, str(each)))
    jsonnet = source.part("directory").get("jsonnet")
    for each in (jsonnet.get("libs") if isinstance(jsonnet, dict) else None) or ():
        yield clean(str(each))


def _with_references(places: set[str], tree: Tree | None) -> Inputs:
    """With all that the charts, overlays and links among them refer to, however far it leads."""
    if tree is None:
        return Inputs(frozenset(places))
    waiting = sorted(places)
    while waiting:
        for found in references(tree, waiting.pop()):
            if found not in places:
                places.add(found)
                waiting.append(found)
        if len(places) > _MOST:
            return Inputs(undecided=f"it reads more than {_MOST:,} places")
    return Inputs(frozenset(places))
