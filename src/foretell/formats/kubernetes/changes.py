"""One object on both sides -> what is shown of it: text, diff, action and tags."""

from dataclasses import dataclass
from typing import Any

from foretell.domain.diff import unified_diff
from foretell.domain.result import KEPT, Action, ResourceChange
from foretell.formats.kubernetes.determinism import Unstable
from foretell.formats.kubernetes.identity import Identity
from foretell.formats.kubernetes.ignore import Kept, without_ignored
from foretell.formats.kubernetes.mask import Masked, mask
from foretell.formats.kubernetes.options import CompareOptions
from foretell.formats.kubernetes.quantity import equalised
from foretell.formats.kubernetes.recreate import recreated_by
from foretell.formats.yaml import Writer

_HOOKS = ("helm.sh/hook", "argocd.argoproj.io/hook")
SUPPRESSED_TAG = "suppressed"
_RESULT_KIND = "manifest"

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """One object; a side that does not have it is None. `was` names a renamed one's old name."""

    identity: Identity
    before: Value | None
    after: Value | None
    was: Identity | None = None
    becomes: Identity | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What one pair comes to: its masked texts ("" where a side has none) and its change."""

    identity: Identity
    before: str
    after: str
    change: ResourceChange | None = None
    masked: int = 0
    warnings: tuple[str, ...] = ()


class Presenter:
    """Shows the pairs of one comparison."""

    def __init__(self, options: CompareOptions, unstable: Unstable) -> None:
        self._options = options
        self._unstable = unstable
        self._writer = Writer()

    def show(self, pair: Pair) -> Shown:
        """The texts, and the change unless both sides say the same."""
        if pair.before is pair.after:
            return self._same(pair)
        kept = self._kept(pair)
        masked = mask(kept.before, kept.after, self._options.mask_names)
        before = self._text(masked.before)
        after = self._text(masked.after)
        tags = self._tags(pair, kept.hidden)
        own = "" if pair.was is not None else before
        if before == after:
            change = self._unshown(pair, before, tags)
            return Shown(pair.identity, own, after, change, masked.by_name)
        change, warnings = self._change(pair, masked, (before, after), tags)
        return Shown(pair.identity, own, after, change, masked.by_name, warnings)

    def _same(self, pair: Pair) -> Shown:
        masked = mask(pair.before, pair.after, self._options.mask_names)
        text = self._text(masked.before)
        return Shown(pair.identity, text, text, masked=masked.by_name)

    def _text(self, value: Value | None) -> str:
        return "" if value is None else self._writer.text(value)

    def _kept(self, pair: Pair) -> "Kept | _OneSide":
        before, after = pair.before, pair.after
        if before is None or after is None:
            return _OneSide(before, after)
        return without_ignored(before, after, pair.identity, self._options.ignore)

    def _change(
        self, pair: Pair, masked: Masked, texts: tuple[str, str], tags: list[str]
    ) -> tuple[ResourceChange, tuple[str, ...]]:
        before, after = texts
        action = _action(pair)
        if masked.before is not None and masked.after is not None and pair.was is None:
            also, counted = self._likeness(pair.identity, masked.before, masked.after)
            tags = [*also, *tags]
            action = action if counted else Action.NO_OP
        shown_before = "" if pair.becomes is not None else before
        diff = unified_diff(
            shown_before,
            after,
            current_name=f"{(pair.was or pair.identity).title} (current)",
            proposed_name=f"{pair.identity.title} (proposed)",
            context=self._options.context,
        )
        counts = action is not Action.NO_OP
        change = ResourceChange(
            kind=pair.identity.kind,
            name=pair.identity.name,
            action=action,
            namespace=pair.identity.namespace,
            api_version=_api_version(pair),
            before=shown_before,
            after=after,
            diff=diff.text,
            additions=diff.additions if counts else 0,
            deletions=diff.deletions if counts else 0,
            tags=tuple(tags),
            result_kind=_RESULT_KIND,
        )
        approximate = f"{pair.identity.title}: a smaller diff than the one shown may exist"
        return change, (approximate,) if diff.approximate else ()

    def _likeness(self, identity: Identity, before: Value, after: Value) -> tuple[list[str], bool]:
        """Tags for a change of spelling or order only, and whether it counts as a change."""
        kind = identity[:2]
        custom = tuple(self._options.quantity_paths.get(kind, ()))
        equal = equalised(before, after, kind, custom)
        if equal is not after and self._text(equal) == self._text(before):
            return ["equal quantity"], False
        if self._text(_sorted(before)) == self._text(_sorted(equal)):
            return ["reordered"], True
        if _hooks(after):
            return [], True  # a hook is made anew on each run
        return [f"recreate: {field}" for field in recreated_by(kind, before, after)], True

    def _unshown(self, pair: Pair, text: str, tags: list[str]) -> ResourceChange | None:
        """An object whose only differences were put aside is still named."""
        if SUPPRESSED_TAG not in tags and not any(tag.startswith("non-") for tag in tags):
            return None
        return ResourceChange(
            kind=pair.identity.kind,
            name=pair.identity.name,
            action=Action.NO_OP,
            namespace=pair.identity.namespace,
            api_version=_api_version(pair),
            before=text,
            after=text,
            tags=tuple(tags),
            result_kind=_RESULT_KIND,
        )

    def _tags(self, pair: Pair, hidden: bool) -> list[str]:
        tags = [f"hook: {hook}" for hook in _hooks(pair.after or pair.before or {})]
        if pair.becomes is not None:
            tags.append(f"renamed to {pair.becomes.name}")
        if pair.was is not None:
            tags.append(f"renamed from {pair.was.name}")
        if pair.after is None and is_kept(pair.before or {}):
            tags.append(KEPT)
        tags += self._unstable.tags(pair.identity)
        return [*tags, SUPPRESSED_TAG] if hidden else tags


@dataclass(frozen=True, slots=True)
class _OneSide:
    before: Value | None
    after: Value | None
    hidden: bool = False


def _action(pair: Pair) -> Action:
    if pair.after is None:
        return Action.DELETE
    if pair.before is None or pair.was is not None:
        return Action.ADD
    return Action.MODIFY


def _api_version(pair: Pair) -> str:
    return str((pair.after or pair.before or {}).get("apiVersion", ""))


def _annotations(value: Value) -> Value:
    metadata = value.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _hooks(value: Value) -> list[str]:
    annotations = _annotations(value)
    return [str(annotations[name]) for name in _HOOKS if annotations.get(name)]


def is_kept(value: Value) -> bool:
    """Whether the object stays in the cluster when it is no longer rendered: Helm's
    `resource-policy: keep`, Argo CD's `Prune=false`, Flux's `prune: disabled`."""
    found = _annotations(value)
    options = str(found.get("argocd.argoproj.io/sync-options", "")).split(",")
    return (
        str(found.get("helm.sh/resource-policy", "")).strip().lower() == "keep"
        or "Prune=false" in [option.strip() for option in options]
        or str(found.get("kustomize.toolkit.fluxcd.io/prune", "")).strip() == "disabled"
    )


def _sorted(value: Any) -> Any:
    """Every list in an order of its own, to tell a move from a change."""
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=_order)
    return value


def _order(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(
        sorted(value.items(), key=lambda pair: pair[0]) if isinstance(value, dict) else value
    )
