"""Configurations of backends as HCL that both programs read alike."""

from decimal import Decimal

import pytest

from foretell.domain.errors import AgentRejected
from foretell.kit.terraform.backend import backend_file


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", '"plain"'),
        ('a "quoted" \\ one', '"a \\"quoted\\" \\\\ one"'),
        ("${var.x} %{ if true }", '"$${var.x} %%{ if true }"'),
        ("$ and $$ and {", '"$ and $$ and {"'),
        ("two\nlines\t", '"two\\nlines\\t"'),
        ("é 😀", '"é 😀"'),
        (True, "true"),
        (None, "null"),
        (7, "7"),
        (Decimal("1.50"), "1.50"),
        (["a", 1], '["a", 1]'),
        ({"role_arn": "r", "odd key": [True]}, '{ "role_arn" = "r", "odd key" = [true] }'),
    ],
)
def test_a_value_is_written_literally(value: object, written: str) -> None:
    assert backend_file({"x": value}) == f"x = {written}\n"


def test_a_key_that_is_no_argument_is_refused() -> None:
    with pytest.raises(AgentRejected, match="backendConfig"):
        backend_file({'x" } evil {': 1})
