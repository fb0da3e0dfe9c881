"""What one scalar means to Kubernetes.

Source: `resolve.go` of go-yaml v2 as forked in `sigs.k8s.io/yaml/goyaml.v2`, then the number
rules of Go's `encoding/json`, through which every manifest passes: a float that is a whole number
under 1e21 arrives as an integer, so `replicas: 1.0` and `replicas: 1e0` are `replicas: 1`.
"""

import math
import re
import struct

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(
        ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True
    ),
    **dict.fromkeys(
        ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False
    ),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
_INTEGER = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0(?:[oO]([0-7]+)|([0-7]*))|([1-9][0-9]*))"
)
_BASES = (16, 2, 8, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_POINT_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_INT64 = range(-(2**63), 2**63)
_UINT64 = range(2**64)


def resolve(plain: str) -> Scalar:
    """The value of an unquoted scalar without a tag; a whole float stays a float here."""
    if plain in _WORDS:
        return _WORDS[plain]
    first = plain[0]
    if first == ".":
        return _finite(plain, plain) if _POINT_FLOAT.fullmatch(plain) else plain
    if first not in "+-0123456789":
        return plain
    digits = plain.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    return _finite(digits, plain) if _FLOAT.fullmatch(digits) else plain


def _integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if match is None:
        return None
    sign, *groups = match.groups()
    base, text = next(pair for pair in zip(_BASES, groups, strict=True) if pair[1] is not None)
    if base == 10 and len(text) > 20:
        return None  # beyond 64 bits, and Python refuses more than 4,300 digits
    value = int(text or "0", base)
    if (-value if sign == "-" else value) in _INT64:
        return -value if sign == "-" else value
    return value if not sign and value in _UINT64 else None


def _finite(digits: str, otherwise: str) -> float | str:
    """Go refuses a float that overflows, and then the scalar stays text."""
    value = float(digits)
    return otherwise if math.isinf(value) else value


def whole(value: float) -> int | float:
    """A float as Go's JSON writes it and Kubernetes reads it again."""
    if math.isfinite(value) and value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value


def bounded(value: int) -> int | float:
    """An integer beyond 64 bits is a float to Go."""
    if value in _INT64 or value in _UINT64:
        return value
    try:
        return whole(float(value))
    except OverflowError:
        return math.inf


def key_text(key: Scalar) -> str | None:
    """A mapping key as JSON has it: always text. None when Kubernetes refuses such a key."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(key) if key in _INT64 else None
    return None if key is None else _float_key(key)


def _float_key(value: float) -> str:
    """`strconv.FormatFloat(value, 'g', -1, 32)`, with YAML's words for what is not finite."""
    single = _single(value)
    if not math.isfinite(single):
        return ".nan" if math.isnan(single) else "-.inf" if single < 0 else ".inf"
    texts = (f"{single:.{precision}e}" for precision in range(9))
    text = next(text for text in texts if _single(float(text)) == single)
    mantissa, exponent = text.split("e")
    if -4 <= int(exponent) < 6:
        return _unpadded(mantissa, int(exponent))
    return text


def _single(value: float) -> float:
    """The nearest float of 32 bits; nine digits tell each from the next."""
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(single)


def _unpadded(mantissa: str, exponent: int) -> str:
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    digits = digits.replace(".", "")
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    head, tail = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{sign}{head}.{tail}" if tail else f"{sign}{head}"
