"""What went wrong or would be lost, named: each thing once, with the targets that it is true of."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from foretell.domain.result import KEPT, Action
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import Group, denial_note, group_of
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.formats.markdown.fitting import fair_share, in_room
from foretell.formats.markdown.grouping import DESTRUCTIVE, place, tagged
from foretell.formats.markdown.text import code, inline

PLACES_SHOWN = 20
"""Targets named for one thing that is true of many; the table has them all."""


def lists(targets: Sequence[TargetRollup]) -> Iterator[tuple[str, list[str]]]:
    """Titles with their lines, what matters most first."""
    yield "Violations", _together(_said(targets, VerdictStatus.DENIED, _denials))
    yield "Rules that could not answer", _together(_said(targets, VerdictStatus.ERRORED, _failure))
    yield "Deleted or replaced", _together(_destroyed(targets))
    yield "Errors", _together(_messages(targets, Group.ERRORED))
    yield "Not supported", _together(_messages(targets, Group.UNSUPPORTED))
    yield "Warnings", _together(_said(targets, None, _warnings))


def fitting_lists(found: Iterable[tuple[str, list[str]]], room: int) -> Iterator[str]:
    """Titles with as many of their lines as fit in `room`, and how many do not.

    A long list leaves room for the others: none is lost to one before it.
    """
    wanted = [(f"**{title}**\n", lines) for title, lines in found if lines]
    sizes = [len("\n".join([head, *lines])) + 2 for head, lines in wanted]
    share = fair_share(sizes, room)
    for head, lines in wanted:
        numbered = dict(enumerate(lines))
        if text := in_room(head, numbered, share - 2, len(lines), _more_lines):
            yield text


def _more_lines(number: int) -> str:
    return f"- … and {number} more"


def everywhere(places: Sequence[str]) -> str:
    """`production / us-east-1, production / eu-west-1 and 12 more`, as markup."""
    hidden = len(places) - PLACES_SHOWN
    named = ", ".join(inline(each) for each in places[:PLACES_SHOWN])
    return f"{named} and {hidden} more" if hidden > 0 else named


def _together(found: Iterable[tuple[str, str, TargetRollup]]) -> list[str]:
    """Lines of (what, how, where): the same thing is one line."""
    lines: dict[tuple[str, str], dict[str, None]] = {}
    for what, how, row in found:
        lines.setdefault((what, how), {})[place(row)] = None
    return [_line(what, how, list(places)) for (what, how), places in lines.items()]


def _line(what: str, how: str, places: Sequence[str]) -> str:
    where = everywhere(places)
    if not what:
        return f"- {where}: {how}"
    return f"- {what} on {where}: {how}" if how else f"- {what} on {where}"


def _said(
    targets: Sequence[TargetRollup],
    status: VerdictStatus | None,
    messages: Callable[[Verdict], Iterable[str]],
) -> Iterator[tuple[str, str, TargetRollup]]:
    for row in targets:
        for verdict in row.verdicts:
            if status is None or verdict.status is status:
                for message in messages(verdict):
                    yield f"**{inline(verdict.rule)}**", inline(message), row


def _denials(verdict: Verdict) -> Iterator[str]:
    note = f" ({found})" if (found := denial_note(verdict)) else ""
    for denial in verdict.denials or (Denial("no reason given"),):
        yield denial.message + note


def _failure(verdict: Verdict) -> Iterator[str]:
    yield verdict.message


def _warnings(verdict: Verdict) -> Iterator[str]:
    yield from verdict.warnings


def _destroyed(targets: Sequence[TargetRollup]) -> Iterator[tuple[str, str, TargetRollup]]:
    for row in targets:
        for change in row.resources:
            if change.action in DESTRUCTIVE and KEPT not in change.tags:
                word = " (replaced)" if change.action is Action.REPLACE else ""
                yield code(tagged(change)) + word, "", row


def _messages(
    targets: Sequence[TargetRollup], group: Group
) -> Iterator[tuple[str, str, TargetRollup]]:
    for row in targets:
        if group_of(row) is group:
            yield "", inline(row.message), row
