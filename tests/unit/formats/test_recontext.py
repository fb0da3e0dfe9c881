"""More or fewer equal lines around a change, and nothing else of a report is touched."""

from dataclasses import replace

import pytest

from foretell.domain.context import AgentRef
from foretell.domain.diff import apply_unified
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    InvocationId,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Kind, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import PlanReport
from foretell.formats.kubernetes import compare
from foretell.formats.kubernetes.options import CompareOptions
from foretell.formats.recontext import results_to_read, with_context
from foretell.testing.reports import Anything

LINES = "".join(f"  k{number}: v\n" for number in range(40))
BEFORE = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{LINES}"
AFTER = BEFORE.replace("k20: v", "k20: other")


@pytest.mark.parametrize("context", [0, 1, 10, 1000])
def test_it_is_the_diff_that_a_comparison_with_that_context_makes(context: int) -> None:
    (stored,) = compare(BEFORE, AFTER).changes
    (wanted,) = compare(BEFORE, AFTER, CompareOptions(context=context)).changes
    id = ResultId("r")
    report = _holding(id, stored)
    shown = with_context(report, {id: (stored,)}, context)
    (change,) = shown.targets[0].resources
    assert change.diff == wanted.diff
    assert shown.targets[0].diff == wanted.diff
    assert apply_unified(stored.before, change.diff) == stored.after


@pytest.mark.parametrize("seed", range(30))
def test_what_was_not_read_stays_as_it_was(seed: int) -> None:
    report = Anything(seed).report()
    assert with_context(report, {}, 7).targets == report.targets


@pytest.mark.parametrize("seed", range(30))
def test_equal_diffs_are_read_once(seed: int) -> None:
    report = Anything(seed).report()
    twice = replace(report, targets=(*report.targets, *report.targets))
    assert list(results_to_read(twice)) == list(results_to_read(report))


def _holding(id: ResultId, stored: ResourceChange) -> PlanReport:
    shown = replace(stored, before="", after="")
    kind = KindState(
        id, Kind("manifest"), Status.COMPLETED, True, diff=stored.diff, resources=(shown,)
    )
    agent = AgentRef(AgentId("a"), "a", "helm")
    invocation = InvocationState(InvocationId("i"), agent, Status.COMPLETED, results=(kind,))
    where = (EnvironmentId("e"), "prod", ResourceId("r"), "eu", "eu")
    target = TargetState(TargetId("t"), *where, (invocation,))
    return replace(Anything(1).report(), targets=roll([target]))
