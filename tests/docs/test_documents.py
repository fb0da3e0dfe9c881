"""The documents hold together: links lead somewhere, commands exist, decisions have their parts."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^(`{3,}).*?^\1`*\s*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)")
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)
TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings."""
    titles = (re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(text))
    return {title.replace(" ", "-") for title in titles}


def broken_links(path: Path, text: str, root: Path) -> list[str]:
    """Relative links that lead nowhere, as they are written."""
    broken = []
    for link in LINK.findall(FENCED.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        goal = (root / path).parent / place if place else root / path
        if not goal.exists() or (anchor and anchor not in anchors(goal.read_text())):
            broken.append(link)
    return broken


def test_every_relative_link_leads_somewhere(documents: dict[Path, str]) -> None:
    broken = {path: broken_links(path, text, ROOT) for path, text in documents.items()}
    assert {path: links for path, links in broken.items() if links} == {}


def test_a_link_to_nowhere_is_seen(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# One thing, done\n")
    text = "[x](b.md#one-thing-done) [y](c.md) [z](b.md#two) [w](https://example.invalid/)\n"
    assert broken_links(Path("a.md"), text, tmp_path) == ["c.md", "b.md#two"]


def test_every_make_target_that_a_document_names_exists(documents: dict[Path, str]) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    named = {
        (str(path), target)
        for path, text in documents.items()
        for target in re.findall(r"`make ([a-z-]+)`", text)
    }
    assert len(named) > 5
    assert {(path, target) for path, target in named if target not in targets} == set()


def decisions() -> list[Path]:
    return sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:4]) for path in decisions()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 10


@pytest.mark.parametrize("path", decisions(), ids=lambda path: str(path.stem))
def test_a_decision_says_why_what_and_what_follows(path: Path) -> None:
    text = path.read_text()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert re.search(r"^Status: (proposed|accepted|superseded by \[.*)$", text, re.MULTILINE)
    assert f"({path.name})" in (path.parent / "README.md").read_text()
