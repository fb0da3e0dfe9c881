"""Secret values become marks of one width before anything is written down.

A mark says whether the value changed, and nothing of the value: no length, no digest, no equality
with any other. The marks of a pair are the only thing made from both sides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from foretell.formats.kubernetes.normalise import (
    LAST_APPLIED,
    decoded,
    is_secret,
    merged_string_data,
)
from foretell.formats.yaml import dump

SAME, OLD, NEW = "<masked>", "<masked-old>", "<masked-new>"
_VISIBLE = ("apiVersion", "kind", "metadata", "type", "immutable")
_APPLIED = (
    LAST_APPLIED,
    "kapp.k14s.io/original",
    "objectset.rio.cattle.io/applied",
    "banzaicloud.com/last-applied",
)
_SHORTEST_COPY = 6

Path = tuple[Any, ...]
Found = dict[Path, Any]


class _Hidden:
    """Stands in the tree where a value was."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path


@dataclass(frozen=True, slots=True)
class Masked:
    """Both sides, fit to be shown; `by_name` counts what a name rule hid."""

    before: dict[str, Any] | None
    after: dict[str, Any] | None
    by_name: int = 0


def mask(
    before: dict[str, Any] | None, after: dict[str, Any] | None, names: tuple[str, ...] = ()
) -> Masked:
    """Hides every Secret value of both sides, and what `names` (globs) says of other objects."""
    copies = [text for side in (before, after) if is_secret(side) for text in _copies(side)]
    old, new = _Hider(names, copies), _Hider(names, copies)
    hidden_before = None if before is None else old.hide(before, ())
    hidden_after = hidden_before if after is before else after and new.hide(after, ())
    if after is before:
        new = old
    if not old.found and not new.found:
        return Masked(before, after)
    return Masked(
        None if before is None else _shown(hidden_before, _marks(old.found, new.found, OLD)),
        None if after is None else _shown(hidden_after, _marks(new.found, old.found, NEW)),
        len(old.named | new.named),
    )


def _marks(mine: Found, theirs: Found, changed: str) -> Callable[[Path], str]:
    def mark(path: Path) -> str:
        return SAME if path not in theirs or _same(mine[path], theirs[path]) else changed

    return mark


def _same(one: Any, other: Any) -> bool:
    """Equal to a cluster; 1 and true are equal to Python only."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return bool(one == other)
    return dump(one) == dump(other)


def _shown(value: Any, mark: Callable[[Path], str]) -> Any:
    if isinstance(value, _Hidden):
        return mark(value.path)
    if isinstance(value, dict):
        return {key: _shown(item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item, mark) for item in value]
    return value


class _Hider:
    """Walks one side. `found` has every hidden value by its path, list items by their name.

    `copies` are values of either side that the metadata of this one must not repeat.
    """

    def __init__(self, names: tuple[str, ...], copies: list[str]) -> None:
        self._names = tuple(name.lower() for name in names)
        self._known = copies
        self.found: Found = {}
        self.named: set[Path] = set()

    def hide(self, value: Any, path: Path) -> Any:
        """`value` with what is secret taken out; the same object when nothing is."""
        if isinstance(value, dict):
            if is_secret(value):
                return self._secret(value, path)
            if _is_secret_list(value):
                hidden = self._secrets(value["items"], (*path, "items"))
                return self._mapping({**value, "items": hidden}, path)
            if self._names and value.get("kind") == "ConfigMap":
                value = self._config_map(value, path)
            return self._mapping(value, path)
        return self._list(value, path) if isinstance(value, list) else value

    def _mapping(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        changed = None
        for key, item in value.items():
            if type(item) is dict or type(item) is list:
                made = self.hide(item, (*path, key))
            elif key in _APPLIED and path[-1:] == ("annotations",):
                made = self._hidden((*path, key), item)
            else:
                continue
            if made is not item:
                changed = changed or dict(value)
                changed[key] = made
        return changed or value

    def _list(self, items: list[Any], path: Path) -> list[Any]:
        seen: dict[Any, int] = {}
        made = []
        for at, item in enumerate(items):
            step: Any = item.get("name", at) if isinstance(item, dict) else at
            step = step if isinstance(step, str) else at
            seen[step] = seen.get(step, -1) + 1
            here = (*path, (step, seen[step]))
            made.append(self._variable(item, here) if path[-1:] == ("env",) else item)
            made[-1] = self.hide(made[-1], here)
        return items if all(one is other for one, other in zip(made, items, strict=True)) else made

    def _variable(self, item: Any, path: Path) -> Any:
        if isinstance(item, dict) and "value" in item and self._is_named(item.get("name")):
            self.named.add(path)
            return {**item, "value": self._hidden((*path, "value"), item["value"])}
        return item

    def _config_map(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        made = dict(value)
        for field in ("data", "binaryData"):
            if not isinstance(value.get(field), dict):
                continue
            made[field] = dict(value[field])
            for key in filter(self._is_named, value[field]):
                here = (*path, field, key)
                self.named.add(here)
                made[field][key] = self._hidden(here, value[field][key])
        return made

    def _is_named(self, name: Any) -> bool:
        return isinstance(name, str) and any(
            fnmatchcase(name.lower(), glob) for glob in self._names
        )

    def _secrets(self, items: Any, path: Path) -> Any:
        """Items of a SecretList, which need no kind of their own."""
        if not isinstance(items, list):
            return self._all(items, path, False)
        return [
            self._secret(item, (*path, at))
            if isinstance(item, dict)
            else self._hidden((*path, at), item)
            for at, item in enumerate(items)
        ]

    def _secret(self, secret: dict[str, Any], path: Path) -> dict[str, Any]:
        """Key names stay; a field that no Secret has (`stringdata`) is not trusted either."""
        copies = [*self._known, *_copies(secret)]
        secret = merged_string_data(secret)
        made = {key: item for key, item in secret.items() if key in _VISIBLE}
        for field in secret.keys() - made.keys():
            made[field] = self._all(secret[field], (*path, field), field == "data")
        metadata = secret.get("metadata")
        if isinstance(metadata, dict):
            here = (*path, "metadata")
            told = {
                field: self._untold(metadata[field], (*here, field), copies)
                for field in ("annotations", "labels")
                if isinstance(metadata.get(field), dict)
            }
            made["metadata"] = metadata | told
        return made

    def _untold(self, texts: dict[str, Any], path: Path, copies: list[str]) -> dict[str, Any]:
        """Annotations or labels without those that repeat a value."""
        return {
            key: self._hidden((*path, key), item) if _tells(key, item, copies) else item
            for key, item in texts.items()
        }

    def _all(self, value: Any, path: Path, encoded: bool) -> Any:
        if isinstance(value, dict):
            return {key: self._all(item, (*path, key), encoded) for key, item in value.items()}
        return self._hidden(path, decoded(value) if encoded else value)

    def _hidden(self, path: Path, value: Any) -> _Hidden:
        self.found[path] = value
        return _Hidden(path)


def _is_secret_list(value: dict[str, Any]) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and kind.strip().lower() == "secretlist" and "items" in value


def _copies(secret: Any) -> list[str]:
    """The values as text and as base64, to find where an annotation or label repeats them."""
    data = merged_string_data(secret).get("data")
    found = []
    for item in data.values() if isinstance(data, dict) else ():
        if isinstance(item, str):
            plain = decoded(item)
            found.append(item)
            found.append(plain.decode(errors="replace") if isinstance(plain, bytes) else item)
    return [text for text in found if len(text) >= _SHORTEST_COPY]


def _tells(key: str, item: Any, copies: list[str]) -> bool:
    return key in _APPLIED or any(text in str(item) for text in copies)
