"""`units.parse` for the embedded engine, whose own answers "undefined" for what is no quantity.

A rule `units.parse(limit) > 4` would then not fire; here it errs, as with OPA.
Source: Open Policy Agent, "Policy Reference", section "Units".
"""

from decimal import Decimal, InvalidOperation
from typing import Final

_DECIMAL: Final = {"m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def parse_units(text: object) -> int | float:
    """The number that a quantity such as `500m`, `2Gi` or `1.5` stands for. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("units.parse expects a string")
    cleaned = text.replace('"', "")
    unit = cleaned.lstrip("+-0123456789.")
    try:
        number = Decimal(cleaned.removesuffix(unit))
    except InvalidOperation as error:
        raise ValueError(f"units.parse: no number in {text!r:.100}") from error
    value = number * _factor(unit, text)
    return int(value) if value == value.to_integral_value() else float(value)


def _factor(unit: str, text: str) -> Decimal:
    # Only the difference of m and M matters to OPA.
    for known, power in _BINARY.items():
        if unit.lower() == known.lower():
            return Decimal(1024) ** power
    for known, power in _DECIMAL.items():
        if unit == known or (known not in "mM" and unit.lower() == known.lower()):
            return Decimal(10) ** power
    if unit:
        raise ValueError(f"units.parse: unit {unit!r:.20} of {text!r:.100} not recognized")
    return Decimal(1)
