"""The `p2:` scheme: fixed vectors, and what must and must not change the name of a plan."""

import json

import pytest
from plan_samples import KEY, change, document, output, plan

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.effect import effect
from foretell.formats.tfplan.hash import EMPTY_HASH, plan_hash
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.redacted import redact


def update(before, after, **more) -> str:
    return plan_hash(plan(change("a.b", "update", before, after, **more)), KEY)


VECTORS = [
    (
        change("a.b", "update", {"size": 1, "name": "x"}, {"size": 2, "name": "x"}),
        '{"paths":[{"path":["size"],"before":1,"after":2}]}',
        "84a1d298eb75c493e8510c25b4cc510160c7ddb56bb0f2a16c235ce4febff95e",
    ),
    (
        change("a.b", "delete+create", {"n": 1, "arn": "z"}, {"n": 2}, after_unknown={"arn": True}),
        '{"paths":[{"path":["arn"],"before":null,"after":null,"unknown":true},'
        '{"path":["n"],"before":1,"after":2}]}',
        "915cb9a648981aa1130329b01e77506ce7b8f525bf9a46a9d9b1fef0bd537f9f",
    ),
    (
        change("a.c", "create", None, {"n": 1}, after_unknown={"id": True}),
        '{"after":{"n":1},"after_unknown":{"id":true}}',
        "fd22e20e71605d5e744479d6be4281378d355e4e96decf02f01e80898c204950",
    ),
    (
        change("a.d", "delete", {"n": 1}),
        "{}",
        "1c98a3308a1ecfab17ff8b28f13ab7bdf02c7c65df9fc2d1b90330cf38e0dcb8",
    ),
    (
        change("a.e", "no-op", {}, {}, importing={"id": "i-1"}),
        '{"importing":{"id":"i-1"}}',
        "1cf6e0f1415592f04ca4ba30ee9aa2f4888fc607b08687fdb8fbe969d38115b2",
    ),
    (
        change("a.new", "no-op", {}, {}, previous_address="a.old"),
        '{"previous_address":"a.old"}',
        "e1d0583b20691e07b1e6f97ca472a5fb257f38396ef89701d48383cefb8a1344",
    ),
]


@pytest.mark.parametrize(("entry", "text", "digest"), VECTORS)
def test_the_vectors_of_the_scheme(entry, text: str, digest: str) -> None:
    given = plan(entry)
    assert effect(given.changes[0]) == text
    assert plan_hash(given, KEY) == f"p2:{digest}"


def test_the_vector_of_an_output() -> None:
    given = plan(outputs={"endpoint": output("update", "a", "b<c")})
    assert effect(given.outputs[0]) == '{"paths":[{"path":[],"before":"a","after":"b\\u003cc"}]}'
    assert plan_hash(given, KEY) == (
        "p2:1e9829440dcd06d9beeaf2b6e0007cba478be5612b1c37ec3605995848b6e050"
    )


def test_a_plan_that_does_nothing_has_the_empty_hash() -> None:
    still = change("a.b", "no-op", {"v": 1}, {"v": 1})
    assert plan_hash(plan(), KEY) == EMPTY_HASH
    assert plan_hash(plan(still, outputs={"o": output("no-op", 1, 1)}), KEY) == EMPTY_HASH
    assert plan_hash(plan(change("a.b", "", importing=None)), KEY) == EMPTY_HASH


BASE = update({"a": 1, "b": [1, 2]}, {"a": 2, "b": [1, 2]})


def test_what_does_not_take_part_does_not_change_the_hash() -> None:
    entry = change("a.b", "update", {"a": 1, "b": [1, 2]}, {"a": 2, "b": [1, 2]})
    other = change("a.c", "create", None, {"v": 1})
    around = {
        "timestamp": "2030-01-01T00:00:00Z",
        "terraform_version": "9.9",
        "variables": {"x": {"value": 1}},
        "prior_state": {"values": {}},
        "checks": [],
        "resource_drift": [other],
    }
    assert plan_hash(plan(entry, change("z.z", "no-op"), **around), KEY) == BASE
    assert plan_hash(plan(entry, other), KEY) == plan_hash(plan(other, entry), KEY)
    assert update({"b": [1, 2], "a": 1}, {"b": [1, 2], "a": 2}) == BASE
    assert update({"a": 1, "b": [7]}, {"a": 2, "b": [7]}) == BASE


def test_marker_spellings_are_one() -> None:
    for nothing in ({}, False, None, [], {"a": False}, {"b": [False, {}]}):
        assert update(
            {"a": 1}, {"a": 2}, before_sensitive=nothing, after_sensitive=nothing
        ) == update({"a": 1}, {"a": 2})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 3})),
        (({"a": 1}, {"a": 2}), ({"a": 0}, {"a": 2})),
        (({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 2, "b": None})),
        (({"a": 1, "b": None}, {"a": 2}), ({"a": 1}, {"a": 2})),
        (({"a": [1]}, {"a": [2]}), ({"a": {"0": 1}}, {"a": {"0": 2}})),
        (({"a/b": 1}, {"a/b": 2}), ({"a": {"b": 1}}, {"a": {"b": 2}})),
        (({"a": "1"}, {"a": "2"}), ({"a": 1}, {"a": 2})),
        (({"a": True}, {"a": 2}), ({"a": 1}, {"a": 2})),
        (({"a": [1, 2]}, {"a": [2, 1]}), ({"a": [1, 2]}, {"a": [1, 2]})),
    ],
)
def test_a_different_effect_has_a_different_hash(one, other) -> None:
    assert update(*one) != update(*other)


def test_unknowns_and_marks_are_bound_and_an_unknown_masks_the_old_value() -> None:
    plain = update({"a": {"b": 1}}, {"a": {"b": 2}})
    whole = update({"a": {"b": 1}}, {}, after_unknown={"a": True})
    part = update({"a": {"b": 1}}, {"a": {}}, after_unknown={"a": {"b": True}})
    marked = update({"a": {"b": 1}}, {"a": {"b": 2}}, after_sensitive={"a": True})
    flip = update({"a": 1}, {"a": 1}, before_sensitive={"a": True})
    assert len({plain, whole, part, marked, flip, EMPTY_HASH}) == 6
    assert update({"a": "old"}, {}, after_unknown={"a": True}) == update(
        {"a": "older"}, {}, after_unknown={"a": True}
    )


def numbers(before: str, after: str) -> str:
    text = json.dumps(document(change("a.b", "update", {"n": "B"}, {"n": "A"})))
    return plan_hash(parse(text.replace('"B"', before).replace('"A"', after)), KEY)


def test_numbers_are_bound_by_their_text() -> None:
    assert numbers("1", "1.0") != EMPTY_HASH
    found = {
        numbers("0", number)
        for number in (
            "1",
            "1.0",
            "1.00",
            "1e0",
            "1E0",
            "12345678901234567890",
            "12345678901234567891",
        )
    }
    assert len(found) == 7


def test_actions_order_address_and_key_are_bound() -> None:
    def of(actions: str, address: str = "a.b", key: bytes = KEY) -> str:
        return plan_hash(plan(change(address, actions, {"v": 1}, {"v": 2})), key)

    found = {
        of("delete+create"),
        of("create+delete"),
        of("update"),
        of("create"),
        of("delete"),
        of("forget"),
        of("update", "a.c"),
        of("update", key=b"j" * 32),
    }
    assert len(found) == 8


def test_imports_and_moves_are_bound_by_what_they_come_from() -> None:
    def of(**more) -> str:
        return plan_hash(plan(change("a.b", "no-op", {}, {}, **more)), KEY)

    found = {
        of(importing={"id": "1"}),
        of(importing={"id": "2"}),
        of(importing={"identity": {"id": "1"}}),
        of(previous_address="a.x"),
        of(previous_address="a.y"),
        EMPTY_HASH,
    }
    assert len(found) == 6
    assert of(importing=None) == of(previous_address="") == EMPTY_HASH


def test_every_changed_secret_changes_the_hash() -> None:
    marks = {"before_sensitive": {"p": True}, "after_sensitive": {"p": True}}
    assert update({"p": "1"}, {"p": "2"}, **marks) != update({"p": "1"}, {"p": "3"}, **marks)


def test_there_is_no_hash_without_a_proper_key_or_of_a_redacted_plan() -> None:
    given: Plan = plan(change("a.b", "create", None, {"v": 1}))
    with pytest.raises(InvalidRequest) as caught:
        plan_hash(given, b"short-key")
    assert "short-key" not in str(caught.value)
    with pytest.raises(InvalidRequest, match="redacted"):
        plan_hash(redact(given), KEY)


def test_the_same_secret_twice_planned_has_one_name() -> None:
    one, two = (plan(change("a.b", "update", {"p": 1}, {"p": 2}), timestamp=t) for t in "ab")
    assert plan_hash(one, KEY) == plan_hash(two, KEY)
