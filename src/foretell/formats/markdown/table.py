"""RFC 0004's table: a row a target, whatever became of it."""

from collections.abc import Sequence

from foretell.domain.result import Action
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import Group, change_words, group_of
from foretell.domain.verdict import VerdictStatus
from foretell.formats.markdown.fitting import in_room
from foretell.formats.markdown.grouping import DESTRUCTIVE, destructive_first
from foretell.formats.markdown.text import code, inline

NAMES_SHOWN = 4
"""Objects named in one row of the table; the diff below has them all."""

_HEAD = "| Environment | Resource | Changes | Details |\n| --- | --- | --- | --- |"
_URGENT = (
    Group.ERRORED,
    Group.CHANGED,
    Group.UNKNOWN,
    Group.COMPUTING,
    Group.UNSUPPORTED,
    Group.UNCHANGED,
)


def table(targets: Sequence[TargetRollup], room: int) -> str:
    """The rows in their order; where not all fit, the less urgent ones are left out, and counted.

    "" where not even the head fits.
    """
    # A row has 16 characters at least, so no more than these can be shown.
    urgent = sorted(range(len(targets)), key=lambda n: _urgency(targets[n]))[: room // 16 + 1]
    rows = {number: _row(targets[number]) for number in urgent}
    return in_room(_HEAD, rows, room, len(targets), _more_rows)


def _more_rows(number: int) -> str:
    """The row for the others."""
    return f"| … | and {number} more {'target' if number == 1 else 'targets'} | | |"


def _urgency(row: TargetRollup) -> tuple[bool, int]:
    urgent = any(one.action in DESTRUCTIVE for one in row.resources) or _violations(row) > 0
    return (not urgent, _URGENT.index(group_of(row)))


def _row(row: TargetRollup) -> str:
    return (
        f"| {inline(row.target.environment_name) or '—'} | {inline(row.target.resource_name)} "
        f"| {change_words(row)} | {_details(row)} |"
    )


def _details(row: TargetRollup) -> str:
    changes = destructive_first([one for one in row.resources if one.action is not Action.NO_OP])
    names = [code(f"{change.kind}/{change.name}") for change in changes[:NAMES_SHOWN]]
    if len(changes) > NAMES_SHOWN:
        names.append(f"and {len(changes) - NAMES_SHOWN} more")
    if number := _violations(row):
        names.append(f"**{number} {'violation' if number == 1 else 'violations'}**")
    if row.target.change:
        names.append(f"{inline(row.target.change)} target")
    return ", ".join(names) or inline(row.message.partition("\n")[0]) or "—"


def _violations(row: TargetRollup) -> int:
    return sum(verdict.status is VerdictStatus.DENIED for verdict in row.verdicts)
