"""Stored text to what a rule may address (RFC 0013 "Validation": `<parsed>`)."""

import json
from typing import Any

from foretell.domain.errors import InvalidRequest
from foretell.formats.yaml import load_documents


def parse_text(text: str) -> Any:
    """The object of a JSON text, the list of objects of a manifest stream, else the text itself."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except ValueError:
            return text
    try:
        values = [document.value for document in load_documents(text, source="result")]
    except InvalidRequest:
        return text
    return values if all(isinstance(value, dict) for value in values) else text
