"""`foretell diff` as people use it: files, folders, pipes, revisions; what it refuses, and how."""

import base64
import io
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foretell.cli import diff_sources
from foretell.cli.app import run

OUTPUTS = ("table", "unified", "side-by-side", "markdown", "html", "json")

CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: ns}
data: {k: "%s"}
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ns}
spec:
  replicas: %s
  template: {spec: {containers: [{name: web, image: "web:%s"}]}}
"""


class Program:
    """Runs the command in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = run(["diff", *map(str, arguments)])
        captured = self._capture.readouterr()
        return code, captured.out, captured.err.removeprefix("foretell: ").rstrip("\n")

    def json(self, *arguments: object) -> Any:
        code, out, err = self(*arguments, "--output", "json")
        assert (code, err) == (0, "")
        return json.loads(out)

    def refusal(self, *arguments: object) -> str:
        code, out, err = self(*arguments)
        assert (code, out) == (1, "")
        return err


@pytest.fixture
def program(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Program:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORETELL_CACHE_DIR", str(tmp_path / "cache"))
    return Program(capsys)


Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def piped(text: str) -> None:
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", stdin)

    return piped


def titles(document: Any) -> list[tuple[str, str]]:
    return [(one["action"], f"{one['kind']}/{one['name']}") for one in document["changes"]]


# Sides


def test_two_files_are_compared(program: Program, write: Write) -> None:
    document = program.json(write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2))
    assert titles(document) == [("modify", "ConfigMap/c")]


def test_a_folder_is_read_with_its_subfolders_and_without_what_is_hidden(
    program: Program, write: Write
) -> None:
    write("a/one.yaml", CONFIG % 1)
    write("a/deep/er/two.yml", DEPLOYMENT % (1, 1))
    write("a/.git/hidden.yaml", "{")
    write("a/.hidden.yaml", "{")
    write("a/README.md", "no manifest")
    write("b/all.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))
    document = program.json("a", "b")
    assert titles(document) == [("delete", "ConfigMap/c"), ("delete", "Deployment/web")]


def test_which_file_of_a_folder_an_object_is_in_does_not_matter(
    program: Program, write: Write
) -> None:
    write("a/one.yaml", (CONFIG % 1).rstrip())
    write("a/two.json", '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}')
    write("b/x/all.yaml", CONFIG % 1)
    (Path("b/ns.yaml")).write_text(
        "%YAML 1.1\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n", "utf-16"
    )
    assert program.json("a", "b")["changes"] == []


def test_standard_input_is_a_side(
    program: Program, write: Write, piped: Callable[[str], None]
) -> None:
    piped(CONFIG % 2)
    assert titles(program.json(write("a.yaml", CONFIG % 1), "-")) == [("modify", "ConfigMap/c")]


def test_a_pipe_with_a_name_is_a_side(program: Program, write: Write) -> None:
    reading, writing = os.pipe()
    os.write(writing, (CONFIG % 2).encode())
    os.close(writing)
    try:
        document = program.json(write("a.yaml", CONFIG % 1), f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert titles(document) == [("modify", "ConfigMap/c")]


def test_objects_without_a_namespace_get_the_given_one(program: Program, write: Write) -> None:
    bare = write("a.yaml", (CONFIG % 1).replace(", namespace: ns", ""))
    with_one = write("b.yaml", CONFIG % 1)
    assert len(program.json(bare, with_one)["changes"]) == 2
    assert program.json(bare, with_one, "--namespace", "ns")["changes"] == []


# Revisions


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: `first` has one ConfigMap in app/, HEAD another value and a second folder."""
    folder = tmp_path / "repository"
    (folder / "app").mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "app/c.yaml").write_text(CONFIG % 1)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "tag", "first")
    (folder / "app/c.yaml").write_text(CONFIG % 2)
    (folder / "late").mkdir()
    (folder / "late/d.yaml").write_text(DEPLOYMENT % (1, 1))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "two")
    return folder


def test_a_folder_is_compared_at_two_revisions(program: Program, repository: Path) -> None:
    document = program.json("--base", "first", "--head", "HEAD", repository / "app")
    assert titles(document) == [("modify", "ConfigMap/c")]
    assert '+  k: "2"' in document["changes"][0]["diff"]


def test_without_a_head_the_files_count_as_they_are(program: Program, repository: Path) -> None:
    (repository / "app/c.yaml").write_text(CONFIG % 3)
    document = program.json("--base", "HEAD", repository / "app/c.yaml")
    assert '+  k: "3"' in document["changes"][0]["diff"]


def test_what_git_ignores_is_no_part_of_the_files_as_they_are(
    program: Program, repository: Path, tmp_path: Path
) -> None:
    (repository / ".gitignore").write_text("*.local.yaml\n")
    (repository / "app/x.local.yaml").write_text(DEPLOYMENT % (1, 1))
    (repository / "app/new.yaml").write_text(DEPLOYMENT.replace("web", "new") % (1, 1))
    document = program.json("--base", "HEAD", repository / "app")
    assert titles(document) == [("add", "Deployment/new")]
    assert list((tmp_path / "cache").rglob("worktree/*")) == []


def test_a_path_that_leads_through_a_link_and_back_is_found(
    program: Program, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository)
    document = program.json("--base", "first", "--head", "HEAD", "link/late/../app")
    assert titles(document) == [("modify", "ConfigMap/c")]


def test_a_path_on_one_side_only_is_new_and_that_is_said(
    program: Program, repository: Path
) -> None:
    document = program.json("--base", "first", "--head", "HEAD", repository / "late")
    assert titles(document) == [("add", "Deployment/web")]
    assert "late at first does not exist; this side is empty" in document["warnings"]
    assert any("everything is new" in warning for warning in document["warnings"])


def test_a_revision_that_is_not_there_is_named(program: Program, repository: Path) -> None:
    said = program.refusal("--base", "nowhere", repository / "app")
    assert "revision nowhere not found" in said


def test_a_path_in_neither_revision_is_refused(program: Program, repository: Path) -> None:
    said = program.refusal("--base", "first", "--head", "HEAD", repository / "gone")
    assert "is in neither revision" in said


def test_a_link_in_a_revision_that_leads_out_of_it_is_refused(
    program: Program, repository: Path, write: Write
) -> None:
    outside = write("outside.yaml", CONFIG % "s3cr3t")
    (repository / "app/link.yaml").symlink_to(outside)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "link")
    said = program.refusal("--base", "first", "--head", "HEAD", repository / "app")
    assert "'app/link.yaml' leads outside the repository" in said


def test_a_broken_file_at_a_revision_is_named_without_the_place_of_the_checkout(
    program: Program, repository: Path, tmp_path: Path
) -> None:
    (repository / "app/bad.yaml").write_text("a: b: c")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "bad")
    said = program.refusal("--base", "first", "--head", "HEAD", repository / "app")
    assert "document 1 of app/bad.yaml at HEAD, line 1" in said
    assert "cache" not in said


# Wrong usage and bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "-"], "standard input (-) can be one side only"),
        (["-", "a.yaml", "--again-before", "-"], "standard input (-) can be one side only"),
        (["a.yaml"], "expected BEFORE and AFTER, found 1 paths"),
        (["a", "b", "c"], "expected BEFORE and AFTER, found 3 paths"),
        (["a", "b", "--base", "x"], "expected one path with --base, found 2 paths"),
        (["a", "b", "--head", "x"], "--head needs --base"),
        (["-", "--base", "x"], "standard input (-) has no revisions"),
        (["a.yaml", "--base", "x"], "is in no git repository"),
        (["gone.yaml", "a.yaml"], "there is no file or folder gone.yaml"),
    ],
)
def test_wrong_usage_is_told(
    program: Program, write: Write, arguments: list[str], said: str
) -> None:
    write("a.yaml", CONFIG % 1)
    assert said in program.refusal(*arguments)


def test_a_folder_without_manifests_is_refused(program: Program, write: Write) -> None:
    write("a/README.md", "x")
    said = program.refusal("a", "a")
    assert said == "a holds no manifests: no file that ends in .yaml, .yml or .json"


def test_a_binary_file_is_told_as_such(program: Program, write: Write) -> None:
    Path("a.yaml").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00")
    said = program.refusal("a.yaml", write("b.yaml", CONFIG % 1))
    assert said == "a.yaml is a binary file; expected manifests in YAML or JSON"


def test_broken_yaml_is_named_with_file_and_line(program: Program, write: Write) -> None:
    write("a/1.yaml", CONFIG % 1)
    write("a/2.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: [\n")
    write("a/3.yaml", CONFIG % 1)
    said = program.refusal("a", "a")
    assert "document 1 of a/2.yaml, line" in said


def test_what_is_no_manifest_is_named_with_file_and_line(program: Program, write: Write) -> None:
    write("a/1.yaml", CONFIG % 1)
    write("a/values.yaml", "\n\nreplicas: 1\n")
    said = program.refusal("a", "a")
    assert "document 1 of a/values.yaml (line" in said
    assert "has no apiVersion and kind" in said


def test_a_warning_about_a_folder_names_file_and_line(program: Program, write: Write) -> None:
    write("a/1.yaml", CONFIG % 1)
    write("a/2.yaml", "# a comment\n---\n" + CONFIG % 1)
    assert program.json("a", "a")["warnings"][0] == (
        "ConfigMap/ns/c is there twice, in document 1 of a/1.yaml (line 1) and document 1 of"
        " a/2.yaml (line 2); the last counts"
    )


def test_a_name_that_yaml_reads_as_false_is_shown_with_a_warning(
    program: Program, write: Write
) -> None:
    write("a.yaml", CONFIG.replace("name: c", "name: n") % 1)
    write("b.yaml", CONFIG.replace("name: c", "name: n") % 2)
    shown = program.json("a.yaml", "b.yaml")
    assert [change["name"] for change in shown["changes"]] == ["n"]
    assert shown["warnings"][0] == (
        "document 1 of a.yaml (line 1): metadata.name is taken for the text 'n'; Kubernetes reads"
        " true or false there unless it is put in quotes"
    )


def test_text_that_is_no_utf_8_is_named(program: Program, write: Write) -> None:
    write("a/1.yaml", CONFIG % 1)
    Path("a/2.yaml").write_bytes(b"a: \xff\xfe\n")
    assert "a/2.yaml is not UTF-8 text" in program.refusal("a", "a")


def test_a_file_that_is_too_large_is_refused_unread(program: Program, write: Write) -> None:
    with open("a.yaml", "wb") as file:
        file.truncate(100_000_000)
    said = program.refusal("a.yaml", write("b.yaml", CONFIG % 1))
    limit = f"one side may have at most {diff_sources.MOST_BYTES:,} bytes"
    assert said == f"a.yaml is 100,000,000 bytes: {limit}; compare it in parts"


def test_a_folder_is_bounded_as_a_whole(
    program: Program, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff_sources, "MOST_BYTES", 100)
    write("a/1.yaml", CONFIG % 1)
    write("a/2.yaml", CONFIG % 2)
    assert "a/2.yaml is" in program.refusal("a", "a")


def test_standard_input_is_bounded(
    program: Program, write: Write, piped: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff_sources, "MOST_BYTES", 200)
    piped(CONFIG % ("x" * 200))
    assert "standard input is too large" in program.refusal("-", write("b.yaml", CONFIG % 1))


def test_links_that_lead_to_each_other_are_refused(program: Program, write: Write) -> None:
    write("b/ok.yaml", CONFIG % 1)
    Path("b/x.yaml").symlink_to("y.yaml")
    Path("b/y.yaml").symlink_to("x.yaml")
    assert "b/x.yaml can't be read" in program.refusal("b", "b")
    assert "b/x.yaml can't be read" in program.refusal("b/x.yaml", "b")


def test_a_link_to_a_folder_is_left_out_and_that_is_said(program: Program, write: Write) -> None:
    write("a/one.yaml", CONFIG % 1)
    write("b.yaml", CONFIG % 1)
    Path("a/loop").symlink_to(".")
    document = program.json("a", "b.yaml")
    assert document["changes"] == []
    assert document["warnings"] == ["a/loop is a link to a folder; left out"]


def test_a_pipe_among_the_files_of_a_folder_is_not_waited_for(
    program: Program, write: Write
) -> None:
    write("a/one.yaml", CONFIG % 1)
    os.mkfifo("a/two.yaml")
    assert program.refusal("a", "a") == "a/two.yaml is neither a file nor a folder"


# Exit codes


@pytest.mark.parametrize(
    ("after", "options", "code"),
    [
        (CONFIG % 1, (), 0),
        (CONFIG % 2, (), 0),
        (CONFIG % 1, ("--detailed-exitcode",), 0),
        (CONFIG % 2, ("--detailed-exitcode",), 2),
    ],
)
def test_a_difference_is_an_exit_code_only_when_asked(
    program: Program, write: Write, after: str, options: tuple[str, ...], code: int
) -> None:
    before = write("a.yaml", CONFIG % 1)
    assert program(before, write("b.yaml", after), *options)[0] == code


def test_only_suppressed_changes_are_no_change_and_are_said(program: Program, write: Write) -> None:
    sides = write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2)
    rules = write("ignore.yaml", "- pointers: [/data/k]\n")
    for output in OUTPUTS:
        code, out, _ = program(*sides, "--ignore", rules, "--detailed-exitcode", "-o", output)
        assert code == 0
        assert ("1 object with only suppressed changes" in out) != (output == "json")
    summary = program.json(*sides, "--ignore", rules)["summary"]
    assert (summary["modify"], summary["suppressed"]) == (0, 1)


def test_a_secret_that_the_server_hid_is_unknown_not_unchanged(
    program: Program, write: Write
) -> None:
    hidden = write("a.yaml", secret("data: {p: ++++++++}"))
    code, out, _ = program(hidden, hidden, "--detailed-exitcode")
    assert code == 2
    assert "values are hidden by the server and not compared: Secret/ns/s" in out


# JSON


FIELDS = [
    *("kind", "name", "namespace", "apiVersion", "action"),
    *("additions", "deletions", "diff", "tags", "resultKind"),
]


def test_the_json_is_exactly_its_documented_shape(program: Program, write: Write) -> None:
    document = program.json(write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2))
    assert list(document) == ["changes", "summary", "warnings"]
    (change,) = document["changes"]
    assert list(change) == FIELDS
    assert change["resultKind"] == "manifest"
    assert document["summary"] == {
        "add": 0,
        "modify": 1,
        "delete": 0,
        "kept": 0,
        "additions": 1,
        "deletions": 1,
        "suppressed": 0,
    }


def test_both_sides_of_a_change_come_on_request(program: Program, write: Write) -> None:
    sides = write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2)
    (change,) = program.json(*sides, "--full")["changes"]
    assert '  k: "1"' in change["before"]
    assert '  k: "2"' in change["after"]


def test_a_kept_object_is_counted_apart(program: Program, write: Write) -> None:
    kept = (CONFIG % 1).replace(
        "namespace: ns", "namespace: ns, annotations: {helm.sh/resource-policy: keep}"
    )
    document = program.json(write("a.yaml", kept), write("b.yaml", ""))
    assert document["summary"] | {"additions": 0, "deletions": 0} == {
        "add": 0,
        "modify": 0,
        "delete": 0,
        "kept": 1,
        "additions": 0,
        "deletions": 0,
        "suppressed": 0,
    }
    assert not any("deletes everything" in warning for warning in document["warnings"])


def test_deleting_everything_is_marked(program: Program, write: Write) -> None:
    for output in OUTPUTS:
        _, out, _ = program(write("a.yaml", CONFIG % 1), write("b.yaml", ""), "-o", output)
        assert "deletes everything" in out


# Options


def test_the_context_is_as_wide_as_asked(program: Program, write: Write) -> None:
    sides = write("a.yaml", DEPLOYMENT % (1, 1)), write("b.yaml", DEPLOYMENT % (2, 1))
    (change,) = program.json(*sides, "--context", "0")["changes"]
    lines = change["diff"].splitlines()[2:]
    assert [line[0] for line in lines] == ["@", "-", "+"]
    code, out, _ = program(*sides, "--context", "0", "-o", "side-by-side")
    assert code == 0
    assert "containers" not in out


def test_a_negative_context_is_refused(program: Program, write: Write) -> None:
    path = write("a.yaml", CONFIG % 1)
    code, out, err = program(path, path, "--context", "-1")
    assert (code, out) == (1, "")
    assert "--context" in err
    assert "greater than or equal to 0" in err


def test_values_are_masked_by_name_only_on_request_and_that_is_counted(
    program: Program, write: Write
) -> None:
    sides = write("a.yaml", CONFIG % "one"), write("b.yaml", CONFIG % "two")
    assert "one" in program(*sides)[1]
    _, out, _ = program(*sides, "--mask-names", "K")
    assert "one" not in out
    assert "1 value was masked by name" in out


def test_what_differs_between_two_renders_is_no_change(program: Program, write: Write) -> None:
    names = ("a.yaml", "a2.yaml", "b.yaml", "b2.yaml")
    before, again_before, after, again_after = (
        write(name, CONFIG % at) for at, name in enumerate(names)
    )
    again = ("--again-before", again_before, "--again-after", again_after)
    document = program.json(before, after, *again)
    assert titles(document) == [("no-op", "ConfigMap/c")]
    assert document["changes"][0]["tags"] == ["non-deterministic: data.k"]


def test_what_a_cluster_adds_is_left_out_of_a_live_side(program: Program, write: Write) -> None:
    live = write("a.yaml", DEPLOYMENT % (1, 1) + "status: {readyReplicas: 1}\n")
    desired = write("b.yaml", DEPLOYMENT % (1, 1))
    assert len(program.json(live, desired)["changes"]) == 1
    assert program.json(live, desired, "--live")["changes"] == []


# Ignore rules

TWO = DEPLOYMENT % (1, 1) + "---\n" + CONFIG % 1
OTHER_TWO = DEPLOYMENT % (2, 2) + "---\n" + CONFIG % 2


@pytest.mark.parametrize(
    ("rules", "modified", "suppressed"),
    [
        ("- names: [replicas]", ["Deployment/web", "ConfigMap/c"], 0),
        ("- kind: ConfigMap\n  names: [k]", ["Deployment/web"], 1),
        ("- kind: ConfigMap\n  name: other\n  names: [k]", ["ConfigMap/c", "Deployment/web"], 0),
        ("- {kind: Deployment, jq: ['.spec.template, .spec.replicas']}", ["ConfigMap/c"], 1),
        (
            "- {group: apps, pointers: [/spec/replicas], "
            "jq: ['.spec.template.spec.containers[] | select(.name == \"web\")']}",
            ["ConfigMap/c"],
            1,
        ),
        (
            "- {kind: Deployment, jq: ['.spec.template.spec.containers[-1], .spec.replicas']}",
            ["ConfigMap/c"],
            1,
        ),
        ("# nothing\n", ["ConfigMap/c", "Deployment/web"], 0),
    ],
)
def test_rules_hide_what_they_select_and_nothing_else(
    program: Program, write: Write, rules: str, modified: list[str], suppressed: int
) -> None:
    sides = write("a.yaml", TWO), write("b.yaml", OTHER_TWO)
    document = program.json(*sides, "--ignore", write("ignore.yaml", rules))
    found = [title for action, title in titles(document) if action == "modify"]
    assert sorted(found) == sorted(modified)
    assert document["summary"]["suppressed"] == suppressed


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("a: 1", "ignore.yaml:1: expected a list of rules"),
        ("- name: [", "ignore.yaml"),
        ("- name: x", "ignore.yaml:1: [0]: ignores nothing"),
        ("- names: [x]\n- kimd: x\n  names: [x]", "[1].kimd: unknown key; did you mean 'kind'?"),
        ("- names: caBundle", "ignore.yaml:1: [0].names: expected a list, found text"),
        ("- jq:\n  - '.a['", "ignore.yaml:2: [0].jq[0]: no jq path expression"),
        ("- jq: ['.a) | (.b']", "[0].jq[0]: no jq path expression"),
        ("- jq: ['import \"x\" as $x; .']", "modules are not available"),
        ("- pointers: [spec]", "ignore.yaml:1: [0].pointers[0]: expected a JSON pointer"),
        ("- pointers: ['']", "[0].pointers[0]: expected a JSON pointer"),
        ("- 1", "ignore.yaml:1: [0]: expected a map"),
        ("- names: [x]\n---\n- names: [y]", "ignore.yaml has more than 1 documents"),
        ("- names: [x, x: y]", "ignore.yaml:1: [0].names[1]: expected text, found a map"),
        ('[{"kimd": "x",\t"names": ["x"]}]', "[0].kimd: unknown key"),
    ],
)
def test_a_wrong_rule_is_named_with_file_line_and_field(
    program: Program, write: Write, rules: str, said: str
) -> None:
    path = write("a.yaml", TWO)
    assert said in program.refusal(path, path, "--ignore", write("ignore.yaml", rules).name)


def test_a_folder_of_rules_is_refused(program: Program, write: Write) -> None:
    path = write("rules/a.yaml", TWO)
    assert "rules is a folder" in program.refusal(path, path, "--ignore", "rules")


def test_an_expression_that_leads_nowhere_hides_nothing_and_is_told(
    program: Program, write: Write
) -> None:
    sides = write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2)
    rules = write("ignore.yaml", "- jq: ['.data.k[].image']\n")
    document = program.json(*sides, "--ignore", rules)
    assert titles(document) == [("modify", "ConfigMap/c")]
    assert any("ConfigMap/ns/c is one" in warning for warning in document["warnings"])


def test_an_expression_that_does_not_end_is_stopped(program: Program, write: Write) -> None:
    sides = write("a.yaml", CONFIG % 1), write("b.yaml", CONFIG % 2)
    rules = write("ignore.yaml", "- jq: ['last(repeat(.))']\n")
    said = program.refusal(*sides, "--ignore", rules)
    assert "stopped by a limit on ConfigMap/ns/c" in said


def test_an_expression_does_not_round_numbers_into_equality(program: Program, write: Write) -> None:
    big = DEPLOYMENT.replace("%s", "9007199254740993", 1) % 1
    sides = write("a.yaml", big), write("b.yaml", big.replace("993", "992"))
    rules = write("ignore.yaml", "- jq: [.metadata.labels]\n")
    assert titles(program.json(*sides, "--ignore", rules)) == [("modify", "Deployment/web")]


# Secrets

CANARIES = ("s3cr3t", "aHVudGVy", "czNjcjN0", "hunter2", "ghp_canary")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(fields: str, metadata: str = "") -> str:
    head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns"
    return f"{head}{metadata}}}\n{fields}"


APPLIED = ", annotations: {kubectl.kubernetes.io/last-applied-configuration: '%s'}"
DOCKER = "type: kubernetes.io/dockerconfigjson\ndata:\n  .dockerconfigjson: "
IN_LIST = secret("data: {p: czNjcjN0}").replace("\n", "\n  ")
CASES = {
    "B1": (secret("data: {p: czNjcjN0}"), secret("data: {p: aHVudGVyMg==}")),
    "B2": (secret("data: {p: czNjcjN0}"), secret(f"data: {{p: {encoded('s3cr3t' * 50)}}}")),
    "B3": (
        secret("data: {}", APPLIED % '{"data":{"p":"czNjcjN0"}}'),
        secret("data: {}", APPLIED % '{"data":{"p":"aHVudGVy'),
    ),
    "B5": (secret(DOCKER + encoded('{"auths": {"h": "s3cr3t"}}')), secret(DOCKER + "e30=")),
    "B7": (secret("data: {p: czNjcjN0}"), secret("stringData: {p: hunter2}")),
    "B8": (secret("data: {tls.key: czNjcjN0}"), secret("data: {ca.crt: aHVudGVyMg==}")),
    "in a list": (
        f"apiVersion: v1\nkind: List\nitems:\n- {IN_LIST}",
        secret("data: {p: aHVudGVyMg==}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("case", CASES)
def test_a_secret_is_in_no_output(program: Program, write: Write, case: str, output: str) -> None:
    before, after = CASES[case]
    sides = write("a.yaml", before), write("b.yaml", after)
    rules = write("ignore.yaml", "- jq: ['.data[][]', .metadata.labels]\n")
    for options in ((), ("--full",), ("--ignore", rules)):
        code, out, err = program(*sides, "-o", output, "--detailed-exitcode", *options)
        assert code == 2
        assert "Secret" in out
        assert [canary for canary in CANARIES if canary in out + err] == []


def test_a_secret_of_any_length_is_shown_with_one_width(program: Program, write: Write) -> None:
    before = write("a.yaml", secret("data: {p: czNjcjN0}"))
    shown = {
        program(before, write("b.yaml", secret(f"data: {{p: {encoded('x' * size)}}}")))[1]
        for size in (1, 3, 300)
    }
    assert len(shown) == 1


def test_data_and_string_data_of_one_value_are_no_change(program: Program, write: Write) -> None:
    sides = (
        write("a.yaml", secret("data: {p: czNjcjN0}")),
        write("b.yaml", secret("stringData: {p: s3cr3t}")),
    )
    assert program.json(*sides)["changes"] == []


@pytest.mark.parametrize(
    "broken",
    [
        "data: {p: czNjcjN0",
        "data: czNjcjN0: s3cr3t",
        "data:\n  p: czNjcjN0\n q: s3cr3t",
        "data: {p: s3cr3t, p: hunter2}",
        "data: !!python/object/apply:os.system [s3cr3t]",
        "data: {p: *s3cr3t}",
        "---\ns3cr3t",
        "---\n- s3cr3t\n",
        "---\ns3cr3t: czNjcjN0\n",
    ],
)
def test_a_secret_that_cannot_be_parsed_is_not_quoted(
    program: Program, write: Write, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    write("a/ok.yaml", CONFIG % 1)
    write("a/s.yaml", secret(broken))
    said = program.refusal("a", "a")
    assert "a/s.yaml" in said
    assert [canary for canary in CANARIES[1:] if canary in said + caplog.text] == []


def test_a_token_in_an_address_is_not_repeated(program: Program) -> None:
    said = program.refusal("https://u:ghp_canary@host/r.git", "b.yaml")
    assert said == "there is no file or folder https://***@host/r.git"


# Markdown and HTML


def test_markdown_fits_the_platform_and_says_what_it_leaves_out(
    program: Program, write: Write
) -> None:
    before = "---\n".join(
        (CONFIG % ("x" * 900)).replace("name: c", f"name: c{at}") for at in range(300)
    )
    sides = write("a.yaml", before), write("b.yaml", before.replace("xxx", "yyy"))
    _, out, _ = program(*sides, "-o", "markdown")
    assert len(out) <= 65_536
    assert out.startswith("**300 modified")
    assert out.count("<details>") == out.count("</details>") > 10
    assert "diffs left out to fit the comment" in out


def test_content_leaves_neither_its_fence_nor_its_cell(program: Program, write: Write) -> None:
    evil = "```\\n</details>|<script>@everyone"
    after = (CONFIG % evil).replace("name: c", 'name: "a|b`<script>@x"')
    _, out, _ = program(write("a.yaml", ""), write("b.yaml", after), "-o", "markdown")
    outside = out.split("````")[0::2]
    assert len(outside) == 2
    assert not any("<script>" in text.replace("'<script>", "") for text in outside)
    assert "@x" not in outside[0].split("<summary>")[1]


def test_every_text_of_the_page_is_escaped(program: Program, write: Write) -> None:
    after = (CONFIG % "<script>alert(1)</script>").replace(
        "name: c", "name: '<img src=x onerror=alert(1)>'"
    )
    name = write("<b>.yaml", "").name
    _, out, _ = program(name, write("b.yaml", after), "-o", "html")
    tags = set(re.findall(r"<(\w+)", out))
    assert {"pre", "table"} <= tags
    assert tags.isdisjoint({"script", "img", "b"})
    assert "&lt;script&gt;" in out


# Terminal


@pytest.mark.parametrize("output", ["table", "unified", "side-by-side"])
def test_content_does_not_steer_the_terminal(program: Program, write: Write, output: str) -> None:
    steering = (CONFIG % "\\e[31m\\u202e").replace("name: c", 'name: "\\e[2J\\u202ec"')
    before = write("a.yaml", steering)
    after = write("b.yaml", steering.replace("[31m", "[32m"))
    _, out, _ = program(before, after, "-o", output)
    assert "ConfigMap" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_side_by_side_fits_the_terminal(
    program: Program, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("COLUMNS", "61")
    sides = write("a.yaml", CONFIG % ("long " * 40)), write("b.yaml", CONFIG % ("other " * 40))
    _, out, _ = program(*sides, "-o", "side-by-side")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert plain != out
    assert max(len(line) for line in plain.splitlines() if " | " in line) == 61


@pytest.fixture(autouse=True)
def _no_colors_of_the_outer_world(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def test_the_same_objects_of_two_groups_are_told_apart(program: Program, write: Write) -> None:
    route = "apiVersion: %s/v1\nkind: Route\nmetadata: {name: r, namespace: ns}\n"
    sides = write("a.yaml", route % "one.test"), write("b.yaml", route % "two.test")
    _, out, _ = program(*sides)
    assert "Route/ns/r (one.test/v1): deleted" in out
    assert "Route/ns/r (two.test/v1): added" in out
