"""Checks and statuses: each field within its limit, well formed by itself, inert, and true."""

from hypothesis import given, settings
from hypothesis import strategies as st
from test_markdown import check_well_formed, hostile_texts, seeds

from foretell.domain.summary import Conclusion, conclude, summarize
from foretell.formats.markdown import (
    CHECK_LIMIT,
    NAME_LIMIT,
    Since,
    plan_check,
    short,
    since,
    target_check,
    target_digests,
)
from foretell.formats.markdown.fitting import fair_share
from foretell.testing.reports import Anything

limits = st.sampled_from([200, 1_000, 5_000, CHECK_LIMIT])


@settings(deadline=None, max_examples=60)
@given(seeds, limits)
def test_a_check_is_within_its_limits_well_formed_and_inert(seed: int, limit: int) -> None:
    report = Anything(seed).report(8)
    checks = [target_check(report, row, limit) for row in report.targets]
    for check in [plan_check(report, limit), *checks]:
        assert len(check.title) <= NAME_LIMIT
        assert "\n" not in check.title
        for text in (check.summary, check.text):
            assert len(text) <= limit
            check_well_formed(text)


@settings(deadline=None, max_examples=100)
@given(seeds)
def test_a_check_of_one_target_concludes_as_the_plan_of_it_alone_would(seed: int) -> None:
    report = Anything(seed).report(8)
    for row in report.targets:
        found = target_check(report, row).conclusion
        if found is None:
            assert not row.settled
        elif found is not Conclusion.CANCELLED:
            status = report.status if report.status != "computing" else "completed"
            assert found is conclude(type(report.status)(status), report.reason, summarize([row]))


@given(hostile_texts | st.text(max_size=400), hostile_texts, st.sampled_from([60, 140, 255]))
def test_a_shortened_text_fits_and_still_tells_one_from_another(
    text: str, other: str, limit: int
) -> None:
    found = short(text, limit)
    assert len(found) <= limit
    assert "\n" not in found
    if text.split() != other.split() and len(text) > limit:
        assert found != short(text + other + "x", limit)


@given(st.lists(st.integers(1, 500)), st.integers(0, 5_000))
def test_a_share_is_the_largest_that_lets_all_fit(sizes: list[int], room: int) -> None:
    share = fair_share(sizes, room)
    assert sum(min(size, share) for size in sizes) <= room or share == 0
    if share < max(sizes, default=0):
        assert sum(min(size, share + 1) for size in sizes) > room


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_nothing_is_different_from_itself(seed: int) -> None:
    targets = Anything(seed).report(8).targets
    digests = target_digests(targets)
    assert len(digests) == len(targets)
    assert since("c", digests, digests) == Since("c", same=len(targets))
    assert since("c", {}, digests).new == tuple(digests)
    assert since("c", digests, {}).gone == tuple(digests)
