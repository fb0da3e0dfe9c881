"""A rendered stream -> the objects in it, by identity.

Lists are flattened, objects that only get a name from the server get a stable one here, a repeated
object is reported and its last occurrence kept, as `kubectl apply` would leave it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from foretell.domain.errors import InvalidRequest
from foretell.formats.kubernetes.identity import (
    CLUSTER_SCOPED,
    GroupKind,
    Identity,
    group_of,
    scopes,
)
from foretell.formats.kubernetes.options import CompareOptions, Rendered
from foretell.formats.kubernetes.spelling import spelled
from foretell.formats.yaml import load_documents

_PULL_PROGRESS = re.compile(r"\A\s*Pulled: \S+\nDigest: sha256:[0-9a-f]*\S*\n")
_LIST_DEPTH = 20
_SHOWN_KEYS = 4

Known = dict[str, list[tuple[Any, int]]]
Value = dict[str, Any]
Placed = tuple[Value, str]
"""An object and where it is: document, source and line."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object as rendered; never change `value` in place, equal documents share it."""

    identity: Identity
    value: Value
    place: str


@dataclass(frozen=True, slots=True)
class Stream:
    """The objects of one side, in their order, and what to tell people about them."""

    manifests: tuple[Manifest, ...]
    warnings: tuple[str, ...] = ()

    def by_identity(self) -> dict[Identity, Manifest]:
        """Each object once."""
        return {manifest.identity: manifest for manifest in self.manifests}


def read_streams(sides: list[tuple[Rendered, str]], options: CompareOptions) -> list[Stream]:
    """The sides of one comparison, each with a name for what has none of its own.

    What one says about scopes holds for all. Raises InvalidRequest that names document, source
    and line.
    """
    known: Known = {}
    loaded = [_side(rendered, source, options, known) for rendered, source in sides]
    scope = _scope([placed for objects, _ in loaded for placed in objects], options)
    return [_stream(objects, warnings, scope) for objects, warnings in loaded]


def _side(
    rendered: Rendered, source: str, options: CompareOptions, known: Known
) -> tuple[list[Placed], list[str]]:
    objects: list[Placed] = []
    warnings: list[str] = []
    named = [(rendered, source)] if isinstance(rendered, str | bytes) else rendered
    for text, name in named:
        objects += _objects(text, name, options, known, warnings)
    return objects, warnings


def _objects(
    text: str | bytes, source: str, options: CompareOptions, known: Known, warnings: list[str]
) -> Iterator[Placed]:
    text = text.decode() if isinstance(text, bytes) and _is_progress(text) else text
    if isinstance(text, str) and (progress := _PULL_PROGRESS.match(text)):
        text = text[progress.end() :]
        warnings.append(f"{source}: left out the renderer's own progress text (Pulled, Digest)")
    for document in load_documents(text, source=source, limits=options.limits, known=known):
        place = f"document {document.number} of {source} (line {document.line})"
        for value in _flat(spelled(document, place, warnings), _LIST_DEPTH, place):
            if value["apiVersion"].startswith("kustomize.config.k8s.io/"):
                warnings.append(f"{place} is input for kustomize, not an object; left out")
            else:
                yield value, place


def _is_progress(text: bytes) -> bool:
    return text.lstrip().startswith(b"Pulled: ") and text.isascii()


def _flat(value: Any, depth: int, place: str) -> Iterator[Value]:
    """The object, or the objects of a list. A custom kind that merely ends in List has a name."""
    if not isinstance(value, dict):
        raise InvalidRequest(
            f"{place} is {_noun(value)}, not an object; only manifests may be on the renderer's"
            " standard output"
        )
    kind, api_version = (_text(value, field, field, place) for field in ("kind", "apiVersion"))
    if not kind or not api_version:
        raise InvalidRequest(f"{place} has no apiVersion and kind{_keys(value)}")
    if not _is_list(value, kind):
        yield value
        return
    if depth == 0:
        raise InvalidRequest(f"{place} has lists in lists, more than {_LIST_DEPTH} deep")
    item_type = {"apiVersion": api_version, "kind": kind.removesuffix("List")}
    for item in value.get("items") or ():
        bare = isinstance(item, dict) and "kind" not in item and kind != "List"
        yield from _flat({**item_type, **item} if bare else item, depth - 1, place)


def _is_list(value: Value, kind: str) -> bool:
    if not kind.endswith("List") or not isinstance(value.get("items", []), list | None):
        return False
    metadata = value.get("metadata")
    named = isinstance(metadata, dict) and ("name" in metadata or "generateName" in metadata)
    return kind == "List" or ("items" in value and not named and "spec" not in value)


def _noun(value: Any) -> str:
    match value:
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case str():
            return "text"
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case _:
            return "a number"


def _keys(value: Value) -> str:
    keys = [key for key in sorted(value) if len(key) < 40][:_SHOWN_KEYS]
    more = ", …" if len(value) > len(keys) else ""
    return f"; its fields are {', '.join(keys)}{more}" if keys else ""


def _text(mapping: Value, field: str, path: str, place: str) -> str:
    """A field that must be text; "" when it is not there."""
    value = mapping.get(field)
    if value is None or isinstance(value, str):
        return value or ""
    hint = "" if isinstance(value, list | dict) else ": put it in quotes"
    if isinstance(value, bool):
        hint += " (without them n, no, off, y, yes and on are true or false)"
    raise InvalidRequest(f"{place}: {path} is {_noun(value)}, expected text{hint}")


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which namespace an object is in. One that is written down is kept, whatever the kind."""

    default: str
    cluster: frozenset[GroupKind]
    written: dict[tuple[str, str, str], set[str]]

    def namespace(self, group: str, kind: str, name: str, written: str) -> str:
        if written or (group, kind) not in self.cluster:
            return written or self.default
        elsewhere = self.written.get((group, kind, name), set())
        return next(iter(elsewhere)) if len(elsewhere) == 1 else ""


def _scope(objects: list[Placed], options: CompareOptions) -> _Scope:
    """A cluster-scoped object with a namespace on one side only is one object, not two."""
    values = [value for value, _ in objects]
    cluster = CLUSTER_SCOPED | options.cluster_scoped | scopes(values)
    written: dict[tuple[str, str, str], set[str]] = {}
    for value in values:
        key = (group_of(value["apiVersion"]), value["kind"])
        match value.get("metadata"):
            case {"name": str(name), "namespace": str(namespace)} if key in cluster and namespace:
                written.setdefault((*key, name), set()).add(namespace)
            case _:
                pass
    return _Scope(options.default_namespace, cluster, written)


def _stream(objects: list[Placed], warnings: list[str], scope: _Scope) -> Stream:
    found: dict[Identity, Manifest] = {}
    generated: list[Manifest] = []
    for value, place in objects:
        manifest = Manifest(_identity(value, place, scope), value, place)
        if not manifest.identity.name:
            generated.append(manifest)
            continue
        twin = found.pop(manifest.identity, None)
        if twin is not None:
            places = f"in {place}" if place == twin.place else f"in {twin.place} and {place}"
            warnings.append(f"{manifest.identity.title} is there twice, {places}; the last counts")
        found[manifest.identity] = manifest
    return Stream((*found.values(), *generated), tuple(warnings))


def _identity(value: Value, place: str, scope: _Scope) -> Identity:
    metadata, kind = value.get("metadata"), value["kind"]
    where = f"{place}, a {kind}"
    if not isinstance(metadata, dict):
        raise InvalidRequest(f"{where}, has no metadata")
    name, written, prefix = (
        _text(metadata, field, f"metadata.{field}", where)
        for field in ("name", "namespace", "generateName")
    )
    if not name and not prefix:
        raise InvalidRequest(f"{where}, has no metadata.name")
    group = group_of(value["apiVersion"])
    return Identity(group, kind, scope.namespace(group, kind, name, written), name)
