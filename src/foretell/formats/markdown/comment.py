"""The plan as a comment: RFC 0004 "PR comment format", within the platform's limit.

Every part is well formed by itself. Where not all fits, diffs are cut and left out first; what went
wrong, what would be lost, the table and the counts come last, and say what of them is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from foretell.domain.plan import PlanStatus
from foretell.domain.summary import PlanReport, summary_line
from foretell.formats.markdown.fitting import Fold, fitted, left_out
from foretell.formats.markdown.grouping import DiffGroup, group_diffs, place
from foretell.formats.markdown.lists import everywhere, fitting_lists, lists
from foretell.formats.markdown.since import Since, since_line, since_lines
from foretell.formats.markdown.table import table
from foretell.formats.markdown.text import code, inline

COMMENT_LIMIT = 65_536
"""GitHub's longest comment, in characters (its API answers 422 above it)."""


@dataclass(frozen=True, slots=True)
class About:
    """What a comment says of its plan besides the report: the commit, the scope, the change.

    `scope` are the selectors that narrowed the plan, "" for all targets.
    """

    commit: str = ""
    scope: str = ""
    since: Since | None = None


def comment(report: PlanReport, limit: int = COMMENT_LIMIT, about: About | None = None) -> str:
    """The whole comment in at most `limit` characters."""
    about = about or About()
    opening = list(_opening(report, about))
    closing = list(_closing(report, about))
    left = limit - len("\n\n".join([*opening, *closing, left_out(report_size(report))])) - 1
    named = list(fitting_lists(_lists(report, about), left // 2))
    left -= sum(len(text) + 2 for text in named)
    rows = table(report.targets, left - 2) if report.targets else ""
    head = "\n\n".join(part for part in [*opening, rows, *closing, *named] if part)
    return fitted(head, [_fold(group) for group in group_diffs(report.targets)], limit)


def failure(report: PlanReport) -> str:
    """Why a plan failed, as it came: `internal: resourceSelector: …`."""
    reason = report.reason or "internal"
    return f"{reason}: {report.message}" if report.message else f"{reason}"


def report_size(report: PlanReport) -> int:
    """At least as many as there are diffs."""
    return sum(len(result.resources) + 1 for row in report.targets for result in row.results)


def _opening(report: PlanReport, about: About) -> Iterator[str]:
    yield "### Foretell Deployment Plan"
    at = report.created_at.strftime("%Y-%m-%d %H:%M UTC")
    commit = f" **Commit:** {code(about.commit[:7])} at {at}" if about.commit else ""
    named = f"**Deployment:** {inline(report.deployment_name)} **Version:** {inline(report.tag)}"
    yield named + commit
    if about.scope:
        yield f"**Only targets that match:** {inline(about.scope)}"
    if report.status is PlanStatus.FAILED:
        yield f"**Failed:** {inline(failure(report))}"


def _closing(report: PlanReport, about: About) -> Iterator[str]:
    if report.summary is None:
        yield "Computing which targets this reaches."
    else:
        yield f"**Summary:** {summary_line(report.targets, report.summary)}"
    if about.since is not None:
        yield since_line(about.since)


def _lists(report: PlanReport, about: About) -> Iterator[tuple[str, list[str]]]:
    yield from lists(report.targets)
    if about.since is not None:
        yield "Different from the last push", since_lines(about.since)


def _fold(group: DiffGroup) -> Fold:
    places = [place(row) for row in group.targets]
    others = len(places) - 1
    title = f"{group.title}: {places[0]}" + (f" and {others} more" if others else "")
    return Fold(title, group.diff, everywhere(places) if others else "")
