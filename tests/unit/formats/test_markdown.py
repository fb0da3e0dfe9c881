"""The comment: within its limit, well formed, inert, and never saying less than it knows."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from foretell.domain.plan import PlanStatus
from foretell.domain.result import Action, ResourceChange, Status
from foretell.domain.rollup import TargetState, roll
from foretell.domain.summary import Group, PlanReport, change_words, group_of, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.formats.html import page
from foretell.formats.markdown import (
    COMMENT_LIMIT,
    Fold,
    code,
    comment,
    cut,
    fenced,
    folded,
    inline,
)
from foretell.testing.reports import HOSTILE, Anything

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OPENING = re.compile(r"<details>\n<summary>[^<>]*</summary>\n?")
CLOSING = re.compile(r"</details>\n?")
# What GitHub makes something of although the markup is escaped.
ALIVE = re.compile(r"@\w|#\d|://|\bwww\.|\bGH-\d", re.IGNORECASE)
UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
seeds = st.integers(0, 2**32)
limits = st.integers(300, 5_000) | st.sampled_from([300, 10_000, COMMENT_LIMIT, 70_000])
hostile_texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=6).map("".join)


def tokens(text: str) -> Iterator[Token]:
    for token in READER.parse(text):
        yield token
        yield from token.children or ()


def check_well_formed(text: str) -> None:
    """Only our own HTML, each fence and each fold closed, nothing linked, nobody called."""
    folds = 0
    lines = re.split("\r\n|\r|\n", text)
    for token in tokens(text):
        assert token.type not in ("html_inline", "image", "link_open"), token
        if token.type == "html_block":
            assert OPENING.fullmatch(token.content) or CLOSING.fullmatch(token.content), token
            folds += 1 if token.content.startswith("<details>") else -1
            assert folds in (0, 1)
            assert not ALIVE.search(token.content)
        elif token.type == "fence":
            assert token.map is not None
            assert lines[token.map[1] - 1] == token.markup
        elif token.type == "text":
            assert not ALIVE.search(token.content), token.content
    assert folds == 0
    assert not UNSHOWN.search(text)


def cells(text: str) -> list[list[str]]:
    """The table's rows below its head."""
    rows: list[list[str]] = []
    for token in READER.parse(text):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level == 4:
            rows[-1].append(token.content)
    return rows[1:]


@settings(deadline=None, max_examples=50)
@given(seeds, limits)
def test_a_comment_is_within_its_limit_well_formed_and_inert(seed: int, limit: int) -> None:
    report = Anything(seed).report()
    text = comment(report, limit)
    assert len(text) <= limit
    check_well_formed(text)


@settings(deadline=None, max_examples=50)
@given(seeds, limits)
def test_a_row_says_what_its_target_comes_to_however_much_is_cut(seed: int, limit: int) -> None:
    report = Anything(seed).report(12)
    rows = cells(comment(report, limit))
    assert all(len(row) == 4 for row in rows)
    kept = [row for row in rows if not (row[0] == "…" and "more target" in row[1])]
    left = iter(report.targets)
    for row in kept:  # in the targets' order, whichever of them are left out
        assert any(change_words(one) == row[2] for one in left), row
    if len(kept) < len(report.targets) and rows:
        assert rows[-1][1] == f"and {len(report.targets) - len(kept)} more target" + (
            "" if len(report.targets) - len(kept) == 1 else "s"
        )


@settings(deadline=None, max_examples=50)
@given(seeds, limits)
def test_no_changes_is_said_of_no_more_targets_than_are_proven_unchanged(
    seed: int, limit: int
) -> None:
    report = Anything(seed, ["production"]).report(12)
    unchanged = sum(group_of(row) is Group.UNCHANGED for row in report.targets)
    said = sum(row[2].startswith("No changes") for row in cells(comment(report, limit)))
    assert said <= unchanged


def a_large_report(count: int, **changes: object) -> PlanReport:
    anything = Anything(7, ["a-rather-long-name-of-a-target-somewhere"])
    change = ResourceChange("Deployment", "web", Action.MODIFY, diff="-a\n+b\n")
    kind = replace(anything.kind(), has_changes=True, resources=(change,))
    answered = replace(anything.invocation(), status=Status.COMPLETED, results=(kind,), verdicts=())
    first: TargetState = replace(
        anything.target(), environment_name="production", invocations=(answered,)
    )
    targets = roll([replace(first, resource_name=f"cluster-{n:04}") for n in range(count)])
    return replace(
        anything.report(),
        status=PlanStatus.COMPLETED,
        reason=None,
        targets=targets,
        summary=summarize(targets),
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("count", [1, 50, 2000])
def test_the_summary_stays_however_large_the_table_is(count: int) -> None:
    report = a_large_report(count)
    text = comment(report)
    assert len(text) <= COMMENT_LIMIT
    assert f"of {count} target" in text
    check_well_formed(text)


def test_a_denial_is_never_lost_to_the_table_or_the_diffs() -> None:
    report = a_large_report(2000)
    no = Verdict("gate", "z-late", VerdictStatus.DENIED, denials=(Denial("never on Fridays"),))
    targets = [row.target for row in report.targets]
    targets[-1] = replace(
        targets[-1], invocations=(replace(targets[-1].invocations[0], verdicts=(no,)),)
    )
    rows = roll(targets)
    text = comment(replace(report, targets=rows, summary=summarize(rows)))
    assert "never on Fridays" in text
    assert "more targets" in cells(text)[-1][1]
    assert len(text) <= COMMENT_LIMIT


def test_a_thousand_violations_leave_room_for_what_would_be_deleted() -> None:
    report = a_large_report(300)
    gone = ResourceChange("Namespace", "payments", Action.DELETE, diff="-a\n")
    targets = []
    for number, row in enumerate(report.targets):
        asked = row.target.invocations[0]
        no = Verdict("gate", "rule", VerdictStatus.DENIED, denials=(Denial(f"{number}" * 300),))
        kinds = (replace(asked.results[0], resources=(gone,)),)
        targets.append(
            replace(row.target, invocations=(replace(asked, verdicts=(no,), results=kinds),))
        )
    rows = roll(targets)
    text = comment(replace(report, targets=rows, summary=summarize(rows)))
    assert re.search(r"\n- … and \d+ more\n", text)
    assert "**Deleted or replaced**\n\n- `Namespace/payments` on production / cluster-0000" in text
    assert len(text) <= COMMENT_LIMIT


def test_what_is_left_out_is_counted() -> None:
    report = a_large_report(3)
    whole = comment(report, 10**7)
    assert "left out" not in whole
    assert "<details>" in whole
    short = comment(report, len(whole) - 1)
    assert re.search(r"\*\d+ diffs? left out to fit the comment\.\*", short)
    assert len(short) < len(whole)


def test_a_rule_that_denies_without_a_reason_or_can_not_answer_is_named() -> None:
    report = a_large_report(1)
    verdicts = (
        Verdict("gate", "silent", VerdictStatus.DENIED),
        Verdict("gate", "broken", VerdictStatus.ERRORED, message="too slow"),
    )
    target = report.targets[0].target
    invocation = replace(Anything(1).invocation(), verdicts=verdicts)
    targets = roll([replace(target, invocations=(invocation,))])
    text = comment(replace(report, targets=targets, summary=summarize(targets)))
    assert "**silent** on production / cluster-0000: no reason given" in text
    assert "**broken** on production / cluster-0000: too slow" in text


@given(hostile_texts)
@example("\\|")
@example("a\\|`<img src=x>`")
@example("1. x")
@example("https://x www.x #1 @x $x$")
def test_hostile_text_is_inert_in_every_place(text: str) -> None:
    places = [
        f"**x:** {inline(text)}",
        f"- {inline(text)}",
        f"| a | b | c | d |\n| --- | --- | --- | --- |\n| {inline(text)} | {code(text)} | 1 | 2 |",
        folded(Fold(text, text, inline(text))),
    ]
    check_well_formed("\n\n".join(places) + "\n")
    ((first, second, *rest),) = cells("\n\n".join(places))
    assert rest == ["1", "2"]
    assert "\n" not in first + second


@given(hostile_texts)
def test_nothing_can_close_a_fence(text: str) -> None:
    found = READER.parse(fenced(text, "diff") + "\n\nafter")
    assert [token.type for token in found[:2]] == ["fence", "paragraph_open"]


def test_a_summary_shows_no_backslash() -> None:
    """Up to the empty line it is HTML: an escape would be read out."""
    assert "<summary>eu-west_1 &lt;b&gt;</summary>" in folded(Fold("eu-west_1 <b>", "x"))


@given(st.text(max_size=200), st.integers(20, 100))
def test_a_cut_text_fits_and_says_so(text: str, limit: int) -> None:
    found = cut(text, limit)
    assert len(found) <= limit
    assert found == text or "cut to fit" in found


TAG = re.compile(r"<([^>]*)")
OURS = re.compile(
    r"!doctype html|/?(html|head|title|style|body|main|h1|h2|small|p|strong|table|thead|tbody|tr|td"
    r"|span|pre|ul|li|br)|html lang=\"en\"|meta [a-z0-9=\", -]+|th scope=col"
    r"|(p|span|li) class=\"[a-z]*\""
)


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_a_page_has_no_tag_of_its_content(seed: int) -> None:
    found = page([Anything(seed).report()])
    body = found.replace(found[found.index("<style>") : found.index("</style>")], "<style>")
    assert [tag for tag in TAG.findall(body) if not OURS.fullmatch(tag)] == []


def test_a_page_names_what_changes_and_no_denial_is_lost_to_it() -> None:
    report = a_large_report(2)
    assert page([report]).count("Deployment/web<") >= 2
    no = Verdict("guard", "no-latest", VerdictStatus.DENIED, denials=(Denial("<b>: pin it"),))
    silent = Verdict("guard", "broken", VerdictStatus.ERRORED, message="too slow")
    targets = [row.target for row in report.targets]
    judged = replace(targets[0].invocations[0], verdicts=(no, silent))
    rows = roll([replace(targets[0], invocations=(judged,)), targets[1]])
    found = page([replace(report, targets=rows, summary=summarize(rows))])
    assert (
        "<strong>no-latest</strong> on production / cluster-0000 says no: &lt;b&gt;: pin" in found
    )
    assert (
        "<strong>broken</strong> on production / cluster-0000 could not answer: too slow" in found
    )


def test_a_warning_and_what_is_advisory_are_told_apart_from_what_blocks() -> None:
    advisory = Verdict("p", "soft", VerdictStatus.DENIED, False, (Denial("please"),))
    warns = Verdict("p", "warns", VerdictStatus.PASSED, warnings=("<look> at *it*",))
    report = replace(Anything(1).report(), status=PlanStatus.COMPLETED, reason=None)
    (target,) = Anything(1).targets(1) or (Anything(1).target(),)
    judged = replace(Anything(1).invocation(), verdicts=(advisory, warns))
    targets = roll([replace(target, invocations=(judged,))])
    shown = replace(report, targets=targets, summary=summarize(targets))
    text = comment(shown)
    assert ": please (advisory)" in text
    assert text.index("**Violations**") < text.index("**Warnings**")
    assert "&lt;look&gt; at \\*it\\*" in text
    found = page([shown])
    assert "says no: please (advisory)" in found
    assert "warns: &lt;look&gt; at *it*" in found
