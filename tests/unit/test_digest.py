import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from random import Random
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.digest import canonical_bytes, derived_key, digest, keyed_digest
from foretell.domain.errors import InvalidRequest

KEY = bytes(range(32))
TEXTS = st.text(st.characters() | st.sampled_from("0123456789:#slmntf\x00\ud800"), max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.decimals(allow_nan=False)
    | TEXTS
    | st.binary(max_size=6)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def told_apart(value: object) -> object:
    """The value as Python's `==` has to see it: 1, True and 1.0 are not one."""
    match value:
        case None | bool() | str() | bytes():
            return (type(value).__name__, value)
        case int() | float() | Decimal():
            return ("number", str(value))
        case Mapping():
            return {key: told_apart(member) for key, member in value.items()}
        case list() | tuple():
            return [told_apart(member) for member in value]
        case _:
            raise AssertionError(value)


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_digests_are_equal_exactly_if_the_parts_are(one: list[object], two: list[object]) -> None:
    same = told_apart(one) == told_apart(two)

    assert (digest("v1", *one) == digest("v1", *two)) is same
    assert (keyed_digest("v1", KEY, *one) == keyed_digest("v1", KEY, *two)) is same


@given(st.text("ab:1s", max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_moving_a_boundary_changes_the_digest(text: str, one: int, two: int) -> None:
    def parts(cut: int) -> tuple[str, str]:
        return text[:cut], text[cut:]

    same = parts(one) == parts(two)

    assert (digest("v1", *parts(one)) == digest("v1", *parts(two))) is same


@given(st.dictionaries(TEXTS, VALUES, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_a_mapping_does_not_matter(value: dict[str, object], random: Random) -> None:
    items = list(value.items())
    random.shuffle(items)

    assert canonical_bytes(MappingProxyType(dict(items))) == canonical_bytes(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
        lambda inner: st.lists(inner).map(tuple) | st.lists(inner) | st.dictionaries(TEXTS, inner),
        max_leaves=8,
    )
)
def test_a_round_trip_through_json_keeps_the_digest(value: object) -> None:
    assert digest("v1", json.loads(json.dumps(value))) == digest("v1", value)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((), (None,)),
        (({"a": None},), ({},)),
        ((True,), (1,)),
        ((False,), (0,)),
        ((1,), (1.0,)),
        ((1,), ("1",)),
        (("a",), (b"a",)),
        (([],), ({},)),
        (([["a"], "b"],), ([["a", "b"]],)),
        ((["a", "b"],), ("a", "b")),
        (("s1:a",), ("a",)),
        ((Decimal("1.0"),), (Decimal("1.00"),)),
        (("",), ()),
        (("\ud800",), ("?",)),
    ],
)
def test_these_are_told_apart(one: tuple[object, ...], two: tuple[object, ...]) -> None:
    assert digest("v1", *one) != digest("v1", *two)


def test_a_string_or_number_that_is_also_an_enum_counts_as_its_value() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Size(IntEnum):
        BIG = 9

    assert canonical_bytes([Colour.RED, Size.BIG]) == canonical_bytes(["red", 9])


def test_the_scheme_is_part_of_the_digest() -> None:
    assert digest("a", "x").split(":")[1] != digest("b", "x").split(":")[1]


def test_the_encoding_never_changes_unnoticed() -> None:
    """Stored digests are compared with new ones: another encoding needs another scheme."""
    value = {"b": [None, True, False, -1, 1.5, Decimal("1E+2")], "a": "é", "": b"\x00"}
    written = b"m3:s0:b1:\x00s1:as2:\xc3\xa9s1:bl6:ntf#2:-1#3:1.5#4:1E+2"
    message = b"l2:s2:v1" + written

    assert canonical_bytes(value) == written
    assert digest("v1", value) == f"v1:{hashlib.sha256(message).hexdigest()}"
    assert keyed_digest("v1", KEY, value) == (
        f"v1:{hmac.new(KEY, message, hashlib.sha256).hexdigest()}"
    )


def test_another_key_gives_another_digest() -> None:
    assert keyed_digest("v1", KEY, "pin") != keyed_digest("v1", KEY[::-1], "pin")
    assert keyed_digest("v1", KEY, "pin") != digest("v1", "pin")


@pytest.mark.parametrize("length", [0, 1, 31])
def test_a_short_key_is_refused_and_not_shown(length: int) -> None:
    key = (b"canary" * 6)[:length]

    with pytest.raises(InvalidRequest, match=f"{length} bytes, at least 32") as refused:
        keyed_digest("v1", key, "x")

    assert "canary" not in str(refused.value)


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Point(1), "Point"),
        ({1, 2}, "builtins.set"),
        (datetime(2026, 1, 1, tzinfo=UTC), "datetime.datetime"),
        (bytearray(b"x"), "builtins.bytearray"),
        ({"a": [object()]}, "builtins.object"),
        ({1: "x"}, "key of type builtins.int"),
    ],
)
def test_a_value_without_canonical_bytes_is_named_by_type(value: object, name: str) -> None:
    with pytest.raises(TypeError, match=name):
        digest("v1", value)


@pytest.mark.parametrize("scheme", ["", "a:b", "a b", "a\n", "-a"])
def test_a_scheme_that_would_blur_the_digest_is_refused(scheme: str) -> None:
    with pytest.raises(ValueError, match="a scheme is"):
        digest(scheme, "x")


def test_a_derived_key_is_its_purposes_own() -> None:
    keys = {
        derived_key(key, *purpose)
        for key in (b"k" * 32, b"l" * 32)
        for purpose in ((), ("plan",), ("plan", "a"), ("plana",), ("plan", "", "a"))
    }
    assert len(keys) == 10
    assert {len(key) for key in keys} == {32}


def test_nothing_is_derived_from_a_short_key() -> None:
    with pytest.raises(InvalidRequest, match="31 bytes"):
        derived_key(b"k" * 31, "plan")
