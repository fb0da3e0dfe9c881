"""The folder of one plan, and the providers that plans share."""

import asyncio
import os
from pathlib import Path

import pytest

from foretell.domain.errors import AgentRejected
from foretell.kit.terraform.folder import LOCK_FILE, Folder, laid_out, leftovers
from foretell.kit.terraform.program import Program
from foretell.kit.terraform.providers import Providers
from foretell.kit.tree import remove

TOFU = Program(Path("/usr/bin/tofu"), "tofu", "1.12.6")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    for name, text in {
        "infra/main.tf": "one",
        f"infra/{LOCK_FILE}": "locked",
        "infra/run.sh": "#!/bin/sh",
        "modules/m.tf": "two",
    }.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o444)
    (made / "infra" / "run.sh").chmod(0o555)
    (made / "infra" / "link.tf").symlink_to("../modules/m.tf")
    return made


def test_the_root_module_is_a_copy_and_the_rest_is_shared(tmp_path: Path, tree: Path) -> None:
    with laid_out(tmp_path / "work", "i-1", tree, "infra") as folder:
        assert (folder.module / "link.tf").read_text() == "two"
        (folder.module / "main.tf").write_text("changed")
        assert os.access(folder.module / "run.sh", os.X_OK)
        shared = folder.top / "tree" / "modules" / "m.tf"
        assert shared.samefile(tree / "modules" / "m.tf")
        assert folder.top.stat().st_mode & 0o077 == 0
    assert (tree / "infra" / "main.tf").read_text() == "one"
    assert list((tmp_path / "work").iterdir()) == []


def test_the_whole_tree_may_be_the_root_module(tmp_path: Path, tree: Path) -> None:
    with laid_out(tmp_path / "work", "i-1", tree, ".") as folder:
        (folder.module / "modules" / "m.tf").write_text("changed")
    assert (tree / "modules" / "m.tf").read_text() == "two"


@pytest.mark.parametrize("path", ["..", "/etc", "infra/../../x", "infra/main.tf", "gone"])
def test_a_path_that_is_no_folder_of_the_tree_is_refused(
    tmp_path: Path, tree: Path, path: str
) -> None:
    with pytest.raises(AgentRejected), laid_out(tmp_path / "work", "i-1", tree, path):
        pass


def test_two_plans_of_one_invocation_have_two_folders(tmp_path: Path, tree: Path) -> None:
    work = tmp_path / "work"
    with laid_out(work, "i-1", tree, ".") as one, laid_out(work, "i-1", tree, ".") as two:
        assert one.top != two.top
        assert {name for name, _ in leftovers(work, 0, 2**40)} == {"i-1"}
        assert list(leftovers(work, 2**50, 2**40)) == []


async def _init(
    providers: Providers, folder: Folder, log: list[str], *, lock: str = "", fails: bool = False
) -> None:
    """What `init` does to the folder: it downloads, unless it is told where providers are."""
    async with providers.for_init(TOFU, folder) as shared:
        log.append("shared" if shared else "own")
        await asyncio.sleep(0)
        own = folder.data / "providers"
        if shared:
            own.symlink_to(shared)
        else:
            own.mkdir()
            (own / "provider").write_text("binary")
        if fails:
            raise AgentRejected("init failed")
        if lock:
            (folder.module / LOCK_FILE).write_text(lock)


async def test_one_downloads_and_the_others_share_what_is_never_written_again(
    tmp_path: Path, tree: Path
) -> None:
    providers, log, work = Providers(tmp_path / "providers"), list[str](), tmp_path / "work"
    with laid_out(work, "1", tree, "infra") as one, laid_out(work, "2", tree, "infra") as two:
        await asyncio.gather(_init(providers, one, log), _init(providers, two, log))
        assert log == ["own", "shared"]
        assert (two.data / "providers" / "provider").read_text() == "binary"
        kept = (two.data / "providers").resolve()
    assert all(path.stat().st_mode & 0o222 == 0 for path in kept.rglob("*"))
    assert (kept / "provider").read_text() == "binary"
    remove(kept)


@pytest.mark.parametrize("why", ["no lock file", "an incomplete one"])
async def test_what_a_lock_file_does_not_pin_is_not_shared(
    tmp_path: Path, tree: Path, why: str
) -> None:
    providers, log, work = Providers(tmp_path / "providers"), list[str](), tmp_path / "work"
    if why == "no lock file":
        (tree / "infra" / LOCK_FILE).unlink()
    with laid_out(work, "1", tree, "infra") as one, laid_out(work, "2", tree, "infra") as two:
        await _init(providers, one, log, lock="more")
        await _init(providers, two, log, lock="more")
    assert log == ["own", "own"]


async def test_an_init_that_fails_keeps_nothing(tmp_path: Path, tree: Path) -> None:
    providers = Providers(tmp_path / "providers")
    with laid_out(tmp_path / "work", "1", tree, "infra") as folder:
        with pytest.raises(AgentRejected, match="init failed"):
            await _init(providers, folder, [], fails=True)
        async with providers.for_init(TOFU, folder) as shared:
            assert shared is None
            (folder.data / "providers" / "provider").unlink()
            (folder.data / "providers").rmdir()


async def test_providers_that_nobody_uses_are_removed(tmp_path: Path, tree: Path) -> None:
    providers = Providers(tmp_path / "providers")
    with laid_out(tmp_path / "work", "1", tree, "infra") as folder:
        await _init(providers, folder, [])
    assert providers.prune(60) == 0
    assert providers.prune(-1) == 1
    assert list((tmp_path / "providers").iterdir()) == []
