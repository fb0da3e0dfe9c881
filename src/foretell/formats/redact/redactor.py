"""One redactor for one document: all four nets over values, pairs of values, text, addresses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.exact_json import Exact, dumps, embedded, number_text, same
from foretell.formats.redact.align import align
from foretell.formats.redact.credentials import hide_credentials
from foretell.formats.redact.marks import Marks, below, hidden, united
from foretell.formats.redact.names import DEFAULT_NAMES, NameRule
from foretell.formats.redact.values import HIDDEN, MASK, Scrubber

ABSENT: Final = object()
"""A member that is not there, apart from one that is null."""
HIDDEN_CHANGED: Final = "(sensitive value, changed)"
HIDDEN_NOTE: Final = re.compile(r"\(sensitive value(?:[,:] [a-z0-9 ]+)?\)")
"""What stands where a value was."""
_CHANGED_NOTE: Final = " (sensitive part changed)"
_INDEX_KEY = re.compile(r'(?<=\[")(?:[^"\\]|\\.)*(?="\])')
_SHORTEST_IN_ADDRESS: Final = 8
_SHORTEST_NUMBER: Final = 8
_REMEMBERED: Final = 200_000
_NO_MEMBERS: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Rules:
    """What is hidden besides what is marked.

    `secrets` are values known from elsewhere (tokens of the configuration, environment variables
    to mask); `patterns` regular expressions, applied last; `paths` rules of the form
    `TYPE.attribute.*.member`; `schemas` the parsed `terraform providers schema -json`.
    """

    names: NameRule = DEFAULT_NAMES
    secrets: tuple[str, ...] = field(default=(), repr=False)
    patterns: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    schemas: Mapping[str, Any] | None = field(default=None, repr=False)


class Redactor:
    """Hides by mark, name and value. Values come back unchanged (the same object) where nothing
    is hidden, so that a large document is not copied for a few secrets."""

    def __init__(self, rules: Rules, secrets: Iterable[str]) -> None:
        self.names = rules.names
        self._scrubber = Scrubber((*rules.secrets, *secrets))
        self._patterns = [_compiled(pattern) for pattern in rules.patterns]
        # Names and values repeat by the thousand: each is looked at once.
        self._members: dict[str, tuple[str, bool]] = {}
        self._seen: dict[str, str] = {}
        self._addresses: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Redactor({self._scrubber!r})"

    def text(self, text: str) -> str:
        """Free text: messages, logs, generated configuration."""
        text = hide_credentials(self._scrubber.text(text))
        for pattern in self._patterns:
            text = pattern.sub(MASK, text)
        return text

    def address(self, address: str) -> str:
        """An address: index keys are values; names of code are spared by short secrets."""
        shown = self._addresses.get(address)
        if shown is None:
            shown = _INDEX_KEY.sub(lambda key: self.text(key[0]), address)
            shown = self._scrubber.text(shown, shortest=_SHORTEST_IN_ADDRESS)
            if len(self._addresses) < _REMEMBERED:
                self._addresses[address] = shown
        return shown

    def value(self, value: Any, marks: Marks = (), *, named: bool = False) -> Any:
        """A value on its own; `named` says that its name hides it."""
        if marks and hidden(marks):
            return _hidden(value)
        match value:
            case str():
                return self._string(value, named)
            case dict():
                return self._members_of(value, marks, named)
            case list():
                return _kept(
                    value,
                    [self.value(x, below(marks, i), named=named) for i, x in enumerate(value)],
                )
            case int() | Exact() if not isinstance(value, bool):
                return self._number(value, named)
            case _:
                return value

    def _members_of(self, holder: dict[str, Any], marks: Marks, named: bool) -> dict[str, Any]:
        siblings = self._hidden_members(holder)
        shown: dict[str, Any] = {}
        changed = renamed = False
        for key, item in holder.items():
            new_key, hides = self._members.get(key) or self._learned(key)
            new = item
            if item is not None and (marks or not isinstance(item, bool)):
                inner = below(marks, key) if marks else marks
                if inner or not isinstance(item, str):
                    new = self.value(item, inner, named=named or hides or key in siblings)
                else:
                    new = self._string(item, named or hides or key in siblings)
            changed = changed or new is not item
            renamed = renamed or new_key != key
            shown[key] = new
        if renamed:
            return self._rekeyed(shown)
        return shown if changed else holder

    def pair(
        self, before: Any, after: Any, old: Marks, new: Marks, *, named: bool = False
    ) -> tuple[Any, Any]:
        """Both sides of a change, hidden by the union of both sides' marks.

        A difference that hiding would make invisible is said: `(sensitive value, changed)`.
        """
        if hidden(old) or hidden(new):
            return _hidden_pair(before, after)
        if before is None or before is ABSENT or after is None or after is ABSENT:
            marks = united(old, new)
            return (
                self.value(before, marks, named=named),
                self.value(after, marks, named=named),
            )
        match before, after:
            case dict(), dict():
                return self._dicts(before, after, old, new, named)
            case list(), list():
                return self._lists(before, after, old, new, named)
            case str(), str():
                return self._strings(before, after, named)
            case _:
                marks = united(old, new)
                return (
                    self.value(before, marks, named=named),
                    self.value(after, marks, named=named),
                )

    def _number(self, value: int | Exact, named: bool) -> Any:
        if named:
            return HIDDEN
        text = number_text(value)
        if len(text) >= _SHORTEST_NUMBER and self._scrubber.is_secret(text):
            return HIDDEN
        return value

    def _dicts(
        self, before: dict[str, Any], after: dict[str, Any], old: Marks, new: Marks, named: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        siblings = self._hidden_members(before) | self._hidden_members(after)
        left: dict[str, Any] = {}
        right: dict[str, Any] = {}
        for key in before.keys() | after.keys() if before and after else before or after:
            left[key], right[key] = self.pair(
                before.get(key, ABSENT),
                after.get(key, ABSENT),
                below(old, key),
                below(new, key),
                named=named or key in siblings or self._member(key)[1],
            )
        return self._rebuilt(before, left), self._rebuilt(after, right)

    def _hidden_members(self, holder: dict[str, Any]) -> frozenset[str]:
        return self.names.hidden_members(holder) if "value" in holder else _NO_MEMBERS

    def _rebuilt(self, original: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
        """The original itself unless a key or a member was hidden; in its order of keys."""
        if all(shown[k] is item and self._member(k)[0] == k for k, item in original.items()):
            return original
        return self._rekeyed({key: shown[key] for key in original})

    def _rekeyed(self, shown: dict[str, Any]) -> dict[str, Any]:
        """Keys hold secrets too; two that become equal do not swallow one another."""
        result: dict[str, Any] = {}
        for key, value in shown.items():
            new_key = self._member(key)[0]
            while new_key in result:
                new_key += "'"
            result[new_key] = value
        return result

    def _member(self, key: str) -> tuple[str, bool]:
        """(the key as it may be shown, whether it hides what it holds)."""
        return self._members.get(key) or self._learned(key)

    def _learned(self, key: str) -> tuple[str, bool]:
        found = self._scrubber.text(key), self.names.hides(key)
        if len(self._members) < _REMEMBERED:
            self._members[key] = found
        return found

    def _lists(
        self, before: list[Any], after: list[Any], old: Marks, new: Marks, named: bool
    ) -> tuple[list[Any], list[Any]]:
        left, right = list(before), list(after)
        for i, j in align(before, after):
            was, now = self.pair(
                ABSENT if i is None else before[i],
                ABSENT if j is None else after[j],
                () if i is None else below(old, i),
                () if j is None else below(new, j),
                named=named,
            )
            if i is not None:
                left[i] = was
            if j is not None:
                right[j] = now
        return _kept(before, left), _kept(after, right)

    def _strings(self, before: str, after: str, named: bool) -> tuple[str, str]:
        if named and before and after:
            return _hidden_pair(before, after)
        if before == after:
            shown = self._string(after, named)
            return shown, shown
        inner = embedded(before), embedded(after)
        if inner[0] is not None and inner[1] is not None:
            return self._json_strings(before, after, inner)
        was, now = self._string(before, named), self._string(after, named)
        if was != now:
            return was, now
        return was, HIDDEN_CHANGED if now == HIDDEN else now + _CHANGED_NOTE

    def _json_strings(self, before: str, after: str, inner: tuple[Any, Any]) -> tuple[str, str]:
        was, now = self.pair(*inner, (), ())
        return (
            self.text(before) if was is inner[0] else dumps(was),
            self.text(after) if now is inner[1] else dumps(now),
        )

    def _string(self, text: str, named: bool) -> str:
        if named:
            return HIDDEN if text else text
        seen = self._seen.get(text)
        if seen is None:
            seen = self._looked_at(text)
            if len(self._seen) < _REMEMBERED:
                self._seen[text] = seen
        return seen

    def _looked_at(self, text: str) -> str:
        inner = embedded(text)
        if inner is not None:
            shown = self.value(inner)
            return self.text(text) if shown is inner else dumps(shown)
        return HIDDEN if self._scrubber.is_secret(text) else self.text(text)


def _kept(original: list[Any], rebuilt: list[Any]) -> list[Any]:
    untouched = all(one is other for one, other in zip(original, rebuilt, strict=True))
    return original if untouched else rebuilt


def _hidden_pair(before: Any, after: Any) -> tuple[Any, Any]:
    if before is ABSENT or after is ABSENT or before is None or after is None:
        return _hidden(before), _hidden(after)
    return HIDDEN, HIDDEN if same(before, after) else _hidden_difference(before, after)


def _hidden(value: Any) -> Any:
    """Null and absence are no secret: they say whether there is one."""
    return value if value is ABSENT or value is None else HIDDEN


def _hidden_difference(before: Any, after: Any) -> str:
    if not (isinstance(before, list) and isinstance(after, list)):
        return HIDDEN_CHANGED
    total = max(len(before), len(after))
    equal = sum(
        i is not None and j is not None and same(before[i], after[j])
        for i, j in align(before, after)
    )
    return f"(sensitive value: {total - equal} of {total} elements changed)"


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidRequest(
            f"mask pattern {pattern!r} is no regular expression: {error}"
        ) from None
