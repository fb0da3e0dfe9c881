"""The kind `values`: what a release is told, on both sides, without what is secret in it."""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from foretell.domain.diff import unified_diff
from foretell.domain.digest import Key, keyed_digest
from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Kind, KindResult
from foretell.formats.yaml import dump, load_documents

KIND = Kind("values")
SAME, OLD, NEW = "<masked>", "<masked-old>", "<masked-new>"
_PART_OF_TEXT = 6  # a shorter secret is only looked for as the whole value

Path = tuple[str | int, ...]
Hides = Callable[[Any, Path], bool]
"""(a value, the keys and places that lead to it) -> whether it is secret."""


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
    if mine is None:
        return ""

    def shown(value: Any, other: Any, path: Path) -> Any:
        if isinstance(value, Mapping):
            others = other if isinstance(other, Mapping) else {}
            return {key: shown(item, others.get(key), (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            padded = [*(other if isinstance(other, list) else []), *[None] * len(value)]
            return [shown(item, padded[at], (*path, at)) for at, item in enumerate(value)]
        if not hides(value, path):
            return value
        return SAME if type(value) is type(other) and value == other else changed

    return dump(shown(mine, theirs or {}, ()))


class SecretValues:
    """Says of a value whether it is, or holds, what ended up in a Secret of these manifests.

    `names` are globs, any case, for keys whose values are hidden whatever they are; `named` are
    the paths that they hid.
    """

    def __init__(self, *manifests: str, names: Sequence[str] = ()) -> None:
        self._texts = {text for manifest in manifests for text in _secret_texts(manifest)}
        self._long = [text for text in self._texts if len(text) >= _PART_OF_TEXT]
        self._names = tuple(name.lower() for name in names)
        self.named: set[Path] = set()

    def __call__(self, value: Any, path: Path) -> bool:
        """Booleans and null are in every chart, and tell nothing."""
        if value is None or isinstance(value, bool):
            return False
        if self._names and any(self._is_named(key) for key in path):
            self.named.add(path)
            return True
        text = str(value).strip()
        return text in self._texts or any(secret in text for secret in self._long)

    def _is_named(self, key: str | int) -> bool:
        return isinstance(key, str) and any(fnmatchcase(key.lower(), name) for name in self._names)


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
