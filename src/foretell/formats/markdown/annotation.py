"""Remarks on lines of the repository, for what names one: a violation with `file` and `line`.

A rule gives them beside its `msg`, from what an agent told it of where an object comes from. What
names no file of the repository is in the check's text only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foretell.domain.rollup import TargetRollup
from foretell.domain.verdict import Denial, Verdict
from foretell.formats.markdown.grouping import place
from foretell.formats.markdown.text import shown

MOST = 500
"""Of one check: GitHub shows fifty a page, and each fifty are a call."""
MESSAGE_LIMIT = 8_000
"""In characters; GitHub takes 64 KB."""

PATH_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Annotation:
    """Lines are counted from 1; `blocks`: it fails the check. `title` and `message` are text."""

    path: str
    line: int
    end_line: int
    blocks: bool
    title: str
    message: str


def annotations(targets: Sequence[TargetRollup]) -> tuple[Annotation, ...]:
    """One for each rule, place and message; the targets that it is about are in the message."""
    where: dict[Annotation, list[str]] = {}
    for row in targets:
        for verdict in row.verdicts:
            for found in _of(verdict):
                where.setdefault(found, []).append(place(row))
    return tuple(_with_places(found, places) for found, places in list(where.items())[:MOST])


def _of(verdict: Verdict) -> Iterator[Annotation]:
    for denial in verdict.denials:
        path, line = _path(denial), _line(denial.details.get("line"), 1)
        if path:
            last = max(_line(denial.details.get("endLine"), line), line)
            yield Annotation(path, line, last, verdict.blocks, verdict.rule, denial.message)


def _with_places(found: Annotation, places: Sequence[str]) -> Annotation:
    others = f" and {len(places) - 1} more" if len(places) > 1 else ""
    message = shown(f"{found.message}\n{places[0]}{others}")[:MESSAGE_LIMIT]
    return Annotation(
        found.path, found.line, found.end_line, found.blocks, shown(found.title), message
    )


def _path(denial: Denial) -> str:
    """A path below the repository's root, "" for anything else."""
    found = denial.details.get("file")
    if not isinstance(found, str) or not found.isprintable() or len(found) > PATH_LIMIT:
        return ""
    is_within = "\\" not in found and not {"", ".", ".."} & set(found.split("/"))
    return found if is_within else ""


def _line(value: Any, default: int) -> int:
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31
    return value if is_line else default
