"""Quantities as OPA reads them; what is none is an error and not silence."""

import pytest

from foretell.policy.units import parse_units


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500m", 0.5),
        ("1", 1),
        ("-1.5", -1.5),
        ("2k", 2000),
        ("2K", 2000),
        ("1M", 10**6),
        ("3g", 3 * 10**9),
        ("1Ki", 1024),
        ("2Gi", 2 * 1024**3),
        ("1ei", 1024**6),
        ("0.1", 0.1),
    ],
)
def test_a_quantity_is_its_number(text: str, value: float) -> None:
    assert parse_units(text) == value


@pytest.mark.parametrize("text", ["", "Gi", "1X", "one", "1 Gi", "--1", 3, None, ["1"]])
def test_what_is_no_quantity_is_an_error(text: object) -> None:
    with pytest.raises(ValueError, match=r"units\.parse"):
        parse_units(text)
