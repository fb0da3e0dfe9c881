"""Which of several sources an error is about: Argo CD names none of them."""

from collections.abc import Mapping, Sequence
from typing import Any

_FIELDS = ("targetRevision", "path", "chart", "repoURL")


def at_source(message: str, sources: Sequence[Mapping[str, Any]]) -> str:
    """`message` with the number of the source that it speaks of, or else with all of them."""
    if len(sources) < 2:
        return message
    scores = [_likeness(message, source) for source in sources]
    best = max(scores)
    if best and scores.count(best) == 1:
        place = scores.index(best)
        return f"{_title(place, sources[place])}: {message}"
    titles = ", ".join(_title(place, source) for place, source in enumerate(sources))
    return f"one of {titles}: {message}"


def _likeness(message: str, source: Mapping[str, Any]) -> int:
    said = [str(source[field]) for field in _FIELDS if source.get(field)]
    return sum(each in message for each in said)


def _title(place: int, source: Mapping[str, Any]) -> str:
    what = source.get("chart") or source.get("path") or source.get("ref") or "."
    revision = source.get("targetRevision") or "HEAD"
    return f"source #{place + 1} ({source.get('repoURL')} {what} at {revision})"
