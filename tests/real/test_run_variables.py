"""Values written as HCL literals and read back by the real program."""

import json
import subprocess
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foretell.agents.terraform_cloud.variables import literal
from foretell.formats.exact_json import loads

HOSTILE: dict[str, Any] = {
    "plain": "abc",
    "empty": "",
    "function": '${file("/etc/passwd")}',
    "sum": "${1+1} and $${1+1} and $$${1+1}",
    "directive": "%{ if true }x%{ endif } %%{ 100%",
    "dollars": "$ $$ {} ${ $${ %{ %%{ % {",
    "quotes": "a\"b'c`d",
    "slashes": "\\ \\n \\\\b \\b \\u0041 C:\\temp\\new",
    "controls": "tab\t newline\n return\r back\b feed\f bell\x07 nul-free \x1b[31m",
    "heredoc": "<<EOT\nx\nEOT\n",
    "unicode": "é ü 日本 \u2028\u2029 \ufeff",
    "emoji": "🚀👩‍👩‍👧",
    "decomposed": "e\u0301",
    "true_text": "true",
    "number_text": "0012",
    "int": 3,
    "negative": -7,
    "big": 12345678901234567890123,
    "decimal": Decimal("0.1"),
    "float": 1.5,
    "small": 1e-7,
    "large": 1e22,
    "yes": True,
    "no": False,
    "nothing": None,
    "list": ["a", 1, None, True, ["${x}"]],
    "empty_list": [],
    "map": {"a": 1, "b-c": {"d": [1, {"e": "${f}"}]}},
    "empty_map": {},
    "keys": {"a.b": 1, "${k}": 2, "%{if}": 3, 'q"': 4, "for": 5, "null": 6, " ": 7, "é": 8},
    "x14": 'a"b${file("/etc/passwd")}%{x}\n',
}


@pytest.fixture
def read_back(
    tmp_path: Path, real_program: Callable[[str], Path]
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    folder = tmp_path
    program = str(real_program("tofu"))

    def run(*arguments: str) -> bytes:
        done = subprocess.run(
            [program, f"-chdir={folder}", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={"TF_CLI_CONFIG_FILE": "/dev/null", "HOME": str(folder), "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
        return done.stdout

    def values(given: dict[str, Any]) -> dict[str, Any]:
        blocks = (f'variable "{n}" {{}}\noutput "{n}" {{ value = var.{n} }}\n' for n in given)
        (folder / "main.tf").write_text("".join(blocks), encoding="utf-8")
        assigned = "".join(f"{name} = {literal(value, name)}\n" for name, value in given.items())
        (folder / "run.tfvars").write_text(assigned, encoding="utf-8")
        run("plan", "-input=false", "-out=p", "-var-file=run.tfvars")
        shown = loads(run("show", "-json", "p"))
        return {name: each.get("value") for name, each in shown["variables"].items()}

    return values


def normal(value: Any) -> Any:
    """As Terraform keeps it: texts in NFC."""
    match value:
        case str():
            return unicodedata.normalize("NFC", value)
        case dict():
            return {normal(key): normal(each) for key, each in value.items()}
        case list():
            return [normal(each) for each in value]
        case _:
            return value


def test_every_value_comes_back_as_it_was_given(read_back) -> None:
    found = read_back(HOSTILE)
    wrong = {
        name: (value, found.get(name))
        for name, value in HOSTILE.items()
        if not same(normal(value), found.get(name))
    }
    assert wrong == {}


def same(given: Any, found: Any) -> bool:
    if isinstance(given, bool) or given is None:
        return given is found
    if isinstance(given, int | float | Decimal):
        return Decimal(str(given)) == Decimal(str(found))
    if isinstance(given, dict):
        return given.keys() == found.keys() and all(same(given[k], found[k]) for k in given)
    if isinstance(given, list):
        return len(given) == len(found) and all(map(same, given, found))
    return given == found


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS | st.sampled_from(["${", "%{", "$${", "\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(values=st.lists(JSON, min_size=20, max_size=40))
def test_whatever_json_can_say_comes_back(read_back, values: list[Any]) -> None:
    given_values = {f"v{place}": value for place, value in enumerate(values)}
    found = read_back(given_values)
    for name, value in given_values.items():
        if collides(value):
            continue
        assert same(normal(value), found.get(name)), (name, json.dumps(value), found.get(name))


def collides(value: Any) -> bool:
    """Two keys that become one in NFC."""
    if isinstance(value, dict):
        return len({normal(key) for key in value}) < len(value) or any(
            map(collides, value.values())
        )
    return isinstance(value, list) and any(map(collides, value))
