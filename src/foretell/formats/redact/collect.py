"""Which strings of a value are secret: what `Scrubber` then looks for everywhere else."""

from typing import Any, Final

from foretell.formats.exact_json import Exact, embedded, number_text
from foretell.formats.redact.marks import Marks, below, hidden
from foretell.formats.redact.names import NameRule

_SHORTEST: Final = 8
_OPENING: Final = ("{", "[")
_IDENTIFIERS: Final = ("arn:", "projects/", "/subscriptions/")


class Collector:
    """Collects into `found` every string that marks or names call secret.

    Strings below a mark count all, and its numbers of 8 digits or more. Those under a secret name
    count only where they look random enough that looking for them cannot blot out plain words.
    """

    def __init__(self, names: NameRule) -> None:
        self.found: set[str] = set()
        self._names = names
        self._hides: dict[str, bool] = {}

    def add(self, value: Any, marks: Marks = (), *, named: bool = False) -> None:
        """Look through one value."""
        match value:
            case str():
                self._add_text(value, hidden(marks), named)
            case dict():
                self._add_members(value, marks, named)
            case list():
                for index, item in enumerate(value):
                    self.add(item, below(marks, index), named=named)
            case int() | Exact() if hidden(marks) and len(number_text(value)) >= _SHORTEST:
                self.found.add(number_text(value))

    def _add_members(self, holder: dict[str, Any], marks: Marks, named: bool) -> None:
        siblings = self._names.hidden_members(holder) if "value" in holder else ()
        for key, item in holder.items():
            if item is None or isinstance(item, bool):
                continue
            hides = named or key in siblings or self._is_hiding(key)
            inner = below(marks, key) if marks else marks
            # Most members are plain strings that nothing marks.
            if hides or inner or not isinstance(item, str) or item[:1] in _OPENING:
                self.add(item, inner, named=hides)

    def _is_hiding(self, key: str) -> bool:
        known = self._hides.get(key)
        if known is None:
            known = self._names.hides(key)
            self._hides[key] = known
        return known

    def _add_text(self, text: str, marked: bool, named: bool) -> None:
        if marked or (named and looks_secret(text)):
            self.found.add(text)
        elif (inner := embedded(text)) is not None:
            self.add(inner)


def looks_secret(text: str) -> bool:
    """Random enough to be looked for on the word of a name alone."""
    return (
        len(text) >= _SHORTEST
        and any(c.isdigit() for c in text)
        and any(c.isalpha() for c in text)
        and not text.startswith(_IDENTIFIERS)
    )
