"""What the documents say, as the tests of this folder read it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def documents() -> dict[Path, str]:
    """The text of every Markdown file that belongs to the tree, by its path below the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = [Path(name) for name in listed.split("\0") if name]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in sorted(paths)}


@pytest.fixture(scope="session")
def undocumented(documents: dict[Path, str]) -> Callable[..., list[str]]:
    """Of some names, those that no document below a folder shows as code.

    Shown as code is: in a code span or a fenced block. The same letters in a sentence may be
    the English word.
    """

    def missing(names: list[str], *, below: str = "docs") -> list[str]:
        texts = [text for path, text in documents.items() if path.is_relative_to(below)]
        spans = [span for text in texts for span in _code(text)]
        return [name for name in names if not any(_stands_in(name, span) for span in spans)]

    return missing


def _code(text: str) -> list[str]:
    # Fences are runs of backticks as well, so every odd piece between backticks is code.
    return text.replace("```", "`").split("`")[1::2]


def _stands_in(name: str, span: str) -> bool:
    before, found, after = span.partition(name)
    while found:
        if not _joins(before[-1:]) and not _joins(after[:1]):
            return True
        before, found, after = after.partition(name)
    return False


def _joins(character: str) -> bool:
    return character.isalnum() or character in ("_", "-") if character else False
