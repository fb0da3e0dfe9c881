"""The kind `values`: what a release is told, on both sides, without what is secret in it."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from foretell.domain.diff import unified_diff
from foretell.domain.digest import Key, keyed_digest
from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Kind, KindResult
from foretell.formats.yaml import dump, load_documents

KIND = Kind("values")
SAME, OLD, NEW = "<masked>", "<masked-old>", "<masked-new>"
_PART_OF_TEXT = 6  # a shorter secret is only looked for as the whole value

Hides = Callable[[Any], bool]


def values_result(
    current: Mapping[str, Any] | None,
    proposed: Mapping[str, Any] | None,
    hides: Hides,
    key: Key,
) -> KindResult:
    """Both sides as canonical YAML. What `hides` says is secret becomes a mark that tells only
    whether it changed. The content hash is of the values themselves, and keyed."""
    before = _text(current, proposed, hides, OLD)
    after = _text(proposed, current, hides, NEW)
    change = unified_diff(
        before, after, current_name="values (current)", proposed_name="values (proposed)"
    )
    return KindResult(
        kind=KIND,
        current=before,
        proposed=after,
        has_changes=_canonical(current) != _canonical(proposed),
        content_hash=keyed_digest("k1", key.secret, proposed),
        plan_key_id=key.id,
        diff=change.text,
        additions=change.additions,
        deletions=change.deletions,
    )


def _canonical(values: Mapping[str, Any] | None) -> str:
    return "" if values is None else dump(values)


def _text(
    mine: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, hides: Hides, changed: str
) -> str:
    return "" if mine is None else dump(_masked(mine, theirs or {}, hides, changed))


def _masked(mine: Any, theirs: Any, hides: Hides, changed: str) -> Any:
    if isinstance(mine, Mapping):
        other = theirs if isinstance(theirs, Mapping) else {}
        return {key: _masked(value, other.get(key), hides, changed) for key, value in mine.items()}
    if isinstance(mine, list):
        other_items = theirs if isinstance(theirs, list) else []
        padded = [*other_items, *[None] * len(mine)]
        return [_masked(mine[i], padded[i], hides, changed) for i in range(len(mine))]
    if not hides(mine):
        return mine
    return SAME if type(mine) is type(theirs) and mine == theirs else changed


class SecretValues:
    """Says of a value whether it is, or holds, what ended up in a Secret of these manifests."""

    def __init__(self, *manifests: str) -> None:
        self._texts = {text for manifest in manifests for text in _secret_texts(manifest)}
        self._long = [text for text in self._texts if len(text) >= _PART_OF_TEXT]

    def __call__(self, value: Any) -> bool:
        """Booleans and null are in every chart, and tell nothing."""
        if value is None or isinstance(value, bool):
            return False
        text = str(value).strip()
        return text in self._texts or any(secret in text for secret in self._long)


def _secret_texts(manifest: str) -> Iterator[str]:
    if "Secret" not in manifest:
        return
    try:
        documents = load_documents(manifest, source="the render")
    except InvalidRequest:
        return  # the comparison says what is wrong with it
    for document in documents:
        for secret in _secrets_in(document.value):
            yield from _of_secret(secret)


def _secrets_in(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    if value.get("kind") == "Secret":
        yield value
    items = value.get("items")
    for item in items if isinstance(items, list) else []:
        yield from _secrets_in(item)


def _of_secret(secret: dict[str, Any]) -> Iterator[str]:
    for field in ("data", "stringData"):
        entries = secret.get(field)
        for text in entries.values() if isinstance(entries, dict) else []:
            written = str(text).strip()
            yield from filter(None, (written, _decoded(written) if field == "data" else ""))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().strip()
    except (binascii.Error, ValueError):
        return ""
