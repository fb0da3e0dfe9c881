"""The plan as a comment: RFC 0004 "PR comment format", within the platform's limit.

Every part is well formed by itself: details are left out whole, the table and the summary stay.
Content of a plan can't leave its fence, ping anybody or open HTML.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.plan import PlanStatus
from foretell.domain.result import Action, ResourceChange
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import (
    Group,
    PlanReport,
    change_words,
    group_of,
    override_words,
    summary_line,
)
from foretell.domain.verdict import Denial, Verdict, VerdictStatus

COMMENT_LIMIT = 65_536
"""GitHub's longest comment, in characters (its API answers 422 above it)."""

NAMES_SHOWN = 4
"""Objects named in one row of the table; the diff below has them all."""

PLACES_SHOWN = 20
"""Targets named above a diff that they share; the table has them all."""

TEXT_LIMIT = 500
"""Longest name or message in a comment, in characters: a longer one ends with an ellipsis."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
# What GitHub links or announces whatever is before it: a person, an issue, an address.
_ALIVE = re.compile(r"(@|#|:(?=//)|\bwww(?=\.))", re.IGNORECASE)
# Controls, halves of characters, and what turns the direction of text around.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_RUNS = re.compile(r"`{3,}")
_DESTRUCTIVE = frozenset({Action.DELETE, Action.REPLACE})


def comment(report: PlanReport, limit: int = COMMENT_LIMIT) -> str:
    """The whole comment in at most `limit` characters.

    What comes to how many is always said; what went wrong, then the table, then the diffs get the
    room that is left, each in whole lines, and say how much of them is missing.
    """
    opening = list(_opening(report))
    closing = _closing(report)
    details = [_details(group) for group in group_diffs(report.targets)]
    left = limit - len("\n\n".join([*opening, closing, _left_out(len(details))])) - 1
    lists = list(_fitting_lists(report.targets, left // 2))
    left -= sum(len(text) + 2 for text in lists)
    table = [_cut_rows(_TABLE_HEAD, _table(report.targets), left - 2, _more_rows)]
    parts = [*opening, *(table if report.targets else []), closing, *lists]
    head = "\n\n".join(part for part in parts if part)
    return fitted(head, details, limit)


def fitted(head: str, details: Sequence[str], limit: int) -> str:
    """`head`, and after it as many of `details` as fit, whole; it says how many do not."""
    text = "\n\n".join([head, *details]) + "\n"
    if len(text) <= limit:
        return text
    left = limit - len(head) - len(_left_out(len(details))) - len("\n\n\n")
    kept = list(_fitting(details, left))
    note = [_left_out(len(details) - len(kept))] if details else []
    return cut("\n\n".join([head, *kept, *note]) + "\n", limit)


def cut(text: str, limit: int) -> str:
    """`text` on at most `limit` characters: whole lines, and it says that something is missing."""
    if len(text) <= limit:
        return text
    note = "\n… cut to fit\n"
    kept = text[: max(limit - len(note), 0)]
    return kept[: kept.rfind("\n") + 1] + note.lstrip("\n") if "\n" in kept else note[:limit]


def _fitting(details: Sequence[str], left: int) -> Iterator[str]:
    for text in details:
        left -= len(text) + 2
        if left < 0:
            return
        yield text


def _left_out(number: int) -> str:
    return f"*{number} {'diff' if number == 1 else 'diffs'} left out to fit the comment.*"


def _cut_rows(head: str, rows: Sequence[str], room: int, more: Callable[[int], str]) -> str:
    """`head` and as many rows as fit, in `room` characters; "" where not even the head does."""
    text = "\n".join([head, *rows])
    if len(text) <= room:
        return text
    room -= len(head) + len(more(len(rows))) + 1
    kept = []
    for row in rows:
        room -= len(row) + 1
        if room < 0:
            break
        kept.append(row)
    return "\n".join([head, *kept, more(len(rows) - len(kept))]) if room >= 0 or kept else ""


def _more_rows(number: int) -> str:
    return f"| … | and {number} more {'target' if number == 1 else 'targets'} | | |"


def _more_lines(number: int) -> str:
    return f"- … and {number} more"


def _opening(report: PlanReport) -> Iterator[str]:
    yield "### Foretell Deployment Plan"
    yield f"**Deployment:** {inline(report.deployment_name)} **Version:** {inline(report.tag)}"
    if report.status is PlanStatus.FAILED:
        yield f"**Failed:** {report.reason or 'internal'}"


def _closing(report: PlanReport) -> str:
    if report.summary is None:
        return "Computing which targets this reaches."
    return f"**Summary:** {summary_line(report.targets, report.summary)}"


_TABLE_HEAD = "| Environment | Resource | Changes | Details |\n| --- | --- | --- | --- |"


def _table(targets: Sequence[TargetRollup]) -> list[str]:
    return [
        f"| {inline(row.target.environment_name) or '—'} | {inline(row.target.resource_name)} "
        f"| {change_words(row)} | {_names(row)} |"
        for row in targets
    ]


def _names(row: TargetRollup) -> str:
    changes = destructive_first([one for one in row.resources if one.action is not Action.NO_OP])
    names = [code(f"{change.kind}/{change.name}") for change in changes[:NAMES_SHOWN]]
    if len(changes) > NAMES_SHOWN:
        names.append(f"and {len(changes) - NAMES_SHOWN} more")
    return ", ".join(names) or inline(row.message.partition("\n")[0]) or "—"


def destructive_first(changes: Sequence[ResourceChange]) -> list[ResourceChange]:
    """What removes something first, the rest in its order."""
    return sorted(changes, key=lambda change: change.action not in _DESTRUCTIVE)


def _fitting_lists(targets: Sequence[TargetRollup], room: int) -> Iterator[str]:
    for title, lines in _lists(targets):
        text = _cut_rows(f"**{title}**\n", lines, room - 2, _more_lines) if lines else ""
        if text:
            room -= len(text) + 2
            yield text


def _lists(targets: Sequence[TargetRollup]) -> Iterator[tuple[str, list[str]]]:
    yield (
        "Violations",
        [
            _ruled(row, verdict, denial.message)
            for row in targets
            for verdict in row.verdicts
            if verdict.status is VerdictStatus.DENIED
            for denial in verdict.denials or (Denial("no reason given"),)
        ],
    )
    yield (
        "Rules that could not answer",
        [
            _ruled(row, verdict, verdict.message)
            for row in targets
            for verdict in row.verdicts
            if verdict.status is VerdictStatus.ERRORED
        ],
    )
    for group, title in ((Group.ERRORED, "Errors"), (Group.UNSUPPORTED, "Not supported")):
        rows = _of(targets, group)
        yield title, [f"- {inline(place(row))}: {inline(row.message)}" for row in rows]


def _ruled(row: TargetRollup, verdict: Verdict, message: str) -> str:
    said = f"- **{inline(verdict.rule)}** on {inline(place(row))}: {inline(message)}"
    return f"{said} ({inline(override_words(verdict))})" if verdict.overrides else said


def _of(targets: Sequence[TargetRollup], group: Group) -> list[TargetRollup]:
    return [row for row in targets if group_of(row) is group]


def place(row: TargetRollup) -> str:
    """`production / us-east-1`, as it came: escape it for where it goes."""
    return f"{row.target.environment_name} / {row.target.resource_name}"


@dataclass(frozen=True, slots=True)
class DiffGroup:
    """One distinct diff, of one object or of a kind without objects, and where it applies."""

    title: str
    diff: str
    destroys: bool
    targets: tuple[TargetRollup, ...]


def group_diffs(targets: Sequence[TargetRollup]) -> list[DiffGroup]:
    """Each distinct diff once, those that remove something first, else in the targets' order.

    The unit is the object, not the target: one edit that reaches 50 clusters is read once, even
    where another object differs in each of them.
    """
    groups: dict[tuple[str, str, bool], list[TargetRollup]] = {}
    for row in targets:
        for section in _sections(row):
            groups.setdefault(section, []).append(row)
    found = [DiffGroup(*section, tuple(rows)) for section, rows in groups.items()]
    return sorted(found, key=lambda group: not group.destroys)


def _sections(row: TargetRollup) -> Iterator[tuple[str, str, bool]]:
    for result in row.results:
        for change in result.resources:
            if change.diff:
                yield (_tagged(change), change.diff, change.action in _DESTRUCTIVE)
        if result.diff and not result.resources:
            yield (result.kind or "Manifest", result.diff, False)


def _tagged(change: ResourceChange) -> str:
    """`Deployment/payments/payment-api (hook: pre-upgrade)`."""
    return f"{change.title} ({', '.join(change.tags)})" if change.tags else change.title


def _details(group: DiffGroup) -> str:
    places = [place(row) for row in group.targets]
    others = len(places) - 1
    title = f"{group.title}: {places[0]}" + (f" and {others} more" if others else "")
    return folded(title, group.diff, _everywhere(places) if others else "")


def _everywhere(places: Sequence[str]) -> str:
    hidden = len(places) - PLACES_SHOWN
    named = ", ".join(inline(each) for each in places[:PLACES_SHOWN])
    return f"{named} and {hidden} more" if hidden > 0 else named


def folded(title: str, diff: str, note: str = "") -> str:
    """A diff that opens on a click; `title` is plain text, `note` is markup already."""
    noted = [note, ""] if note else []
    # Up to the empty line all of it is HTML to the reader: a backslash there would be shown.
    opening = ["<details>", f"<summary>{_words(title)}</summary>", ""]
    return "\n".join([*opening, *noted, fenced(diff, "diff"), "", "</details>"])


def fenced(text: str, language: str = "") -> str:
    """`text` in a fence that nothing in it can close."""
    longest = max((len(run) for run in _RUNS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{_shown(text).removesuffix(chr(10))}\n{fence}"


def code(text: str) -> str:
    """`text` as a code span inside a table cell; a backtick or a bar can't be in one.

    An escaped bar is no way out: with a backslash before it, it ends the cell all the same.
    """
    return f"`{_flat(text).replace('`', chr(39)).replace('|', '¦')}`"


def inline(text: str) -> str:
    """`text` as plain words: no markup, no HTML, nobody is mentioned, nothing is linked."""
    return _SPECIAL.sub(r"\\\1", _words(text))


def _words(text: str) -> str:
    flat = _flat(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _ALIVE.sub("\\1\u200b", flat)


def _flat(text: str) -> str:
    flat = " ".join(_shown(text).split())
    return flat if len(flat) <= TEXT_LIMIT else f"{flat[: TEXT_LIMIT - 1]}…"


def _shown(text: str) -> str:
    return _UNSHOWN.sub("\ufffd", text)
