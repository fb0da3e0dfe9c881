"""A report as one page without scripts: every text of it is escaped, nothing is loaded."""

from collections.abc import Iterator, Sequence
from html import escape

from foretell.domain.result import Action
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import (
    PlanReport,
    change_words,
    denial_note,
    group_of,
    summary_line,
)
from foretell.domain.verdict import Verdict, VerdictStatus
from foretell.formats.markdown import DiffGroup, destructive_first, group_diffs, place

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884 }
pre { overflow-x: auto; font: 13px/1.4 ui-monospace, monospace }
.add { background: #2da44e22 } .del { background: #cf222e22 } .hunk { color: #0969da }
.add, .del { display: inline-block; min-width: 100% }
h1 small { font-size: .5em; font-weight: 400; overflow-wrap: anywhere }
.denied, .errored { color: #cf222e; font-weight: 600 } .changed { color: #9a6700 }
""".strip()


def page(reports: Sequence[PlanReport]) -> str:
    """A whole HTML document with every report in it."""
    title = ", ".join(report.deployment_name for report in reports)
    return document(title, "\n".join(_report(report) for report in reports))


def document(title: str, body: str) -> str:
    """A whole HTML document; `body` is markup already, `title` is not."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Foretell: {escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main>\n{body}\n</main></body></html>"
    )


def _report(report: PlanReport) -> str:
    return "\n".join(_parts(report))


def _parts(report: PlanReport) -> Iterator[str]:
    yield f"<h1>{escape(report.deployment_name)} <small>{escape(report.tag)}</small></h1>"
    if report.reason:
        yield f'<p class="errored">Failed: {escape(report.reason)}</p>'
    if report.summary:
        yield f"<p><strong>{escape(summary_line(report.targets, report.summary))}</strong></p>"
    yield "<table><thead><tr><th scope=col>Environment<th scope=col>Resource"
    yield "<th scope=col>Changes<th scope=col>Details</tr></thead><tbody>"
    yield from (_row(row) for row in report.targets)
    yield "</tbody></table>"
    yield from _denials(report.targets)
    yield from (_diff(group) for group in group_diffs(report.targets))


def _row(row: TargetRollup) -> str:
    cells = (
        escape(row.target.environment_name),
        escape(row.target.resource_name),
        f'<span class="{group_of(row)}">{escape(change_words(row))}</span>',
        "<br>".join(escape(line) for line in _details(row)),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _details(row: TargetRollup) -> Iterator[str]:
    """Every changed object by name, what removes something first, then what the agent said."""
    changes = [change for change in row.resources if change.action is not Action.NO_OP]
    if changes:
        yield ", ".join(f"{one.kind}/{one.name}" for one in destructive_first(changes))
    if row.message:
        yield row.message


def _denials(targets: Sequence[TargetRollup]) -> Iterator[str]:
    """What rules said no to, and which could not answer: a page without them would look clean."""
    said = [
        f'<li class="{style}"><strong>{escape(verdict.rule)}</strong> on '
        f"{escape(place(row))} {text}</li>"
        for row in targets
        for verdict in row.verdicts
        for style, text in _verdict(verdict)
    ]
    if said:
        yield "<h2>Rules</h2>\n<ul>"
        yield from said
        yield "</ul>"


def _verdict(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """What it says, each with the style of it."""
    style = "denied" if verdict.blocks else "noted"
    told = f" ({escape(note)})" if (note := denial_note(verdict)) else ""
    yield from ((style, f"says no: {escape(one.message)}{told}") for one in verdict.denials)
    yield from (("noted", f"warns: {escape(warning)}") for warning in verdict.warnings)
    if verdict.status is VerdictStatus.ERRORED:
        yield style, f"could not answer: {escape(verdict.message)}"


def _diff(group: DiffGroup) -> str:
    names = escape(", ".join(place(row) for row in group.targets))
    return f"<h2>{escape(group.title)}</h2>\n<p>{names}</p>\n{diff_block(group.diff)}"


def diff_block(diff: str) -> str:
    """A unified diff as coloured lines."""
    lines = "\n".join(_line(line) for line in diff.removesuffix("\n").split("\n"))
    return f"<pre>{lines}</pre>"


def _line(line: str) -> str:
    """One line of a unified diff, coloured by what it does; heads stay as they are."""
    for start, style in (("+++", ""), ("---", ""), ("@@", "hunk"), ("+", "add"), ("-", "del")):
        if line.startswith(start):
            return f'<span class="{style}">{escape(line)}</span>' if style else escape(line)
    return escape(line)
