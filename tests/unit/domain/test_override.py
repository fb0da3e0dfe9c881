"""Who answers for a denial: enough distinct people, and only for what they meant."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.override import Override, OverrideTerms, PlanOverride, in_force, people
from foretell.domain.plan import TargetId
from foretell.domain.rollup import overridden, roll
from foretell.domain.summary import override_words, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.testing.reports import Anything

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = st.lists(st.sampled_from(["kim", "Kim", " kim ", "lee", "ann"]), max_size=5)


def by(*names: str) -> tuple[Override, ...]:
    return tuple(Override(name, "planned", AT) for name in names)


@pytest.mark.parametrize(
    ("terms", "names", "enough"),
    [
        (OverrideTerms("admin"), (), False),
        (OverrideTerms("admin"), ("kim",), True),
        (OverrideTerms("admin", 2), ("kim",), False),
        (OverrideTerms("admin", 2), ("kim", "kim"), False),
        (OverrideTerms("admin", 2), ("kim", "KIM "), False),
        (OverrideTerms("admin", 2), ("kim", "lee"), True),
        (OverrideTerms("admin", 0), (), False),
        (OverrideTerms("", 1), ("kim", "lee"), False),
    ],
)
def test_it_takes_as_many_distinct_people_as_the_policy_says(
    terms: OverrideTerms, names: tuple[str, ...], enough: bool
) -> None:
    assert in_force(terms, by(*names)) is enough


@given(NAMES)
def test_two_words_of_one_person_are_one_person(names: list[str]) -> None:
    assert len(people(by(*names))) == len({name.strip().lower() for name in names})
    assert people(by(*names, *names)) == people(by(*names))


@given(st.integers(0, 10_000), NAMES)
def test_an_override_changes_what_blocks_and_nothing_that_was_said(
    seed: int, names: list[str]
) -> None:
    targets = Anything(seed).targets()
    denied = Verdict(
        "p", "r", VerdictStatus.DENIED, denials=(Denial("no"),), terms=OverrideTerms("admin", 2)
    )
    targets = tuple(
        replace(t, invocations=tuple(replace(i, verdicts=(denied,)) for i in t.invocations))
        for t in targets
    )
    before = summarize(roll(targets))
    after = summarize(roll(overridden(targets, [PlanOverride(o, "p", "r") for o in by(*names)])))
    enough = len(people(by(*names))) >= 2
    assert (after.violations, after.validation_errors) == (before.violations, 0)
    assert after.blocking == (0 if enough else before.blocking)
    assert after.overridden == (before.violations if enough else 0)


def test_an_override_is_about_one_rule_of_one_policy_and_where_it_was_meant() -> None:
    everywhere = PlanOverride(*by("kim"), "p", "r")
    here = replace(everywhere, target_id=TargetId("t"))
    assert everywhere.is_about("p", "r", TargetId("t"))
    assert everywhere.is_about("p", "r", TargetId("other"))
    assert here.is_about("p", "r", TargetId("t"))
    assert not here.is_about("p", "r", TargetId("other"))
    assert not everywhere.is_about("p", "other", TargetId("t"))
    assert not everywhere.is_about("other", "r", TargetId("t"))


@pytest.mark.parametrize("status", [VerdictStatus.ERRORED, VerdictStatus.PASSED])
def test_what_is_no_denial_is_not_overridden(status: VerdictStatus) -> None:
    verdict = Verdict("p", "r", status, terms=OverrideTerms("admin"), overrides=by("kim"))
    assert verdict.overridden_by == ()
    assert verdict.blocks is (status is VerdictStatus.ERRORED)


def test_the_words_say_who_and_why_and_how_many_are_missing() -> None:
    verdict = Verdict(
        "p", "r", VerdictStatus.DENIED, terms=OverrideTerms("admin", 2), overrides=by("kim")
    )
    assert override_words(verdict) == "override by 1 of 2, still in force: kim: planned"
    both = replace(verdict, overrides=by("kim", "lee"))
    assert override_words(both) == "overridden by kim: planned; lee: planned"
