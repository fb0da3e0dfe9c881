"""A redacted plan as Markdown and as one HTML page: the same words, nothing in them alive."""

from collections.abc import Iterator
from html import escape
from typing import Final

from foretell.formats.markdown import code, cut, fenced, inline
from foretell.formats.tfplan.plan import Change, Plan
from foretell.formats.tfplan.text.order import by_severity
from foretell.formats.tfplan.text.page import counts_line, page
from foretell.formats.tfplan.text.tags import tags_of
from foretell.formats.tfplan.verdict import Verdict

ROWS: Final = 100
"""Changes listed in a table; all of them stand in the text below it."""
TEXT_LIMIT: Final = 50_000
"""Characters of the text: what fits into a comment (65,536) beside a full table."""
_STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884 }
pre { overflow-x: auto; font: 13px/1.4 ui-monospace, monospace }
.add { background: #2da44e22 } .del { background: #cf222e22 } .mod { background: #9a670022 }
""".strip()
_LINE_STYLES: Final = (("-/+", "del"), ("+/-", "del"), ("+", "add"), ("-", "del"), ("~", "mod"))


def markdown(plan: Plan, verdict: Verdict, *, limit: int = TEXT_LIMIT) -> str:
    """Heading, table of changes (destructive first) and the text, cut on a line if it must be."""
    return "\n".join(_markdown_parts(plan, verdict, limit)) + "\n"


def _markdown_parts(plan: Plan, verdict: Verdict, limit: int) -> Iterator[str]:
    yield f"### Terraform plan: {verdict.word.value}\n"
    yield f"**{counts_line(verdict)}**\n"
    changes = _changes(plan)
    if changes:
        yield "| Address | Actions | Tags |\n|---|---|---|"
        yield from (_markdown_row(change) for change in changes[:ROWS])
        if len(changes) > ROWS:
            yield f"\n{len(changes) - ROWS} more changes are not in this table."
        yield ""
    text = page(plan, verdict)
    yield fenced(text if len(text) <= limit else cut(text, limit), "hcl")


def _changes(plan: Plan) -> list[Change]:
    outputs = sorted((item for item in plan.outputs if not item.is_no_op), key=by_severity)
    return [*sorted((change for change in plan.changes if change.acts), key=by_severity), *outputs]


def _markdown_row(change: Change) -> str:
    address = f"{change.address} (deposed {change.deposed})" if change.deposed else change.address
    tags = inline(", ".join(tags_of(change)))
    return f"| {code(address)} | {inline(' + '.join(change.actions))} | {tags} |"


def html(plan: Plan, verdict: Verdict) -> str:
    """A whole document without scripts; every text is escaped, nothing is loaded."""
    title = f"Terraform plan: {verdict.word.value}"
    rows = "\n".join(_html_row(change) for change in _changes(plan))
    lines = "\n".join(
        _html_line(line) for line in page(plan, verdict).removesuffix("\n").split("\n")
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f"<body><main><h1>{title}</h1>\n<p><strong>{escape(counts_line(verdict))}</strong></p>\n"
        "<table><thead><tr><th scope=col>Address<th scope=col>Actions<th scope=col>Tags</tr>"
        f"</thead><tbody>\n{rows}\n</tbody></table>\n<pre>{lines}</pre>\n</main></body></html>\n"
    )


def _html_row(change: Change) -> str:
    address = f"{change.address} (deposed {change.deposed})" if change.deposed else change.address
    cells = (address, " + ".join(change.actions), ", ".join(tags_of(change)))
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _html_line(line: str) -> str:
    stripped = line.lstrip(" ")
    style = next((style for start, style in _LINE_STYLES if stripped.startswith(start)), "")
    return f'<span class="{style}">{escape(line)}</span>' if style else escape(line)
