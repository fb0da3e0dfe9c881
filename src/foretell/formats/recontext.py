"""The diffs of a report with more or fewer equal lines around each change.

A report holds its diffs with three, as it was planned; the texts they are made of are read apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from foretell.domain.diff import unified_diff
from foretell.domain.plan import ResultId
from foretell.domain.result import ResourceChange
from foretell.domain.rollup import KindState, TargetState, roll
from foretell.domain.summary import PlanReport

CONTEXT = 3
"""Equal lines around each change in what is stored, as `diff -u` has them."""

Texts = Mapping[ResultId, tuple[ResourceChange, ...]]
"""The changes of a kind with their texts before and after."""


def results_to_read(report: PlanReport) -> Iterator[ResultId]:
    """One of all kinds with the same diffs: their texts are the same too."""
    seen: set[tuple[str, ...]] = set()
    for target in report.targets:
        for result in target.results:
            diffs = _diffs(result)
            if diffs and diffs not in seen:
                seen.add(diffs)
                yield result.id


def with_context(report: PlanReport, texts: Texts, context: int) -> PlanReport:
    """The report with its diffs made anew, `texts` being those of `results_to_read`."""
    known = {
        _diffs(result): tuple(_changed(change, context) for change in texts[result.id])
        for target in report.targets
        for result in target.results
        if result.id in texts
    }
    targets = [_target(target.target, known) for target in report.targets]
    return replace(report, targets=roll(targets))


def _diffs(result: KindState) -> tuple[str, ...]:
    return tuple(change.diff for change in result.resources)


def _target(target: TargetState, known: Mapping[tuple[str, ...], tuple[str, ...]]) -> TargetState:
    invocations = tuple(
        replace(one, results=tuple(_kind(result, known) for result in one.results))
        for one in target.invocations
    )
    return replace(target, invocations=invocations)


def _kind(result: KindState, known: Mapping[tuple[str, ...], tuple[str, ...]]) -> KindState:
    """The kind's own diff too, where it is that of its objects and no program's own text."""
    before = _diffs(result)
    after = known.get(before, before)
    resources = tuple(
        replace(change, diff=diff) for change, diff in zip(result.resources, after, strict=True)
    )
    is_joined = result.diff == "".join(before)
    return replace(result, resources=resources, diff="".join(after) if is_joined else result.diff)


def _changed(change: ResourceChange, context: int) -> str:
    heads = change.diff.split("\n", 2)
    if not change.diff or not heads[0].startswith("--- ") or len(heads) < 3:
        return change.diff
    return unified_diff(
        change.before,
        change.after,
        current_name=heads[0].removeprefix("--- "),
        proposed_name=heads[1].removeprefix("+++ "),
        context=context,
    ).text
