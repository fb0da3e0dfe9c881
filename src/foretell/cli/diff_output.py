"""A comparison on standard output: the same words in every format."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console
from rich.table import Table
from rich.text import Text

from foretell.cli.output import LINE_STYLES, terminal, visible
from foretell.domain.result import KEPT, Action, ResourceChange
from foretell.formats.changes_document import (
    action_words,
    changes_document,
    headline,
    labelled,
    notes,
)
from foretell.formats.changes_html import changes_page
from foretell.formats.changes_markdown import changes_comment
from foretell.formats.document import encode
from foretell.formats.kubernetes import Comparison
from foretell.formats.markdown import destructive_first
from foretell.formats.side_by_side import Cell, Layout, Row, side_by_side


class DiffOutput(StrEnum):
    """`--output` of `foretell diff`."""

    TABLE = "table"
    UNIFIED = "unified"
    SIDE_BY_SIDE = "side-by-side"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Shape:
    """How it is to be shown; `full` is of JSON, `numbered` of side by side."""

    output: DiffOutput
    context: int = 3
    full: bool = False
    numbered: bool = False


_ACTION_STYLES = {
    Action.ADD: "green",
    Action.MODIFY: "yellow",
    Action.DELETE: "red",
    Action.REPLACE: "red",
    Action.NO_OP: "dim",
}
_SIDE_STYLES = {"|": ("red", "green"), "<": ("red", ""), ">": ("", "green"), " ": ("", "")}
_Named = Sequence[tuple[str, ResourceChange]]


def write_comparison(comparison: Comparison, names: tuple[str, str], shape: Shape) -> None:
    """The whole comparison; `names` are those of its sides."""
    match shape.output:
        case DiffOutput.JSON:
            _write(encode(changes_document(comparison, full=shape.full)).decode())
        case DiffOutput.MARKDOWN:
            _write(changes_comment(comparison).removesuffix("\n"))
        case DiffOutput.HTML:
            _write(changes_page(comparison, *names))
        case DiffOutput.TABLE:
            _print(comparison, _unified, table=True)
        case DiffOutput.UNIFIED:
            _print(comparison, _unified)
        case DiffOutput.SIDE_BY_SIDE:
            _print(comparison, lambda console, one: _sides(console, one, shape))


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _print(
    comparison: Comparison,
    show: Callable[[Console, ResourceChange], None],
    *,
    table: bool = False,
) -> None:
    console = terminal()
    named = labelled(destructive_first(comparison.changes))
    if table and named:
        console.print(_table(named))
    for at, (name, one) in enumerate(named):
        if at or table:
            console.print()
        console.print(_heading(name, one))
        if one.diff:
            show(console, one)
    if named:
        console.print()
    for note in notes(comparison):
        style = "bold red" if note.startswith("deletes everything") else "yellow"
        console.print(Text(visible(note), style=style))
    console.print(Text(f"Summary: {visible(headline(comparison))}", style="bold"))


def _heading(name: str, one: ResourceChange) -> Text:
    tags = f" ({visible(', '.join(one.tags))})" if one.tags else ""
    return Text(f"{visible(name)}: {action_words(one)}{tags}", style="bold")


def _table(named: _Named) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Object", "Change", "Lines", "Notes"):
        table.add_column(title, overflow="fold")
    for name, one in named:
        style = "magenta" if KEPT in one.tags else _ACTION_STYLES[one.action]
        table.add_row(
            Text(visible(name)),
            Text(action_words(one), style=style),
            Text(f"+{one.additions} -{one.deletions}"),
            Text(visible(", ".join(one.tags))),
        )
    return table


def _unified(console: Console, one: ResourceChange) -> None:
    for line in one.diff.removesuffix("\n").split("\n"):
        style = next((style for start, style in LINE_STYLES if line.startswith(start)), "")
        console.print(Text(visible(line), style=style))


def _sides(console: Console, one: ResourceChange, shape: Shape) -> None:
    layout = Layout(console.width, shape.context, shape.numbered, visible)
    for row in side_by_side(one.before, one.after, layout):
        console.print(_row(row))


def _row(row: Row) -> Text:
    left, right = _SIDE_STYLES[row.mark]
    text = _cell(row.left, left) + Text(f" {row.mark} ", style="bold") + _cell(row.right, right)
    text.rstrip()
    return text


def _cell(cell: Cell, style: str) -> Text:
    text = Text(cell.text, style=style)
    text.stylize("reverse", cell.changed.start, cell.changed.stop)
    return text
