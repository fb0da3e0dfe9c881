"""The Selectors port: each text is compiled once, each question asked once."""

from collections.abc import Mapping
from typing import Any

from foretell.domain.target import Matches
from foretell.inventory.select import check_selector, compile_selector


class CelSelectors:
    """Selectors in CEL, as docs/reference/selectors.md says."""

    def check(self, text: str) -> None:
        """Raises InvalidRequest for a selector that does not compile, or could never match."""
        check_selector(text)

    def matches(self, *, absent: bool = False) -> Matches:
        """A matcher that remembers its answers: ask it about one reading of an inventory only.

        A selector that names only the resource has one answer for it in every environment; one that
        depends on a key which is not there answers `absent`.
        """
        answers: dict[tuple[str, ...], bool] = {}

        def matches(text: str, scope: Mapping[str, Any]) -> bool:
            if not text:
                return True
            selector = compile_selector(text)
            named = [
                f"{name}:{scope[name]['id']}" for name in sorted(selector.references & scope.keys())
            ]
            key = (text, *named)
            if key not in answers:
                answers[key] = selector(scope, absent=absent)
            return answers[key]

        return matches
