"""A report on standard output: the same words in every format."""

import re
import sys
from collections.abc import Sequence
from enum import StrEnum

from rich.console import Console
from rich.table import Table
from rich.text import Text

from foretell.domain.plan import PlanStatus
from foretell.domain.result import Action
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import (
    Group,
    PlanReport,
    change_words,
    denial_note,
    group_of,
    summary_line,
)
from foretell.formats.document import encode, report_document
from foretell.formats.html import page
from foretell.formats.markdown import DiffGroup, comment, destructive_first, group_diffs, place


class Output(StrEnum):
    """`--output`: the same words in every command."""

    TABLE = "table"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


NAMES_SHOWN = 3
PIPE_WIDTH = 160
"""Columns of a table that no terminal limits: rich would take 80 and wrap names."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_CHANGE_STYLES = {
    Group.CHANGED: "yellow",
    Group.ERRORED: "bold red",
    Group.UNKNOWN: "magenta",
    Group.UNSUPPORTED: "dim",
    Group.UNCHANGED: "green",
    Group.COMPUTING: "cyan",
}
LINE_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def write_reports(reports: Sequence[PlanReport], output: Output) -> None:
    """All reports on standard output; JSON is one document, or a list when there are several."""
    match output:
        case Output.JSON:
            documents = [report_document(report) for report in reports]
            _write(encode(documents[0] if len(documents) == 1 else documents).decode())
        case Output.MARKDOWN:
            _write("\n".join(comment(report) for report in reports).rstrip("\n"))
        case Output.HTML:
            _write(page(reports))
        case Output.TABLE:
            console = terminal()
            for report in reports:
                _print_report(console, report)


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def terminal(*, stderr: bool = False) -> Console:
    """Standard output (or error) as rich writes to it: plain and wide where it is no terminal."""
    console = Console(stderr=stderr, highlight=False, markup=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def visible(text: str) -> str:
    """`text` with every control character spelled out: content may not steer the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def _print_report(console: Console, report: PlanReport) -> None:
    console.print(Text(f"{report.deployment_name}  {report.tag}", style="bold"))
    if report.status is PlanStatus.FAILED:
        told = f": {visible(report.message)}" if report.message else ""
        console.print(Text(f"Failed: {report.reason or 'internal'}{told}", style="bold red"))
    if report.targets:
        console.print(_table(report.targets))
    for group in group_diffs(report.targets):
        _print_diff(console, group)
    _print_messages(console, report.targets)
    if report.summary is not None:
        line = summary_line(report.targets, report.summary)
        console.print(Text(f"\nSummary: {visible(line)}", style="bold"))


def _table(targets: Sequence[TargetRollup]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Environment", "Resource", "Changes", "Details"):
        table.add_column(title, overflow="fold")
    for row in targets:
        table.add_row(
            Text(visible(row.target.environment_name)),
            Text(visible(row.target.resource_name)),
            Text(change_words(row), style=_CHANGE_STYLES[group_of(row)]),
            Text(visible(_details(row))),
        )
    return table


def _details(row: TargetRollup) -> str:
    changes = [one for one in row.resources if one.action is not Action.NO_OP]
    names = [f"{one.kind}/{one.name}" for one in destructive_first(changes)]
    if len(names) > NAMES_SHOWN:
        names[NAMES_SHOWN:] = [f"and {len(names) - NAMES_SHOWN} more"]
    return ", ".join(names) or row.message.partition("\n")[0] or "-"


def _print_diff(console: Console, group: DiffGroup) -> None:
    places = ", ".join(place(row) for row in group.targets)
    console.print(Text(f"\n{visible(group.title)}", style="bold underline"), end="")
    console.print(Text(f"  in {visible(places)}", style="dim"))
    for line in group.diff.removesuffix("\n").split("\n"):
        style = next((style for start, style in LINE_STYLES if line.startswith(start)), "")
        console.print(Text(visible(line), style=style))


def _print_messages(console: Console, targets: Sequence[TargetRollup]) -> None:
    for row in targets:
        for verdict in row.verdicts:
            for denial in verdict.denials:
                told = f" ({note})" if (note := denial_note(verdict)) else ""
                text = f"{place(row)}: {verdict.rule} says no: {denial.message}{told}"
                console.print(Text(visible(text), style="red"))
            for warning in verdict.warnings:
                text = f"{place(row)}: {verdict.rule} warns: {warning}"
                console.print(Text(visible(text), style="yellow"))
            if verdict.message:
                text = f"{place(row)}: {verdict.rule} could not answer: {verdict.message}"
                console.print(Text(visible(text), style="bold red"))
        if row.message:
            style = "bold red" if group_of(row) is Group.ERRORED else "dim"
            console.print(Text(visible(f"{place(row)}: {row.message}"), style=style))
