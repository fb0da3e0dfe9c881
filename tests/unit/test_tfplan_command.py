"""`foretell tfplan` as a person or a pipeline calls it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from foretell.cli import tfplan
from foretell.cli.ending import Ending
from foretell.domain.errors import InvalidRequest

SECRET = "Canary-77-of-the-mine"
Ran = tuple[int, str, str]


def document(**change: object) -> str:
    entry = {"address": "x.a", "type": "x", "name": "a", "change": change}
    return json.dumps({"format_version": "1.2", "resource_changes": [entry], "planned_values": {}})


DELETE = document(actions=["delete"], before={"password": SECRET, "n": 1}, after=None)
NOTHING = document(actions=["no-op"], before={"n": 1}, after={"n": 1})
FAILED = json.dumps({**json.loads(DELETE), "errored": True})


@pytest.fixture
def foretell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)
    for name, text in {"delete": DELETE, "nothing": NOTHING, "failed": FAILED}.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "key").write_bytes(b"k" * 32)

    def run(*arguments: str) -> Ran:
        code = 0
        try:
            tfplan.app(args=arguments, standalone_mode=False)
        except Ending as ending:
            code = ending.code
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.mark.parametrize("output", ["text", "markdown", "html", "json"])
def test_every_format_has_the_change_and_no_secret(foretell, output: str) -> None:
    code, shown, _ = foretell("show", "delete.json", "--output", output)
    assert code == 0
    assert "x.a" in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("plan", "plain", "detailed"), [("delete", 0, 2), ("nothing", 0, 0), ("failed", 1, 1)]
)
def test_exit_codes_are_those_of_a_plan(foretell, plan: str, plain: int, detailed: int) -> None:
    assert foretell("show", f"{plan}.json")[0] == plain
    assert foretell("show", f"{plan}.json", "--detailed-exitcode")[0] == detailed


def test_json_is_counts_verdict_and_changes(foretell) -> None:
    found = json.loads(foretell("show", "delete.json", "-o", "json")[1])
    assert found["verdict"] == "destructive"
    assert found["counts"]["delete"] == 1
    assert found["changes"][0] == {
        "address": "x.a",
        "deposed": None,
        "actions": ["delete"],
        "reason": None,
        "tags": [],
    }
    assert found["driftCount"] == 0


def test_the_text_says_the_verdict_where_a_terminal_ends(foretell) -> None:
    assert foretell("show", "delete.json")[1].endswith("\n\nVerdict: destructive\n")


def test_a_plan_is_read_from_standard_input(foretell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DELETE.encode())))
    assert "x.a will be destroyed" in foretell("show", "-")[1]


def test_the_hash_is_printed_and_nothing_else(foretell) -> None:
    code, shown, told = foretell("hash", "delete.json", "--key-file", "key")
    assert code == 0
    assert len(shown) == len("p2:") + 64 + 1
    assert shown.startswith("p2:")
    assert told == ""


def test_comparing_says_where_and_exits_2_only_when_they_differ(foretell) -> None:
    assert foretell("compare", "delete.json", "delete.json")[0] == 0
    code, shown, _ = foretell("compare", "delete.json", "nothing.json")
    assert code == 2
    assert shown == "x.a: only in the first\n"
    found = json.loads(foretell("compare", "delete.json", "nothing.json", "-o", "json")[1])
    assert found["differences"][0]["address"] == "x.a"


def test_masks_of_the_caller_come_on_top(foretell, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("m.json").write_text(document(actions=["create"], after={"a": f"u:{SECRET}@h acct-12"}))
    monkeypatch.setenv("MY_DB_PASS", SECRET)
    shown = foretell("show", "m.json", "--mask-env", "MY_DB_PASS", "--mask", r"acct-\d+")[1]
    assert 'a = "u:***@h ***"' in shown
    assert "NOT_SET is not set" in foretell("show", "m.json", "--mask-env", "NOT_SET")[2]
    assert SECRET not in foretell("show", "m.json", "--hide", "x.a")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "missing.json"], "missing.json can't be read: No such file"),
        (["hash", "delete.json", "--key-file", "missing"], "key file missing can't be read"),
        (["show", "main.tf"], "main.tf: the plan is not JSON"),
        (["compare", "-", "-"], "only one of the two"),
        (["show", "delete.json", "--mask", "("], "mask pattern"),
        (["show", "binary", "--program", "no-such-program"], "no-such-program was not found"),
    ],
)
def test_wrong_input_is_said_in_words(foretell, arguments: list[str], message: str) -> None:
    Path("binary").write_bytes(b"PK\x03\x04")
    Path("main.tf").write_text('resource "x" "a" {}')
    with pytest.raises(Exception, match=message) as caught:
        foretell(*arguments)
    assert type(caught.value).__module__.startswith("foretell.")


def test_a_short_key_is_refused_and_never_shown(foretell) -> None:
    Path("short").write_bytes(b"short-key-bytes")
    with pytest.raises(InvalidRequest, match="32 bytes") as caught:
        foretell("hash", "delete.json", "--key-file", "short")
    assert "short-key-bytes" not in str(caught.value)
