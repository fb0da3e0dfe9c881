"""Values as HCL literals; tests/real/test_run_variables.py reads them back with the program."""

from decimal import Decimal
from typing import Any

import pytest

from foretell.agents.terraform_cloud.variables import literal, run_variables
from foretell.domain.errors import AgentRejected


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("abc", '"abc"'),
        ('a"b${file("/etc/passwd")}%{x}\n', r'"a\"b$${file(\"/etc/passwd\")}%%{x}\n"'),
        ("a\\b", r'"a\\b"'),
        ("\b\f", r'"\u0008\u000c"'),
        ("\\b", r'"\\b"'),
        ("🚀é", '"🚀é"'),
        ("$${x", '"$$${x"'),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (Decimal("0.10"), "0.10"),
        (12345678901234567890, "12345678901234567890"),
        ([], "[]"),
        ({}, "{}"),
        (["a", 1], '["a", 1]'),
        ({"a.b": {"${k}": None}}, '{ "a.b" = { "$${k}" = null } }'),
    ],
)
def test_a_value_is_written_as_itself(value: Any, written: str) -> None:
    assert literal(value) == written


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("-Infinity"), b"x", "\ud800"]
)
def test_what_terraform_has_no_value_for_is_refused_by_name(value: Any) -> None:
    with pytest.raises(AgentRejected, match=r"variable v\.k\[0\]"):
        literal({"k": [value]}, "v")


def test_nesting_has_a_limit() -> None:
    value: Any = "x"
    for _ in range(60):
        value = [value]
    with pytest.raises(AgentRejected, match="nested over"):
        literal(value, "v")


@pytest.mark.parametrize("name", ["", "1a", "a b", "a.b", 'a" = 1\nb', "ü", "a" * 300])
def test_a_name_that_no_variable_has_is_refused(name: str) -> None:
    with pytest.raises(AgentRejected, match="can't be a Terraform variable"):
        run_variables({name: 1})


def test_variables_are_in_order() -> None:
    assert run_variables({"b": 1, "a-1": "x"}) == [
        {"key": "a-1", "value": '"x"'},
        {"key": "b", "value": "1"},
    ]
