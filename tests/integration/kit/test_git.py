import asyncio
import base64
import os
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit import git, remote
from foretell.kit.git import Checkouts, inside, tree_inside

AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": os.environ["PATH"],
}


class Repository:
    """A real one; `commit` writes files (None removes one) and returns the id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        done = subprocess.run(command, env=AUTHOR, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: Mapping[str, str]) -> str:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def checkouts(tmp_path: Path) -> Checkouts:
    return Checkouts(tmp_path / "cache")


@pytest.fixture(params=["local", "remote"])
def address(request: pytest.FixtureRequest, repository: Repository) -> str:
    """The same repository, read where it is or over a mirror."""
    return str(repository.path) if request.param == "local" else f"file://{repository.path}"


def content(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


async def test_every_way_to_name_a_commit_gives_its_full_id(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    first = repository.commit({"a": "1"})
    repository.git("tag", "--annotate", "--message=x", "v1.0")
    second = repository.commit({"a": "2"})
    repository.git("branch", "feature/x", first)
    names = {"main": second, "HEAD": second, "v1.0": first, "feature/x": first, "main~1": first}
    names |= {"refs/heads/main": second, first: first, first[:10]: first, "refs/tags/v1.0": first}
    for name, sha in names.items():
        assert await checkouts.resolve(address, name) == sha, name


async def test_a_branch_that_moved_is_seen(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    old = repository.commit({"a": "1"})
    assert await checkouts.resolve(address, "main") == old
    assert content(await checkouts.checkout(address, old)) == {"a": "1"}
    moved = repository.commit({"a": "2"})
    assert await checkouts.resolve(address, "main") == moved
    assert content(await checkouts.checkout(address, moved)) == {"a": "2"}


async def test_a_commit_of_a_fork_is_told_from_one_that_a_branch_leads_to(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    old = repository.commit({"a": "1"})
    tagged = repository.commit({"a": "2"})
    repository.git("tag", "v1")
    fork = repository.commit({"a": "evil"})
    repository.git("update-ref", "refs/pull/1/head", fork)
    repository.git("reset", "--quiet", "--hard", old)
    tip = repository.commit({"a": "3"})
    assert await checkouts.resolve(address, fork) == fork
    found = [await checkouts.is_on_a_branch(address, sha) for sha in (tip, old, tagged, fork)]
    assert found == [True, True, True, False]


async def test_an_unknown_revision_names_itself_and_the_repository(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    repository.commit({"a": "1"})
    for unknown in ("nosuch", "f" * 40):
        with pytest.raises(AgentRejected, match=f"{unknown} not found in .*repository"):
            await checkouts.resolve(address, unknown)
    with pytest.raises(AgentRejected, match="not found in"):
        await checkouts.checkout(address, "f" * 40)


@pytest.mark.parametrize("revision", ["--upload-pack=x", "-h", "", "a b", "a\nb", "a\0b", ":/x"])
async def test_a_revision_is_never_an_option(
    repository: Repository, checkouts: Checkouts, revision: str
) -> None:
    with pytest.raises(AgentRejected, match="not a revision"):
        await checkouts.resolve(str(repository.path), revision)


@pytest.mark.parametrize("bad", ["", "--upload-pack=x", "ext::sh -c x", "a\0b", "hg::x"])
async def test_a_repository_is_never_an_option_or_a_program(checkouts: Checkouts, bad: str) -> None:
    with pytest.raises(AgentRejected, match="neither a path nor"):
        await checkouts.resolve(bad, "main")


async def test_a_checkout_holds_exactly_the_tree_of_its_commit(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    # export-ignore would hide the file from `git archive`
    files = {"a": "1", "dir/ü b": "2", "hidden": "3", ".gitattributes": "hidden export-ignore\n"}
    sha = repository.commit(files)
    repository.write({"a": "uncommitted"})
    folder = await checkouts.checkout(address, sha)
    assert content(folder) == files
    assert not (folder / ".git").exists()
    assert await checkouts.checkout(address, sha) == folder
    assert repository.git("status", "--porcelain") == "M a"


async def test_a_checkout_is_read_only(repository: Repository, checkouts: Checkouts) -> None:
    sha = repository.commit({"dir/a": "1"})
    folder = await checkouts.checkout(str(repository.path), sha)
    for path in (folder, folder / "dir", folder / "dir/a"):
        assert path.stat().st_mode & 0o222 == 0


async def test_the_same_commit_is_extracted_once_for_all_who_wait(
    repository: Repository, checkouts: Checkouts, address: str, tmp_path: Path
) -> None:
    sha = repository.commit({f"f{n}": "x" for n in range(50)})
    impatient = asyncio.ensure_future(checkouts.checkout(address, sha))
    await asyncio.sleep(0)
    impatient.cancel()
    others = Checkouts(tmp_path / "cache")
    calls = [one.checkout(address, sha) for one in (checkouts, others) for _ in range(4)]
    assert len({str(folder) for folder in await asyncio.gather(*calls)}) == 1
    assert len(list((tmp_path / "cache/trees").glob("*/*"))) == 1


async def test_a_worktree_snapshot_has_what_is_not_committed_but_not_what_is_ignored(
    repository: Repository, checkouts: Checkouts
) -> None:
    repository.commit({"kept": "1", "changed": "1", "deleted": "1", ".gitignore": "ignored\n"})
    repository.write({"changed": "2", "new/file": "3", "ignored": "4"})
    (repository.path / "deleted").unlink()
    (repository.path / "link").symlink_to("kept")
    before = repository.git("status", "--porcelain")
    folder = await checkouts.worktree_snapshot(str(repository.path / "new"))
    expected = {"kept": "1", "changed": "2", "new/file": "3", ".gitignore": "ignored\n"}
    assert content(folder) == expected
    assert os.readlink(folder / "link") == "kept"
    assert repository.git("status", "--porcelain") == before
    repository.write({"changed": "5"})
    assert (await checkouts.worktree_snapshot(str(repository.path))) != folder
    assert content(folder) == expected


async def test_a_folder_without_git_says_so(tmp_path: Path, checkouts: Checkouts) -> None:
    for ask in (checkouts.worktree_snapshot, lambda p: checkouts.resolve(p, "main")):
        with pytest.raises(AgentRejected, match=r"no git|not found"):
            await ask(str(tmp_path))


async def test_links_that_lead_outside_are_refused_when_used(
    repository: Repository, checkouts: Checkouts
) -> None:
    repository.write({"chart/values.yaml": "a: 1", "open/values.yaml": "a: 1"})
    for name, goal in {
        "passwd": "/etc/passwd",
        "up": "../..",
        "loop": "loop",
        "fine": "chart/values.yaml",
        "open/inner": "../fine",
        "chart/outer": "../up",
    }.items():
        (repository.path / name).symlink_to(goal)
    folder = await checkouts.checkout(str(repository.path), repository.commit({}))
    assert inside(folder, "fine") == (folder / "chart/values.yaml").resolve()
    assert inside(folder, "not/there/yet") == folder.resolve() / "not/there/yet"
    for path in ("passwd", "up", "up/x", "../x", "/etc/passwd", "chart/../../x", "loop", "a\0b"):
        with pytest.raises(AgentRejected, match="path '"):
            inside(folder, path)
    assert tree_inside(folder, "open") == (folder / "open").resolve()
    with pytest.raises(AgentRejected, match="path 'chart/outer' leads outside the repository"):
        tree_inside(folder, "chart")


async def test_a_tree_that_holds_itself_many_times_is_refused(
    repository: Repository, checkouts: Checkouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_FILES", 1000)
    repository.commit({"a": "x"})
    tree = repository.git("rev-parse", "HEAD^{tree}")
    for _ in range(4):
        listing = "".join(f"040000 tree {tree}\tt{n}\n" for n in range(10))
        command = ["git", "-C", str(repository.path), "mktree"]
        tree = subprocess.run(
            command, input=listing, capture_output=True, text=True, check=True
        ).stdout.strip()
    bomb = repository.git("commit-tree", "-m", "x", tree)
    with pytest.raises(AgentRejected, match=r"holds 10,000 files .*at most 1,000 files"):
        await checkouts.checkout(str(repository.path), bomb)


async def test_hooks_and_monitors_of_a_repository_never_run(
    repository: Repository, checkouts: Checkouts, tmp_path: Path
) -> None:
    note = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {note}\n")
    program.chmod(0o755)
    sha = repository.commit({"a": "1"})
    repository.git("config", "core.fsmonitor", str(program))
    (repository.path / ".git/hooks/post-checkout").symlink_to(program)
    (repository.path / ".git/hooks/post-index-change").symlink_to(program)
    await checkouts.checkout(str(repository.path), sha)
    await checkouts.worktree_snapshot(str(repository.path))
    assert not note.exists()


async def test_an_unreachable_remote_may_be_asked_again_and_shows_no_credential(
    checkouts: Checkouts,
) -> None:
    with pytest.raises(AgentUnavailable) as caught:
        await checkouts.resolve("https://u:ghp_canary@127.0.0.1:1/r.git", "main")
    assert "https://***@127.0.0.1:1/r.git" in str(caught.value)
    assert "canary" not in f"{caught.value!r} {caught.value.__cause__!r}"


async def test_a_repository_that_is_not_there_is_rejected(
    checkouts: Checkouts, tmp_path: Path
) -> None:
    with pytest.raises(AgentRejected, match="does not appear to be a git repository"):
        await checkouts.resolve(f"file://{tmp_path}/nosuch", "main")


async def test_credentials_travel_in_a_header_and_stay_off_the_disk(
    checkouts: Checkouts, tmp_path: Path
) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 401 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(AgentRejected, match="check the address and the credentials") as caught:
            await checkouts.resolve(f"http://u:c%40nary-word@127.0.0.1:{port}/r.git", "main")
    assert b"Authorization: Basic " + base64.b64encode(b"u:c@nary-word") in asked[0]
    assert "nary-word" not in str(caught.value)
    written = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if b"nary-word" in path.read_bytes()]


def test_an_annotated_tag_counts_as_the_commit_it_points_at() -> None:
    listing = b"a\trefs/tags/v1\nb\trefs/tags/v1^{}\nc\trefs/heads/v1\n"
    refs = remote.parse_refs(listing)
    assert refs == {"refs/tags/v1": "b", "refs/heads/v1": "c"}
    assert next(name for name in remote.candidates("v1") if name in refs) == "refs/tags/v1"


async def test_only_what_was_not_used_for_long_is_pruned(
    repository: Repository, checkouts: Checkouts, address: str
) -> None:
    old = await checkouts.checkout(address, repository.commit({"dir/a": "1"}))
    new = await checkouts.checkout(address, repository.commit({"dir/a": "2"}))
    day = old.stat().st_mtime - 24 * 3600
    os.utime(old, (day, day))
    assert await checkouts.prune(timedelta(days=2)) == 0
    assert await checkouts.prune(timedelta(hours=5)) == 1
    assert (old.exists(), new.exists()) == (False, True)
    assert content(await checkouts.checkout(address, old.name)) == {"dir/a": "1"}


async def test_room_is_made_for_the_newest_but_not_at_the_cost_of_what_is_in_use(
    repository: Repository, checkouts: Checkouts
) -> None:
    where = str(repository.path)
    folders = [await checkouts.checkout(where, repository.commit({"a": str(n)})) for n in range(4)]
    assert await checkouts.prune(timedelta(days=9), most=1) == 0
    for hours, folder in enumerate(folders):
        time = folder.stat().st_mtime - 3600 * hours - 60
        os.utime(folder, (time, time))
    assert await checkouts.prune(timedelta(days=9), most=2) == 2
    assert [folder.exists() for folder in folders] == [True, True, False, False]
