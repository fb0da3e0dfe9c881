"""Secrets that somebody wrote into an Application in plain text: by the names of what holds them.

Helm's parameters and values are readable for whoever may read the Application; a pull request is
read by more. What comes from references is masked by its value, elsewhere.
"""

from collections.abc import Mapping
from typing import Any

from foretell.agents.argocd.documents import JsonMap
from foretell.domain.errors import InvalidRequest
from foretell.formats.redact.redactor import ABSENT, Redactor, Rules
from foretell.formats.yaml import load_documents

_TEXTS = frozenset({"values"})
"""Fields that hold YAML as text."""


def hidden(before: JsonMap | None, after: JsonMap | None) -> tuple[JsonMap | None, JsonMap | None]:
    """Both sides without such values; that one changed is still said."""
    redactor = Redactor(Rules(), ())
    old, new = (ABSENT if side is None else _opened(side, redactor) for side in (before, after))
    shown = redactor.pair(old, new, (), ())
    return (
        None if before is None else shown[0],
        None if after is None else shown[1],
    )


def _opened(value: Any, redactor: Redactor) -> Any:
    """YAML in text becomes a map where something in it is to be hidden, else it stays text."""
    if isinstance(value, Mapping):
        return {
            key: _parsed(item, redactor)
            if key in _TEXTS and isinstance(item, str)
            else _opened(item, redactor)
            for key, item in value.items()
        }
    return [_opened(item, redactor) for item in value] if isinstance(value, list) else value


def _parsed(text: str, redactor: Redactor) -> Any:
    try:
        documents = load_documents(text, source="values")
    except InvalidRequest:
        return text
    value = documents[0].value if len(documents) == 1 else None
    return value if isinstance(value, dict) and redactor.value(value) is not value else text
