"""What is the same to the cluster becomes the same value, before anything is compared.

Only what cannot be content is taken out: Argo CD's own tracking marks and, on a live side, what
the server owns. Everything else that is to be hidden takes a rule, and is counted.
"""

import base64
import binascii
import json
import re
from typing import Any

from foretell.formats.kubernetes.options import CompareOptions, Tracking
from foretell.formats.kubernetes.stream import Manifest

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_TRACKING_ANNOTATIONS = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id")
_TRACKING_ID = re.compile(r"[^:]+:[^:/]*/[^:/]+:[^:/]*/.+")
_PLUSES = re.compile(r"\+{3,}")
_SERVER_OWNED = (
    "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
    "managedFields", "resourceVersion", "selfLink", "uid",
)  # fmt: skip

Value = dict[str, Any]


class Normaliser:
    """Remembers what it made of a value, so that a value on both sides stays one value."""

    def __init__(self, options: CompareOptions) -> None:
        self._options = options
        self._made: dict[tuple[int, str], tuple[Value, Value]] = {}

    def value(self, manifest: Manifest) -> Value:
        """The object without tracking marks, its namespace written out, stringData merged."""
        key = (id(manifest.value), manifest.identity.namespace)
        made = self._made.get(key)
        if made is None or made[0] is not manifest.value:
            made = self._made[key] = (manifest.value, self._normalised(manifest))
        return made[1]

    def _normalised(self, manifest: Manifest) -> Value:
        value = _without_tracking(manifest.value, self._options)
        metadata = value["metadata"]
        namespace = manifest.identity.namespace
        if namespace and not metadata.get("namespace"):
            value = {**value, "metadata": {**metadata, "namespace": namespace}}
        return merged_string_data(value) if is_secret(value) else value


def is_secret(value: Any) -> bool:
    """Secret-shaped, in whatever group or wrapping: better masked once too often."""
    return (
        isinstance(value, dict)
        and isinstance(kind := value.get("kind"), str)
        and kind.strip().lower() == "secret"
    )


def merged_string_data(secret: Value) -> Value:
    """`stringData` written over `data` and encoded, as the API server does on every write."""
    if "stringData" not in secret:
        return secret
    given, data = secret["stringData"], secret.get("data")
    if not isinstance(given, dict | None) or not isinstance(data, dict | None):
        return secret
    encoded = {
        key: base64.b64encode(item.encode()).decode() if isinstance(item, str) else item
        for key, item in (given or {}).items()
    }
    rest = {key: item for key, item in secret.items() if key != "stringData"}
    return {**rest, "data": {**(data or {}), **encoded}} if encoded else rest


def is_hidden_by_server(secret: Value) -> bool:
    """Whether its values are runs of `+`: Argo CD's API answers so, whatever they are."""
    data = secret.get("data")
    values = list(data.values()) if isinstance(data, dict) else []
    return any(isinstance(item, str) and _PLUSES.fullmatch(item) for item in values)


def decoded(item: Any) -> Any:
    """The bytes of one `data` value; the value itself where it is no base64."""
    if not isinstance(item, str):
        return item
    try:
        return base64.b64decode("".join(item.split()), validate=True)
    except (binascii.Error, ValueError):
        return item


def _without_tracking(value: Value, options: CompareOptions) -> Value:
    metadata = value["metadata"]
    marks = {
        "annotations": {
            key
            for key, item in _mapping(metadata, "annotations").items()
            if _is_tracking_annotation(key, item)
        },
        "labels": {
            key
            for key, item in _mapping(metadata, "labels").items()
            if _is_tracking_label(key, item, options)
        },
    }
    if not any(marks.values()):
        return value
    return {**value, "metadata": _stripped(metadata, marks)}


def _stripped(metadata: Value, marks: dict[str, set[str]]) -> Value:
    kept = dict(metadata)
    for field, names in marks.items():
        if names:
            left = {key: item for key, item in metadata[field].items() if key not in names}
            kept[field] = left
            if not left:
                del kept[field]
    return kept


def _mapping(metadata: Value, field: str) -> Value:
    found = metadata.get(field)
    return found if isinstance(found, dict) else {}


def _is_tracking_annotation(key: str, item: Any) -> bool:
    if key not in _TRACKING_ANNOTATIONS:
        return False
    if key == _TRACKING_ANNOTATIONS[0]:
        return isinstance(item, str) and _TRACKING_ID.fullmatch(item) is not None
    return True


def _is_tracking_label(key: str, item: Any, options: CompareOptions) -> bool:
    if options.tracking is Tracking.ANNOTATION or key != options.tracking_label:
        return False
    return not options.tracking_names or item in options.tracking_names


def as_desired(live: Value, desired: Value | None) -> Value:
    """A live object cut down to what somebody asked for: fields of `desired` or last applied.

    What only the server set (status, defaults, bookkeeping) is no change when a plan leaves it be.
    """
    metadata = {key: item for key, item in live["metadata"].items() if key not in _SERVER_OWNED}
    value = {key: item for key, item in live.items() if key != "status"} | {"metadata": metadata}
    applied = _last_applied(metadata)
    if "annotations" in metadata and LAST_APPLIED in _mapping(metadata, "annotations"):
        value["metadata"] = _stripped(metadata, {"annotations": {LAST_APPLIED}})
    if applied is not None and is_secret(applied):
        applied = merged_string_data(applied)
    if desired is None and applied is None:
        return value
    asked = [part for part in (desired, applied) if part is not None]
    pruned: Value = _pruned(value, asked)
    for field in ("apiVersion", "kind", "metadata"):
        pruned.setdefault(field, value[field])
    pruned["metadata"].setdefault("name", metadata.get("name"))
    return pruned


def _last_applied(metadata: Value) -> Value | None:
    text = _mapping(metadata, "annotations").get(LAST_APPLIED)
    try:
        applied = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return applied if isinstance(applied, dict) else None


def _pruned(live: Any, asked: list[Any]) -> Any:
    if isinstance(live, dict):
        maps = [part for part in asked if isinstance(part, dict)]
        if not maps:
            return live
        return {
            key: _pruned(item, [part[key] for part in maps if key in part])
            for key, item in live.items()
            if any(key in part for part in maps)
        }
    if isinstance(live, list):
        lists = [part for part in asked if isinstance(part, list)]
        return [_pruned(item, _partners(item, at, lists)) for at, item in enumerate(live)]
    return live


def _partners(item: Any, at: int, lists: list[list[Any]]) -> list[Any]:
    """The same item in the other lists: by name where it has one, by place otherwise."""
    name = item.get("name") if isinstance(item, dict) else None
    if name is None:
        return [other[at] for other in lists if at < len(other)]
    return [
        twin
        for other in lists
        for twin in other
        if isinstance(twin, dict) and twin.get("name") == name
    ]
