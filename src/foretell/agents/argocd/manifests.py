"""What an Application renders, as it would be under the original's name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foretell.agents.argocd.documents import JsonMap, Manifests
from foretell.domain.errors import InvalidRequest

TRACKING_ID = "argocd.argoproj.io/tracking-id"
_KNOWN_DIGITS = 6
"""Digits of a temporary name's hash that may be cut off (by `trunc`) and the name still be seen."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One render. `leaks`: titles of objects in which a temporary name still is."""

    text: str = field(repr=False)
    revision: str = ""
    leaks: tuple[str, ...] = ()


NOTHING = Rendered("")


def as_rendered(found: Manifests) -> Rendered:
    """Of an Application that is called what it is called."""
    return Rendered("\n---\n".join(found.manifests), found.revision)


def as_original(found: Manifests, temporary: str, original: str, namespace: str) -> Rendered:
    """Of a temporary one: its marks say the original's name, as the original's would.

    Only marks are changed, and only where they hold the whole name: whatever else holds it did not
    come from Argo CD, and is told.
    """
    documents, leaks = [], []
    names = {temporary: original, f"{namespace}_{temporary}": f"{namespace}_{original}"}
    trace = temporary[:-_KNOWN_DIGITS]
    for manifest in found.manifests:
        if trace not in manifest:
            documents.append(manifest)
            continue
        value = _marked(_parsed(manifest), names)
        documents.append(json.dumps(value))
        if trace in documents[-1]:
            leaks.append(_title(value))
    return Rendered("\n---\n".join(documents), found.revision, tuple(leaks))


def _parsed(manifest: str) -> JsonMap:
    try:
        value = json.loads(manifest)
    except ValueError as error:
        raise InvalidRequest(f"Argo CD rendered what is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidRequest("Argo CD rendered what is no object")
    return value


def _marked(value: JsonMap, names: Mapping[str, str]) -> JsonMap:
    """Both ways in which Argo CD marks what is an Application's, and the pods of the old label."""
    changed = {**value, "metadata": _metadata(value.get("metadata"), names)}
    match value:
        case {"spec": {"template": {"metadata": dict(metadata)} as template} as spec}:
            pod = {**template, "metadata": _metadata(metadata, names)}
            changed["spec"] = {**spec, "template": pod}
        case _:
            pass
    return changed


def _metadata(metadata: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    changed = dict(metadata)
    if isinstance(labels := metadata.get("labels"), dict):
        changed["labels"] = {
            key: names.get(value, value) if isinstance(value, str) else value
            for key, value in labels.items()
        }
    match metadata:
        case {"annotations": {"argocd.argoproj.io/tracking-id": str(mark)} as annotations}:
            owner, colon, rest = mark.partition(":")
            marked = names.get(owner, owner) + colon + rest
            changed["annotations"] = {**annotations, TRACKING_ID: marked}
        case _:
            pass
    return changed


def _title(value: JsonMap) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return f"{value.get('kind', 'object')}/{name}"
