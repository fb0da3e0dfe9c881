"""What a rule's sets mean: nothing in them is lost, and what they may not hold is an error."""

from typing import Any

import pytest

from foretell.domain.verdict import Denial, Rule, VerdictStatus
from foretell.policy.answer import (
    DETAIL_BYTES,
    MESSAGE_CHARACTERS,
    MOST_DENIALS,
    Answer,
    NoAnswer,
    read_answer,
)

RULE = Rule("p", "r", "package main", mandatory=False)


def test_strings_and_objects_are_denials_in_a_fixed_order() -> None:
    given = ["b", {"msg": "a", "n": 2}, {"msg": "a", "n": 1}]
    expected = (Denial("a", {"n": 1}), Denial("a", {"n": 2}), Denial("b"))
    assert read_answer([[given], []]).denials == expected
    assert read_answer([[given[::-1]], []]).denials == expected


def test_a_warning_is_no_denial() -> None:
    answer = read_answer([[], [[{"msg": "look", "n": 1}, "here"]]])
    assert (answer.denials, answer.warnings) == ((), ("here", "look"))
    assert answer.verdict(RULE).status is VerdictStatus.PASSED


def test_undefined_says_nothing() -> None:
    assert read_answer([[], []]) == Answer()


def test_a_verdict_is_of_its_rule() -> None:
    verdict = Answer((Denial("no"),), ("look",)).verdict(RULE)
    assert (verdict.policy, verdict.rule, verdict.mandatory) == ("p", "r", False)
    assert (verdict.status, verdict.warnings) == (VerdictStatus.DENIED, ("look",))


def test_an_error_beats_a_denial() -> None:
    verdict = Answer((Denial("no"),), error="broken").verdict(RULE)
    assert (verdict.status, verdict.message) == (VerdictStatus.ERRORED, "broken")
    assert verdict.blocks


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (True, "a boolean"),
        ("<undefined>", "a string"),
        ({}, "an object"),
        (None, "null"),
        (3, "a number"),
        ([["no"]], "a list"),
        ([1.5], "a number"),
        ([{"message": "no"}], "an object"),
        ([{"msg": 1}], "`msg` is no string"),
        (["x"] * (MOST_DENIALS + 1), "1,001 entries"),
        (["x" * (MESSAGE_CHARACTERS + 1)], "10,001 characters"),
        ([{"msg": "x", "more": "y" * DETAIL_BYTES}], "bytes beside its `msg`"),
    ],
)
@pytest.mark.parametrize("name", ["deny", "warn"])
def test_what_is_no_answer_is_an_error_and_says_why(name: str, given: Any, cause: str) -> None:
    value = [[given], []] if name == "deny" else [[], [given]]
    with pytest.raises(NoAnswer, match=f"`{name}`") as told:
        read_answer(value)
    assert cause in str(told.value)
    assert len(str(told.value)) < 400


def test_as_much_as_is_allowed_is_taken() -> None:
    answer = read_answer([[[f"{n:0{MESSAGE_CHARACTERS}d}" for n in range(MOST_DENIALS)]], []])
    assert len(answer.denials) == MOST_DENIALS
