"""Whether a change looks as if it were another on each render: then it is rendered once more.

Charts make passwords and certificates on the fly, and checksums of them. A second render of
everything would double the work of a server for what most charts do not do.
"""

import re
from collections.abc import Sequence

from foretell.domain.result import Action, KindResult, ResourceChange

_VALUE = re.compile(r"^\+[^+].*?[\"']?([A-Za-z0-9+/=_-]{8,})[\"']?$", re.MULTILINE)
_CERTIFICATE = "-----BEGIN "
_LONG = 20
"""Letters that are no word of any language."""
_KNOWN_DIGITS = 7


def is_volatile(result: KindResult, revisions: Sequence[str]) -> bool:
    """Whether a changed value looks made up and is none of `revisions`."""
    known = [each[:_KNOWN_DIGITS] for each in revisions if len(each) >= _KNOWN_DIGITS]
    return any(
        _looks_made_up(change, known)
        for change in result.resources
        if change.action in (Action.MODIFY, Action.REPLACE)
    )


def _looks_made_up(change: ResourceChange, known: Sequence[str]) -> bool:
    if _CERTIFICATE in change.diff:
        return True
    return any(
        _is_random(value) and not any(each in value for each in known)
        for value in _VALUE.findall(change.diff)
    )


def _is_random(value: str) -> bool:
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return letters and (digits or len(value) >= _LONG)
