"""The document that rules judge, as the JSON text that an engine reads."""

import json
from collections.abc import Mapping

from foretell.domain.plan import JsonObject


def document_text(document: JsonObject) -> str:
    """Raises ValueError for what JSON can't say: a number that is none, a value of another kind."""
    # It comes out of parsers, which make no circles; not to look for them saves a fifth.
    return json.dumps(document, default=_plain, allow_nan=False, check_circular=False)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise ValueError(f"{type(value).__name__} is no JSON value")
