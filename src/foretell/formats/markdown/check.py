"""Checks: RFC 0013 "GitHub check rendering", and commit statuses, each field within its limit.

A target's check has a section for each agent and in it a block for each kind. The check for all
targets has the same sections, each once, with the targets that it is true of.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.plan import PlanStatus
from foretell.domain.result import Status
from foretell.domain.rollup import AgentRollup, KindState, TargetRollup
from foretell.domain.summary import (
    Conclusion,
    PlanReport,
    Summary,
    change_words,
    conclude,
    summarize,
    summary_line,
)
from foretell.formats.markdown.annotation import Annotation, annotations
from foretell.formats.markdown.comment import failure
from foretell.formats.markdown.fitting import fenced_part, shared
from foretell.formats.markdown.grouping import distinct_places
from foretell.formats.markdown.lists import everywhere, fitting_lists, lists
from foretell.formats.markdown.table import table
from foretell.formats.markdown.text import cut, flat, inline

CHECK_LIMIT = 65_535
"""Longest summary and longest text of a check run, in characters (REST docs, "Check runs")."""
NAME_LIMIT = 255
"""Longest context of a commit status; a check run's name and title are kept to it too."""
DESCRIPTION_LIMIT = 140
"""Longest description of a commit status, in characters."""

_TAIL = 8


@dataclass(frozen=True, slots=True)
class Check:
    """What a check run shows; `conclusion` None: it is still in progress."""

    title: str
    summary: str
    text: str
    conclusion: Conclusion | None
    annotations: tuple[Annotation, ...] = ()


def target_check(report: PlanReport, row: TargetRollup, limit: int = CHECK_LIMIT) -> Check:
    """The check of one target: done when the target is, whatever the others still do."""
    summary = summarize([row])
    return Check(
        title=check_title(row, summary),
        summary=_summary(report, [row], [_message(row)], limit),
        text=_sections([(row,)], limit),
        conclusion=_conclusion(report, summary, settled=row.settled),
        annotations=annotations([row]),
    )


def plan_check(report: PlanReport, limit: int = CHECK_LIMIT) -> Check:
    """One check for all targets: a table, and a section for each distinct answer."""
    done = report.status is not PlanStatus.COMPUTING
    summary = report.summary
    title = summary_line(report.targets, summary) if summary else "Computing"
    rows = table(report.targets, limit // 3) if report.targets else ""
    failed = f"**Failed:** {inline(failure(report))}"
    parts = [failed if report.status is PlanStatus.FAILED else "", rows]
    return Check(
        title=short(title, NAME_LIMIT),
        summary=_summary(report, report.targets, parts, limit),
        text=_sections(_alike(report.targets), limit),
        conclusion=_conclusion(report, summary, settled=done),
        annotations=annotations(report.targets),
    )


def check_title(row: TargetRollup, summary: Summary) -> str:
    """`1 added, 2 modified, 1 violation`: the words of the table, and what the rules said."""
    said = [change_words(row)]
    for number, word in (
        (summary.violations, "violation"),
        (summary.validation_errors, "rule errored"),
    ):
        if number:
            said.append(f"{number} {word}" + ("s" if number > 1 and word == "violation" else ""))
    return short(", ".join(said), NAME_LIMIT)


def short(text: str, limit: int) -> str:
    """`text` on one line; where it is too long, shortened with a tail that tells it from others."""
    one_line = " ".join(text.split()) if len(text) <= limit else text
    if len(one_line) <= limit and flat(one_line) == one_line:
        return one_line
    tail = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_TAIL]
    kept = flat(text)[: limit - _TAIL - 2]
    return f"{kept}… {tail}"


def _conclusion(report: PlanReport, summary: Summary | None, *, settled: bool) -> Conclusion | None:
    if report.status is PlanStatus.COMPUTING:
        return conclude(PlanStatus.COMPLETED, None, summary) if settled else None
    return conclude(report.status, report.reason, summary)


def _message(row: TargetRollup) -> str:
    if row.status is Status.COMPLETED or not row.message:
        return ""
    return f"**{change_words(row)}:** {inline(row.message)}"


def _summary(
    report: PlanReport, targets: Sequence[TargetRollup], parts: Sequence[str], limit: int
) -> str:
    named = f"**Deployment:** {inline(report.deployment_name)} **Version:** {inline(report.tag)}"
    line = summary_line(targets, summarize(targets)) if report.summary else "computing"
    head = [named, f"**Summary:** {line}", *(part for part in parts if part)]
    left = limit - len("\n\n".join(head)) - 2
    return cut("\n\n".join([*head, *fitting_lists(lists(targets), left)]), limit)


def _alike(targets: Sequence[TargetRollup]) -> list[tuple[TargetRollup, ...]]:
    """Targets by what their agents answered, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[TargetRollup]] = {}
    for row in targets:
        groups.setdefault(tuple(map(_answer, row.agents)), []).append(row)
    return [tuple(rows) for rows in groups.values()]


def _answer(agent: AgentRollup) -> tuple[object, ...]:
    kinds = tuple(
        (one.kind, one.status, one.has_changes, one.diff) for one in agent.invocation.results
    )
    return (agent.invocation.agent, agent.status, agent.invocation.message, kinds)


def _sections(groups: Sequence[tuple[TargetRollup, ...]], limit: int) -> str:
    sections = [
        _Section(group if number == 0 else (), group, agent)
        for group in groups
        for number, agent in enumerate(group[0].agents)
    ]
    alone = len(groups) == 1 and len(groups[0]) == 1
    note = f"*{len(sections):,} sections left out to fit.*"
    if alone:
        sections = [_Section((), one.targets, one.agent) for one in sections]
    room = limit - len(note) - 2
    parts = list(shared(sections, room, _Section.size, _Section.shown))
    missing = len(sections) - len(parts)
    noun = "section" if missing == 1 else "sections"
    notes = [f"*{missing:,} {noun} left out to fit.*"] if missing else []
    return "\n\n".join([*parts, *notes])


@dataclass(frozen=True, slots=True)
class _Section:
    """One agent's answer; `heads` are the targets whose heading is above it."""

    heads: tuple[TargetRollup, ...]
    targets: tuple[TargetRollup, ...]
    agent: AgentRollup

    def _opening(self) -> str:
        named = self.agent.invocation.agent
        title = f"{named.name or 'no agent'} ({named.type})" if named.type else named.name
        places = [f"### {everywhere(distinct_places(self.heads))}"] if self.heads else []
        message = self.agent.invocation.message
        said = [inline(message)] if message else []
        return "\n\n".join([*places, f"#### {inline(title) or 'No agent'}", *said])

    def size(self) -> int:
        """Characters that it takes when it is whole, an empty line after it included."""
        kinds = self.agent.invocation.results
        return len(self._opening()) + 2 + sum(len(_kind_head(one)) + _size(one) for one in kinds)

    def shown(self, room: int) -> str:
        """In `room` characters, a block for each kind; "" where not even the head fits."""
        head = self._opening()
        if len(head) > room:
            return ""
        kinds = self.agent.invocation.results
        blocks = shared(kinds, room - len(head), _size, _kind_block)
        parts = [head, *blocks]
        missing = len(kinds) + 1 - len(parts)
        if missing:
            note = f"*{missing:,} {'kind' if missing == 1 else 'kinds'} left out to fit.*"
            parts = [*_while_fitting(parts, room - len(note) - 2), note]
        return "\n\n".join(parts)


def _while_fitting(parts: Sequence[str], room: int) -> Iterator[str]:
    for part in parts:
        room -= len(part) + 2
        if room < 0:
            return
        yield part


def _kind_head(result: KindState) -> str:
    counts = f" +{result.additions} -{result.deletions}" if result.diff else ""
    return f"**{inline(result.kind or 'Manifest')}**{counts}"


def _size(result: KindState) -> int:
    return (
        len(_kind_head(result))
        + len(result.diff or _no_diff(result))
        + len("\n\n```diff\n\n```\n\n")
    )


def _kind_block(result: KindState, room: int) -> str:
    head = _kind_head(result)
    left = room - len(head) - 2
    body = fenced_part(result.diff, left) if result.diff else _no_diff(result)
    return f"{head}\n\n{body}" if body and len(body) <= left else ""


def _no_diff(result: KindState) -> str:
    if result.has_changes:
        return "Changes, which this agent can't show."
    return "No changes" if result.has_changes is False else "Unknown"
