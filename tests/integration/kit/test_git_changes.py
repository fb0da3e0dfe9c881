"""What two commits differ in, and the texts of one of them, by the real git."""

import os
import subprocess
from pathlib import Path

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.kit.git_changes import LARGEST_TEXT_BYTES, changed_files, files_of

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    run(tmp_path, "init", "--quiet", "-b", "main")
    return tmp_path


def run(repository: Path, *arguments: str) -> str:
    command = [*GIT, *arguments]
    done = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(repository: Path, **files: str | None) -> str:
    for name, content in files.items():
        path = repository / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_text(content)
    run(repository, "add", "--all")
    run(repository, "commit", "--quiet", "--allow-empty", "-m", "x")
    return run(repository, "rev-parse", "HEAD")


async def test_what_changed_since_the_branch_was_left_is_named(repository: Path) -> None:
    commit(repository, kept="1", edited="1", removed="1", moved="some text that is moved")
    run(repository, "checkout", "--quiet", "-b", "topic")
    text = "some text that is moved"
    head = commit(repository, edited="2", removed=None, moved=None, deep__added="1", new=text)
    run(repository, "checkout", "--quiet", "main")
    commit(repository, only_on_main="1")
    found = await changed_files(repository, "main", head)
    assert set(found) == {"edited", "removed", "moved", "new", "deep/added"}


async def test_names_are_those_of_the_root_whatever_they_hold(repository: Path) -> None:
    base = commit(repository, a="1")
    head = commit(repository, **{"deep__é \n'x": "1"})
    assert await changed_files(repository / "deep", base, head) == ("deep/é \n'x",)


async def test_commits_without_a_common_one_are_an_error(repository: Path) -> None:
    base = commit(repository, a="1")
    run(repository, "checkout", "--quiet", "--orphan", "other")
    head = commit(repository, b="1")
    with pytest.raises(InvalidRequest, match="no merge base"):
        await changed_files(repository, base, head)


@pytest.mark.parametrize("revision", ["no-such", "--output=/tmp/x"])
async def test_a_revision_that_is_none_is_an_error(repository: Path, revision: str) -> None:
    commit(repository, a="1")
    with pytest.raises(InvalidRequest):
        await changed_files(repository, revision, "HEAD")
    with pytest.raises(InvalidRequest):
        await files_of(repository, revision, lambda _: True)


async def test_only_texts_that_are_wanted_are_read(repository: Path) -> None:
    large = "x" * (LARGEST_TEXT_BYTES + 1)
    commit(repository, a__Chart="name: é\n", b="no", c__Chart="", large__Chart=large)
    found = await files_of(repository, "HEAD", lambda path: path.endswith("Chart"))
    assert found.files == ("a/Chart", "b", "c/Chart", "large/Chart")
    assert found.texts == {"a/Chart": "name: é\n", "c/Chart": ""}


async def test_links_say_where_they_lead(repository: Path) -> None:
    os.symlink("../elsewhere", repository / "link")
    commit(repository, a="1")
    found = await files_of(repository, "HEAD", lambda _: True)
    assert found.links == {"link": "../elsewhere"}
    assert found.texts == {"a": "1"}


async def test_nothing_wanted_is_nothing_read(repository: Path) -> None:
    commit(repository, a="1")
    found = await files_of(repository, "HEAD", lambda _: False)
    assert (found.files, found.texts, found.links) == (("a",), {}, {})
