"""What is written as JSON is read back equal: every value, every text, every number."""

from dataclasses import is_dataclass
from datetime import UTC, datetime, timedelta
from enum import EnumType
from functools import cache
from typing import Any, NewType, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretell.domain.context import Deployed, DispatchContext, Side
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import JsonObject, PlanRequest
from foretell.domain.result import KindResult, Phase, ResourceChange
from foretell.domain.target import AgentSpec, Deployment, Environment, Policy, Resource
from foretell.domain.verdict import Verdict
from foretell.store.codec import decode, decode_all, dump, dump_searchable, load
from foretell.store.text import restored, storable

VALUES = [
    PlanRequest,
    Side,
    DispatchContext,
    Deployed,
    KindResult,
    ResourceChange,
    Phase,
    Verdict,
    Deployment,
    Environment,
    Resource,
    AgentSpec,
    Policy,
]

texts = st.one_of(
    st.text(st.characters(codec=None), max_size=8),  # surrogates too
    st.text("\x00\ud800\ue000\\un0e1", max_size=6),
)
numbers = st.one_of(
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False, allow_infinity=False),
)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)

LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    Any: json_values,
    JsonObject: json_objects,
    str: texts,
    int: st.integers(-(2**63), 2**63),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    timedelta: st.timedeltas(),
    datetime: st.datetimes(timezones=st.just(UTC)),
    type(None): st.none(),
}


@cache
def values(type_: Any) -> st.SearchStrategy[Any]:
    """Every value of a type, its open JSON being any JSON."""
    if isinstance(type_, NewType):
        return values(type_.__supertype__)
    if type_ in LEAVES:
        return LEAVES[type_]
    if is_dataclass(type_):
        hints = get_type_hints(type_)
        return st.builds(type_, **{name: values(hint) for name, hint in hints.items()})
    if isinstance(type_, EnumType):
        return st.sampled_from(type_)
    inner, *more = get_args(type_)
    if get_origin(type_) is tuple:
        return st.lists(values(inner), max_size=2).map(tuple)
    return st.one_of(values(inner), *map(values, more))


@pytest.mark.parametrize("type_", VALUES, ids=lambda type_: type_.__name__)
def test_every_value_survives(type_: Any) -> None:
    @settings(max_examples=50)
    @given(values(type_))
    def survives(value: Any) -> None:
        assert decode(type_, dump(value)) == value
        assert decode(type_, dump_searchable(value)) == value
        assert decode_all(type_, dump([value, value])) == (value, value)

    survives()


@given(json_values)
def test_json_keeps_its_numbers_their_kind_and_the_order_of_its_keys(value: Any) -> None:
    for read in (load(dump(value)), load(dump_searchable(value))):
        assert repr(read) == repr(value)


@given(texts)
def test_any_text_can_be_stored_and_comes_back(text: str) -> None:
    stored = storable(text)
    assert "\x00" not in stored
    stored.encode()
    assert restored(stored) == text


def test_a_row_of_an_older_version_takes_the_defaults() -> None:
    assert decode(PlanRequest, b'{"tag":"v1","later":{}}') == PlanRequest("v1")


def test_a_row_without_what_it_must_have_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="a stored PlanRequest has no tag"):
        decode(PlanRequest, b"{}")


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="80 is a key of an object and not text"):
        dump({"ports": {80: "http"}})
