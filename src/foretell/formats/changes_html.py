"""A comparison of manifests as one page: no script, nothing loaded, every text escaped."""

from collections.abc import Iterator
from html import escape

from foretell.domain.result import ResourceChange
from foretell.formats.changes_document import action_words, headline, labelled, notes
from foretell.formats.html import diff_block, document
from foretell.formats.kubernetes import Comparison
from foretell.formats.markdown import destructive_first


def changes_page(comparison: Comparison, before: str, after: str) -> str:
    """A whole HTML document; `before` and `after` name the sides."""
    return document("changes", "\n".join(_parts(comparison, before, after)))


def _parts(comparison: Comparison, before: str, after: str) -> Iterator[str]:
    yield f"<h1>Changes <small>{escape(before)} → {escape(after)}</small></h1>"
    yield f"<p><strong>{escape(headline(comparison))}</strong></p>"
    found = notes(comparison)
    if found:
        items = "".join(f"<li>{escape(note)}</li>" for note in found)
        yield f'<ul class="changed">{items}</ul>'
    named = list(enumerate(labelled(destructive_first(comparison.changes))))
    if named:
        yield "<table><thead><tr><th scope=col>Object<th scope=col>Change<th scope=col>Lines"
        yield "<th scope=col>Notes</tr></thead><tbody>"
        yield from (_row(at, name, one) for at, (name, one) in named)
        yield "</tbody></table>"
    for at, (name, one) in named:
        if one.diff:
            yield f'<h2 id="change-{at}">{escape(name)}</h2>\n{diff_block(one.diff)}'


def _row(at: int, name: str, one: ResourceChange) -> str:
    shown = escape(name)
    cells = (
        f'<a href="#change-{at}">{shown}</a>' if one.diff else shown,
        escape(action_words(one)),
        f"+{one.additions} -{one.deletions}",
        escape(", ".join(one.tags)),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
