"""Folding states: grouping and order do not matter, and bad news is never lost."""

from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.result import Status
from foretell.domain.rollup import (
    any_changes,
    roll,
    roll_agent,
    roll_target,
    settled,
    worst,
)
from foretell.domain.summary import summarize
from foretell.testing.reports import Anything

flags = st.sampled_from([True, False, None])
seeds = st.integers(0, 2**32)
statuses = st.lists(st.sampled_from(Status), max_size=6)
grouped_flags = st.lists(st.lists(flags, max_size=4), max_size=4)


@given(grouped_flags)
def test_how_flags_are_grouped_does_not_matter(groups: list[list[bool | None]]) -> None:
    flat = [flag for group in groups for flag in group]
    assert any_changes(any_changes(group) for group in groups) is any_changes(flat)


@given(st.lists(flags, max_size=6), st.randoms())
def test_the_order_of_flags_does_not_matter(given_flags: list[bool | None], random: Random) -> None:
    shuffled = sorted(given_flags, key=lambda _: random.random())
    assert any_changes(shuffled) is any_changes(given_flags)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (True, True, True),
        (True, None, True),
        (True, False, True),
        (None, None, None),
        (None, False, None),
        (False, False, False),
    ],
)
def test_unknown_is_neither_true_nor_false(
    left: bool | None, right: bool | None, both: bool | None
) -> None:
    assert any_changes([left, right]) is both
    assert any_changes([right, left]) is both


@given(st.lists(statuses, max_size=4))
def test_how_statuses_are_grouped_does_not_matter(groups: list[list[Status]]) -> None:
    flat = [status for group in groups for status in group]
    assert worst(worst(group) for group in groups) is worst(flat)
    assert all(settled(group) for group in groups) is settled(flat)


@given(statuses, st.sampled_from(Status))
def test_an_error_is_never_lost(others: list[Status], one: Status) -> None:
    assert worst([*others, Status.ERRORED]) is Status.ERRORED
    assert worst([Status.ERRORED, *others]) is Status.ERRORED
    order = [Status.COMPLETED, Status.UNSUPPORTED, Status.COMPUTING, Status.ERRORED]
    assert order.index(worst([*others, one])) >= order.index(one)


@given(statuses)
def test_one_that_computes_is_never_done(others: list[Status]) -> None:
    assert not settled([*others, Status.COMPUTING])


@given(seeds)
def test_an_agent_without_a_whole_answer_never_says_no_changes(seed: int) -> None:
    state = Anything(seed).invocation()
    rolled = roll_agent(state)
    if rolled.status is not Status.COMPLETED or not state.results:
        assert rolled.has_changes is not False
    if any(result.has_changes is None for result in state.results):
        assert rolled.has_changes is not False


@given(seeds)
def test_a_target_says_no_changes_only_if_every_kind_of_every_agent_does(
    seed: int,
) -> None:
    target = Anything(seed).target()
    rolled = roll_target(target)
    proven = bool(target.invocations) and all(
        invocation.status is Status.COMPLETED
        and invocation.results
        and all(
            result.status is Status.COMPLETED and result.has_changes is False
            for result in invocation.results
        )
        for invocation in target.invocations
    )
    assert (rolled.has_changes is False) is proven


@given(seeds)
def test_a_change_that_one_kind_saw_is_never_lost(seed: int) -> None:
    target = Anything(seed).target()
    saw = any(result.has_changes for one in target.invocations for result in one.results)
    assert (roll_target(target).has_changes is True) is saw


@given(seeds)
def test_the_order_of_agents_does_not_matter_to_what_a_target_comes_to(
    seed: int,
) -> None:
    target = Anything(seed).target()
    there = roll_target(target)
    back = roll_target(replace(target, invocations=target.invocations[::-1]))
    assert (there.status, there.settled, there.has_changes) == (
        back.status,
        back.settled,
        back.has_changes,
    )


@given(seeds)
def test_a_target_tells_the_reason_of_its_worst_agent(seed: int) -> None:
    target = Anything(seed).target()
    rolled = roll_target(target)
    telling = [agent.invocation for agent in rolled.agents if agent.status is rolled.status]
    if telling:
        assert (rolled.reason, rolled.message) == (telling[0].reason, telling[0].message)


@given(seeds, st.randoms())
def test_who_finished_first_does_not_matter_to_a_plan(seed: int, random: Random) -> None:
    targets = Anything(seed).targets()
    shuffled = sorted(targets, key=lambda _: random.random())
    assert summarize(roll(shuffled)) == summarize(roll(targets))


@pytest.mark.parametrize("kinds", [1, 3])
def test_no_flag_of_a_kind_can_hide_another(kinds: int) -> None:
    for combination in product([True, False, None], repeat=kinds):
        expected = True if True in combination else None if None in combination else False
        assert any_changes(combination) is expected
