"""What is uploaded: the same bytes for the same files, and nothing that should stay."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from foretell.agents.terraform_cloud import archive as archive_module
from foretell.agents.terraform_cloud.archive import archive_root, pack
from foretell.agents.terraform_cloud.ignore import Ignore
from foretell.domain.errors import AgentRejected


def write(folder: Path, *names: str, mode: int = 0o644) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
        path.chmod(mode)
    return folder


def entries(content: bytes) -> list[tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(content))) as tar:
        return tar.getmembers()


def names(folder: Path, root: str = "") -> list[str]:
    return [entry.name for entry in entries(pack(folder, root, "").content)]


def test_equal_trees_give_equal_bytes(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "main.tf", "b/z.tf", "a.tf")
    two = write(tmp_path / "two", "a.tf", "b/z.tf", "main.tf")
    for path in two.rglob("*.tf"):
        os.utime(path, (1, 1))
        path.chmod(0o444)
    assert pack(one, "", "").content == pack(two, "", "").content


def test_an_entry_says_nothing_of_who_packed_it_or_when(tmp_path: Path) -> None:
    write(tmp_path, "main.tf")
    write(tmp_path, "run.sh", mode=0o755)
    for entry in entries(pack(tmp_path, "", "").content):
        assert (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, 0, "", "")
    assert [oct(entry.mode) for entry in entries(pack(tmp_path, "", "").content)] == [
        *("0o644", "0o755"),
    ]


def test_another_file_gives_another_archive(tmp_path: Path) -> None:
    write(tmp_path, "main.tf")
    before = pack(tmp_path, "", "").content
    (tmp_path / "main.tf").write_text("# changed\n")
    assert pack(tmp_path, "", "").content != before


def test_names_that_are_not_ascii_or_long_survive(tmp_path: Path) -> None:
    odd = ["ü/日本.tf", f"{'d' * 120}/{'f' * 120}.tf", "main.tf"]
    write(tmp_path, *odd)
    assert sorted(names(tmp_path)) == sorted(odd)


def test_state_and_credentials_are_never_uploaded(tmp_path: Path) -> None:
    kept = ["main.tf", "prod.auto.tfvars", "terraform.tfvars", ".terraform.lock.hcl"]
    never = ["terraform.tfstate", "a/x.tfstate", "terraform.tfstate.backup", ".terraformrc"]
    write(tmp_path, *kept, *never, ".git/config", ".terraform/providers/x")
    (tmp_path / ".terraformignore").write_text("!terraform.tfstate\n!.terraformrc\n")
    assert sorted(names(tmp_path)) == sorted([*kept, ".terraformignore"])


def test_downloaded_modules_are_uploaded(tmp_path: Path) -> None:
    write(tmp_path, "main.tf", ".terraform/modules/m/main.tf", ".terraform/terraform.x")
    assert names(tmp_path) == [".terraform/modules/m/main.tf", "main.tf"]


@pytest.mark.parametrize("target", ["../outside.tf", "/etc/passwd", "a/../../outside.tf"])
def test_a_link_that_leads_out_is_refused_by_name(tmp_path: Path, target: str) -> None:
    write(tmp_path, "outside.tf")
    root = write(tmp_path / "root", "main.tf", "a/x.tf")
    (root / "link.tf").symlink_to(target)
    with pytest.raises(AgentRejected, match=r"link\.tf is a link that leads out"):
        pack(root, "", "")


def test_a_folder_that_is_a_link_out_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "modules", "m.tf")
    root = write(tmp_path / "root", "main.tf")
    (root / "modules").symlink_to("../modules")
    with pytest.raises(AgentRejected, match="modules is a link"):
        pack(tmp_path, "root", "")
    (root / ".terraformignore").write_text("modules\n")
    assert names(tmp_path, "root") == [".terraformignore", "main.tf"]


def test_a_link_inside_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path, "main.tf", "real/x.tf")
    (tmp_path / "alias").symlink_to("real")
    (link,) = [entry for entry in entries(pack(tmp_path, "", "").content) if entry.issym()]
    assert (link.name, link.linkname) == ("alias", "real")


def test_links_that_lead_to_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "main.tf")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(AgentRejected, match="a is a link"):
        pack(tmp_path, "", "")


def test_a_folder_without_a_configuration_would_destroy_everything_and_is_refused(
    tmp_path: Path,
) -> None:
    write(tmp_path, "docs/readme.md", "infra/main.tf", "infra/deep/readme.md")
    for root, module in (("docs", ""), ("", ""), ("", "infra/deep"), ("infra", "deep")):
        with pytest.raises(AgentRejected, match="no Terraform configuration"):
            pack(tmp_path, root, module)
    assert pack(tmp_path, "", "infra").files == 3


def test_a_path_that_leaves_the_repository_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "main.tf")
    tree = write(tmp_path / "tree", "main.tf")
    with pytest.raises(AgentRejected, match="outside"):
        pack(tree, "..", "")
    with pytest.raises(AgentRejected, match="no folder"):
        pack(tree, "nowhere", "")


def test_an_archive_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "main.tf")
    (tmp_path / "large.bin").write_bytes(os.urandom(100_000))
    monkeypatch.setattr(archive_module, "MAX_BYTES", 50_000)
    with pytest.raises(AgentRejected, match=r"over 50,000 bytes packed.*terraformignore"):
        pack(tmp_path, "", "")


@pytest.mark.parametrize(
    ("path", "working", "root"),
    [
        ("infra", "", "infra"),
        ("", "", ""),
        ("", "infra", ""),
        ("infra", "infra", ""),
        ("infra/", "/infra", ""),
        ("infra", "deep", "infra"),
    ],
)
def test_a_working_directory_is_a_path_in_what_is_uploaded(
    tmp_path: Path, path: str, working: str, root: str
) -> None:
    write(tmp_path, "infra/main.tf", "infra/deep/main.tf")
    assert archive_root(tmp_path, path, working) == root


@pytest.mark.parametrize(("path", "working"), [("infra", "other"), ("", "nowhere"), ("a", "b")])
def test_two_places_that_differ_are_never_guessed_from(
    tmp_path: Path, path: str, working: str
) -> None:
    write(tmp_path, "infra/main.tf", "other/main.tf")
    with pytest.raises(AgentRejected, match="working directory"):
        archive_root(tmp_path, path, working)


@pytest.mark.parametrize(
    ("rule", "path", "out"),
    [
        ("*.md", "a/b/readme.md", True),
        ("*.md", "readme.mdx", False),
        ("docs/", "docs/a/b.tf", True),
        ("docs/", "docs", False),
        ("docs", "a/docs/x", True),
        ("/docs", "a/docs/x", False),
        ("/docs", "docs/x", True),
        ("a/b", "x/a/b/c", True),
        ("/a/**/z", "a/z", True),
        ("/a/**/z", "a/b/c/z", True),
        ("**/test", "a/b/test/x", True),
        ("a/**", "a/b/c", True),
        ("?.tf", "a.tf", True),
        ("?.tf", "ab.tf", False),
        ("[ab].tf", "b.tf", True),
        ("[!ab].tf", "b.tf", False),
        ("[!ab].tf", "c.tf", True),
        (r"\*.tf", "a.tf", False),
        (r"\*.tf", "*.tf", True),
        ("a.b", "aXb", False),
        ("# note", "note", False),
        ("*", "any/thing", True),
    ],
)
def test_a_rule_leaves_out_what_it_names(rule: str, path: str, out: bool) -> None:
    assert Ignore([rule]).leaves_out(path) is out


def test_the_last_rule_that_fits_decides() -> None:
    ignore = Ignore(["*", "!*.tf", "secret.tf"])
    assert [name for name in ("a.tf", "a.md", "secret.tf") if ignore.leaves_out(name)] == [
        *("a.md", "secret.tf"),
    ]
    assert not Ignore(["modules/", "!modules/keep/"]).leaves_out("modules/keep/main.tf")


def test_rules_end_in_time_that_grows_with_the_path_alone() -> None:
    ignore = Ignore(["**/**/**/**/**/*a*a*a*a*a*a*b", "*" * 200 + "x", "**/a" * 60 + "b"])
    assert not ignore.leaves_out("a/" * 200 + "a" * 200)


def test_rules_have_a_number_and_a_length() -> None:
    with pytest.raises(AgentRejected, match="at most"):
        Ignore(["x"] * 1001)
    with pytest.raises(AgentRejected, match="at most"):
        Ignore(["x" * 513])
