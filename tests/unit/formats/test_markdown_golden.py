"""Whole comments and checks, kept as files in tests/golden: read them, and read their changes.

`FORETELL_WRITE_GOLDEN=1 pytest tests/unit/formats/test_markdown_golden.py` writes them anew.
"""

import os
import re
from html import unescape
from pathlib import Path

import pytest
from golden_plans import SCENARIOS, Scenario
from markdown_it import MarkdownIt

from foretell.domain.summary import change_words
from foretell.formats.markdown import (
    CHECK_LIMIT,
    COMMENT_LIMIT,
    Check,
    comment,
    group_diffs,
    plan_check,
    target_check,
)

GOLDEN = Path(__file__).parents[2] / "golden"
WRITE = "FORETELL_WRITE_GOLDEN"
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PIECES = re.compile(r"<(?P<closes>/?)(?P<tag>[a-z0-9]+)(?: class=\"[a-z-]+\")?>|(?P<text>[^<]+)")
TABLE = ("table", "thead", "tbody", "tr", "th", "td")
TAGS = {*TABLE, "h3", "h4", "p", "strong", "em", "code", "pre", "ul", "li", "details", "summary"}
names = pytest.mark.parametrize("name", SCENARIOS)


class Page:
    """What a browser would make of it: the tags, in order, and every one closed."""

    def __init__(self, html: str) -> None:
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        for token in PIECES.finditer(html):
            if token["text"]:
                self._say(unescape(token["text"]))
            elif token["closes"]:
                assert self._open.pop() == token["tag"]
            else:
                self._begin(token["tag"])
        assert self._open == []
        assert PIECES.sub("", html) == ""

    def _begin(self, tag: str) -> None:
        assert tag in TAGS, tag
        self.tags.append(tag)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")

    def _say(self, text: str) -> None:
        if "td" in self._open:
            self.rows[-1][-1] += text


def golden(path: Path, text: str) -> None:
    if os.environ.get(WRITE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    assert path.is_file(), f"{path} is missing: run with {WRITE}=1 and read what it wrote"
    assert path.read_bytes().decode() == text


def as_text(check: Check) -> str:
    ended = check.conclusion or "in progress"
    return f"{check.title}\n{ended}\n\n{check.summary}\n\n{check.text}\n"


@names
def test_a_comment_is_as_it_was_read(name: str) -> None:
    scenario = SCENARIOS[name]()
    text = comment(scenario.report(), COMMENT_LIMIT, scenario.about)
    assert len(text) <= COMMENT_LIMIT
    golden(GOLDEN / name / "comment.md", text)


@names
def test_a_check_is_as_it_was_read(name: str) -> None:
    report = SCENARIOS[name]().report()
    check = plan_check(report)
    assert max(len(check.summary), len(check.text)) <= CHECK_LIMIT
    golden(GOLDEN / name / "check.md", as_text(check))
    if report.targets:
        first = target_check(report, report.targets[0])
        golden(GOLDEN / name / "check_of_the_first.md", as_text(first))


@names
def test_a_comment_is_rendered_as_what_it_is(name: str) -> None:
    scenario: Scenario = SCENARIOS[name]()
    report = scenario.report()
    page = Page(READER.render(comment(report, COMMENT_LIMIT, scenario.about)))
    assert page.tags[0] == "h3"
    assert page.tags.count("details") == page.tags.count("summary") == page.tags.count("pre")
    assert page.tags.count("details") <= len(group_diffs(report.targets))
    rows = page.rows[1:]
    left = iter(report.targets)
    for row in rows:
        assert len(row) == 4
        if row[0] != "…":
            assert any(change_words(one) == row[2] for one in left)
    if len(report.targets) <= 100:
        assert len(rows) == len(report.targets)


@names
def test_a_check_is_rendered_as_what_it_is(name: str) -> None:
    report = SCENARIOS[name]().report()
    checks = [plan_check(report), *(target_check(report, row) for row in report.targets[:3])]
    for check in checks:
        Page(READER.render(check.summary))
        page = Page(READER.render(check.text))
        kinds = sum(bool(one.diff) for row in report.targets for one in row.results)
        assert page.tags.count("pre") <= kinds


def test_eight_hundred_targets_lose_nothing_that_matters() -> None:
    text = comment(SCENARIOS["eight_hundred"]().report())
    assert "of 800 targets affected" in text
    assert "`Namespace/payments` on zz-last / z" in text
    assert text.count("| zz-last | broken-") == 9
    assert "more targets" in text


def test_a_huge_diff_shows_its_beginning_and_exactly_how_much_is_missing() -> None:
    text = comment(SCENARIOS["huge_diff"]().report())
    shown = text.count("\n+rule-")
    # Besides the lines of the diff there are its two headers and one hunk's head.
    assert shown > 1_000
    assert f"*… {100_000 - shown:,} more lines*" in text
    assert "+  image: web:v2" in text
    assert "1 added, 1 modified" in text
