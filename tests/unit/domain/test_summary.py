"""What people and CI read: counts that add up, a conclusion that hides nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.context import AgentRef
from foretell.domain.override import Override, OverrideTerms
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    InvocationId,
    PlanReason,
    PlanStatus,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Action, Kind, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import (
    SELECTOR_LIMIT,
    Conclusion,
    Group,
    ResourceCounts,
    Summary,
    change_words,
    conclude,
    count_changes,
    distinct_changes,
    exit_code,
    suggest_selector,
    summarize,
    summary_line,
)
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.inventory.select import compile_selector
from foretell.testing.reports import HOSTILE, Anything

GROUPS = ("changed", "unchanged", "unknown", "errored", "unsupported", "computing")
seeds = st.integers(0, 2**32)
DONE = PlanStatus.COMPLETED
VERDICTS = {
    "passes": Verdict("p", "r", VerdictStatus.PASSED),
    "violates": Verdict("p", "r", VerdictStatus.DENIED, denials=(Denial("no"),)),
    "errs": Verdict("p", "r", VerdictStatus.ERRORED, message="too slow"),
}


def a_target(
    name: str,
    *kinds: bool | None,
    verdict: Verdict | None = None,
    status: Status = Status.COMPLETED,
    resources: tuple[ResourceChange, ...] = (),
) -> TargetState:
    results = tuple(
        KindState(
            ResultId(f"{name}-{place}"),
            Kind(f"k{place}"),
            Status.COMPLETED,
            flag,
            resources=resources,
        )
        for place, flag in enumerate(kinds)
    )
    invocation = InvocationState(
        id=InvocationId(f"i-{name}"),
        agent=AgentRef(AgentId("a"), "agent", "scripted"),
        status=status,
        results=results,
        verdicts=(verdict,) if verdict else (),
    )
    return TargetState(
        id=TargetId(f"t-{name}"),
        environment_id=EnvironmentId("e"),
        environment_name="production",
        resource_id=ResourceId(name),
        resource_name=name,
        resource_identifier=name,
        invocations=(invocation,),
    )


@pytest.mark.parametrize(
    ("flag", "verdict", "targets", "kinds"),
    list(product([True, False, None], VERDICTS, [1, 4], [1, 3])),
)
def test_the_truth_table_of_changes_and_rules(
    flag: bool | None, verdict: str, targets: int, kinds: int
) -> None:
    """One target and one kind of it stands out; all the others are unchanged and pass."""
    quiet = [a_target(f"q{n}", *[False] * kinds) for n in range(targets - 1)]
    telling = a_target("z", *[False] * (kinds - 1), flag, verdict=VERDICTS[verdict])
    rows = roll([*quiet, telling])
    summary = summarize(rows)
    code = {"passes": 0, "violates": 3, "errs": 1}[verdict]
    expected = (
        Conclusion.FAILURE
        if verdict != "passes"
        else Conclusion.SUCCESS
        if flag is False
        else Conclusion.NEUTRAL
    )
    assert conclude(DONE, None, summary) is expected
    assert exit_code(DONE, summary) == code
    detailed = 2 if verdict == "passes" and flag is not False else code
    assert exit_code(DONE, summary, detailed=True) == detailed
    assert (summary.changed, summary.unknown) == (flag is True, flag is None)
    assert summary.unchanged == targets - (flag is not False)


@given(seeds, st.sampled_from(["violates", "errs"]))
def test_a_denial_is_never_lost(seed: int, how: str) -> None:
    targets = Anything(seed).targets()
    summary = summarize(roll([*targets, a_target("one", True, verdict=VERDICTS[how])]))
    assert conclude(DONE, None, summary) is Conclusion.FAILURE
    assert exit_code(DONE, summary) in (1, 3)


@given(seeds)
def test_a_denial_without_a_reason_is_one_all_the_same(seed: int) -> None:
    targets = Anything(seed).targets()
    silent = Verdict("p", "r", VerdictStatus.DENIED)
    before = summarize(roll(targets))
    after = summarize(roll([*targets, a_target("one", False, verdict=silent)]))
    assert after.violations == before.violations + 1
    assert after.blocking == before.blocking + 1


def test_an_advisory_or_overridden_denial_is_counted_and_does_not_block() -> None:
    advisory = replace(VERDICTS["violates"], mandatory=False)
    overridden = replace(
        VERDICTS["violates"],
        terms=OverrideTerms("admin"),
        overrides=(Override("kim", "planned", datetime(2026, 1, 1, tzinfo=UTC)),),
    )
    for verdict in (advisory, overridden):
        summary = summarize(roll([a_target("one", False, verdict=verdict)]))
        assert (summary.violations, summary.blocking) == (1, 0)
        assert conclude(DONE, None, summary) is Conclusion.SUCCESS
        assert exit_code(DONE, summary) == 0


@given(seeds)
def test_an_errored_target_is_never_lost(seed: int) -> None:
    targets = Anything(seed).targets()
    summary = summarize(roll([*targets, a_target("one", status=Status.ERRORED)]))
    assert conclude(DONE, None, summary) is Conclusion.FAILURE
    assert exit_code(DONE, summary, detailed=True) == 1


@given(seeds)
def test_each_target_is_in_exactly_one_group(seed: int) -> None:
    targets = Anything(seed).targets()
    rows = roll(targets)
    summary = summarize(rows)
    assert sum(getattr(summary, group) for group in GROUPS) == summary.total == len(targets)
    assert {str(group) for group in Group} == set(GROUPS)


@given(seeds)
def test_success_means_that_every_target_is_proven_unchanged(
    seed: int,
) -> None:
    targets = Anything(seed).targets()
    rows = roll(targets)
    if conclude(DONE, None, summarize(rows)) is Conclusion.SUCCESS:
        assert rows
        assert all(row.has_changes is False for row in rows)
        assert not any(verdict.blocks for row in rows for verdict in row.verdicts)


@given(seeds)
def test_no_changes_is_said_only_of_what_is_proven_unchanged(
    seed: int,
) -> None:
    targets = Anything(seed).targets()
    for row in roll(targets):
        words = change_words(row)
        assert words
        assert words.startswith("No changes") is (
            row.has_changes is False and row.status is Status.COMPLETED and row.settled
        )


def test_a_target_with_only_hidden_changes_says_so() -> None:
    target = a_target("one", False)
    (agent,) = target.invocations
    hidden = replace(agent, results=(replace(agent.results[0], suppressed=2),))
    (row,) = roll([replace(target, invocations=(hidden,))])
    assert change_words(row) == "No changes (2 suppressed)"
    assert "2 with only suppressed changes" in summary_line([row], summarize([row]))


def test_no_target_is_neither_success_nor_nothing() -> None:
    empty = Summary()
    assert conclude(DONE, None, empty) is Conclusion.NEUTRAL
    assert summary_line((), empty) == "no target selected"
    assert exit_code(DONE, empty) == 1
    assert exit_code(DONE, empty, allow_empty=True) == 0


def test_a_plan_that_no_agent_can_make_is_skipped() -> None:
    rows = roll([a_target("one", status=Status.UNSUPPORTED)])
    assert conclude(DONE, None, summarize(rows)) is Conclusion.SKIPPED
    mixed = roll([a_target("one", status=Status.UNSUPPORTED), a_target("two", False)])
    assert conclude(DONE, None, summarize(mixed)) is Conclusion.NEUTRAL


@pytest.mark.parametrize("reason", list(PlanReason))
def test_a_failed_plan_never_succeeds(reason: PlanReason) -> None:
    unchanged = summarize(roll([a_target("one", False)]))
    stopped = reason in (PlanReason.CANCELLED, PlanReason.SUPERSEDED)
    for summary in (None, unchanged):
        found = conclude(PlanStatus.FAILED, reason, summary)
        assert found is (Conclusion.CANCELLED if stopped else Conclusion.FAILURE)
        assert exit_code(PlanStatus.FAILED, summary, detailed=True, allow_empty=True) == 1


summaries = st.builds(
    Summary, **{name: st.integers(0, 2) for name in (*GROUPS, "blocking", "validation_errors")}
).map(lambda summary: replace(summary, total=sum(getattr(summary, name) for name in GROUPS)))


@given(st.sampled_from(PlanStatus), st.none() | summaries, st.booleans(), st.booleans())
def test_the_exit_code_is_the_first_that_fits_of_1_3_2_0(
    status: PlanStatus, summary: Summary | None, detailed: bool, allow_empty: bool
) -> None:
    code = exit_code(status, summary, detailed=detailed, allow_empty=allow_empty)
    if status is not DONE or summary is None:
        assert code == 1
        return
    reasons: dict[int, Any] = {
        1: summary.errored
        or summary.validation_errors
        or summary.computing
        or (not summary.total and not allow_empty),
        3: summary.blocking,
        2: detailed and (summary.changed or summary.unknown),
        0: True,
    }
    assert code == next(number for number in (1, 3, 2, 0) if reasons[number])


def a_change(action: Action, *tags: str) -> ResourceChange:
    return ResourceChange("Deployment", "web", action, tags=tags)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([a_change(Action.ADD), a_change(Action.MODIFY)], "1 added, 1 modified"),
        ([a_change(Action.REPLACE)], "1 added, 1 deleted"),
        ([a_change(Action.DELETE, "kept")], "1 kept"),
        ([a_change(Action.NO_OP)], "Changed"),
        ([], "Changed"),
    ],
)
def test_a_changed_target_says_what_changes(actions: list[ResourceChange], words: str) -> None:
    (row,) = roll([a_target("one", True, resources=tuple(actions))])
    assert change_words(row) == words


@given(seeds)
def test_counts_of_parts_add_up(seed: int) -> None:
    anything = Anything(seed)
    some, more = (anything.some(anything.change, 6) for _ in range(2))
    assert count_changes(some) + count_changes(more) == count_changes([*some, *more])


def test_one_edit_that_reaches_many_targets_is_one_to_review() -> None:
    edit = replace(a_change(Action.MODIFY), diff="-a\n+b\n")
    rows = roll([a_target(f"t{n}", True, resources=(edit,)) for n in range(50)])
    assert distinct_changes(rows) == ResourceCounts(modify=1)
    line = summary_line(rows, summarize(rows))
    assert line == "50 of 50 targets affected (1 resource modified)"


ODD_NAMES = ("prod", "stage", "dev", 'q"u\\o', "é😀", "a\nb", "\x7f", *HOSTILE)
HALF = "\ud800"  # half a character: no selector can name it


def selected(selector: str, targets: Sequence[TargetState]) -> set[str]:
    matches = compile_selector(selector)
    return {
        target.id
        for target in targets
        if matches(
            {
                "environment": {"name": target.environment_name},
                "resource": {"identifier": target.resource_identifier},
                "deployment": {},
                "jobAgent": {},
            }
        )
    }


@given(seeds)
def test_the_suggested_selector_matches_exactly_the_affected_targets(
    seed: int,
) -> None:
    targets = Anything(seed, [name for name in ODD_NAMES if name != HALF]).targets(12)
    rows = roll(targets)
    selector = suggest_selector(rows)
    assert selector is not None
    assert selected(selector, targets) == {row.target.id for row in rows if row.has_changes}


def test_a_suggestion_that_the_inventory_would_refuse_is_not_made() -> None:
    rows = roll([a_target(f"é-{n:04}", n % 2 == 0) for n in range(1000)])
    assert suggest_selector(rows) is None
    fits = roll([a_target(f"ü{n}", n % 2 == 0) for n in range(600)])
    selector = suggest_selector(fits)
    if selector is not None:
        assert len(selector.encode()) <= SELECTOR_LIMIT
        compile_selector(selector)


def test_many_environments_still_give_a_selector_that_can_be_taken() -> None:
    targets = [
        replace(a_target(f"r{n}", n % 2 == 0), environment_name=f"e{n:02}") for n in range(60)
    ]
    selector = suggest_selector(roll(targets))
    assert selector is not None
    assert selected(selector, targets) == {f"t-r{n}" for n in range(0, 60, 2)}


def test_what_no_selector_can_name_is_not_suggested() -> None:
    targets = [replace(a_target("one", True), environment_name=HALF), a_target("two", False)]
    assert suggest_selector(roll(targets)) is None
    assert summarize(roll(targets)).changed == 1
