import json
import re
import time
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretell.domain.errors import InvalidRequest
from foretell.inventory.select import compile_selector, references

PAGE = Path(__file__).parents[2] / "docs/reference/selectors.md"
THOUSAND = {"resource": {"name": "x", "l": [f"item-{n}" for n in range(1000)]}}


def with_resource(**resource: Any) -> dict[str, Any]:
    return {"deployment": {}, "environment": {}, "jobAgent": {}, "resource": resource}


def test_the_page_says_what_matches() -> None:
    page = PAGE.read_text()
    resource = json.loads(page.split("```json")[1].split("```")[0])
    rows = re.findall(r"^\| `(.*)` \| (yes|no) \|$", page, re.MULTILINE)
    assert len(rows) >= 10
    for text, answer in rows:
        selector = compile_selector(text.replace(r"\|", "|"))
        assert selector(with_resource(**resource)) is (answer == "yes"), text


@pytest.mark.parametrize("text", [None, "", " \n"])
def test_no_selector_matches_everything(text: str | None) -> None:
    assert compile_selector(text)({}) is True
    assert references(text) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "resource.metadata.tier == 'gold'",
        "resource.metadata.tier != 'gold'",
        "!(resource.metadata.tier == 'gold')",
        "resource.metadata['tier'] != 'gold'",
        "resource.metadata.tier.startsWith('g')",
        "!resource.metadata.tier.startsWith('g')",
        "resource.config.a.b.c > 3",
        "has(resource.config.a.b)",
        "resource.list[7] == 1",
        "resource.list.all(x, x.y == 1)",
        "!(resource.metadata.tier in ['gold'])",
    ],
)
def test_what_depends_on_an_absent_key_never_matches(text: str) -> None:
    assert compile_selector(text)(with_resource(metadata={}, list=[{"z": 1}], config={})) is False


def test_an_absent_key_does_not_matter_where_the_other_side_decides() -> None:
    variables = with_resource(kind="A", metadata={})
    for text in ("resource.metadata.x == 1 || resource.kind == 'A'", "true || resource.nope"):
        assert compile_selector(text)(variables) is True
    assert compile_selector("!(resource.metadata.x == 1 && false)")(variables) is True


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("resource.name ==", "line 1, column 17: does not parse: mismatched input '<EOF>'"),
        ("resource.a == 1 &&\n  )", r"line 2, column 3: does not parse: mismatched input '\)'"),
        ("resource.a == 'x", "line 1, column 15: this quote is never closed"),
        ("resource.a ==\n 'x", "line 2, column 2: this quote is never closed"),
        ("1", "it gives int, not true or false"),
        ("'x' + 'y'", "it gives string, not true or false"),
        ("size(resource)", "it gives int, not true or false"),
        ("target.name == 'x'", "'target' is unknown: there is deployment, environment, jobAgent"),
        ("resource.l.all(x, y == 1)", "'y' is unknown"),
        ("x == 1 || [1].all(x, false)", "Undefined variable or function: 'x'"),
        ("split(resource.name)", "there is no function 'split'"),
        ("now() == 1", "there is no function 'now'"),
        ("resource.name == '" + "x" * 4096 + "'", "longer than 4,096 bytes"),
        ("(" * 2000 + "true" + ")" * 2000, "does not parse"),
        ("[" * 2000 + "]" * 2000 + " == []", "does not parse"),
    ],
)
def test_what_can_never_answer_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=f"(?s)^selector .*{reason}"):
        compile_selector(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("resource.l.all(x, resource.l.exists(y, y == x))", "column 30: exists inside a compre"),
        ("resource.l.all ( x,resource.l . /**/ map(y, y) == [])", "does not parse|map inside"),
        ("resource.l.all(x, [resource.l.filter(y, true)] == [])", "filter inside a compre"),
        ("resource.l.exists(x, x + x == '')", r"column 24: \+ inside a comprehension"),
        (r"resource.l.exists(x, x.matches('(\\w{300})'))", "matches inside a comprehension"),
        ("resource.l.map(x, [x, x]).map(x, [x, x]) == []", "more than 1 of map"),
        ("resource.l" + ".filter(x, true)" * 9 + " == []", "more than 8 of comprehension"),
        (" || ".join(["resource.name.matches('a')"] * 9), "more than 8 of matches"),
        ("+".join(["resource.name"] * 18) + " == ''", r"more than 16 of \+"),
        ("resource.l == [] && '' == ')' && resource.l.all(x, ')' != x + '(')", r"\+ inside"),
        (r"'\'' == r'\' && resource.l.all(x, x + '' == '')", r"\+ inside"),
        ('"""\'"""==\'"\' && resource.l.all(x, x + "" == "")', r"\+ inside"),
        ("true // '\n && resource.l.all(x, x + '' == '')", r"\+ inside"),
    ],
)
def test_what_could_run_for_long_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        compile_selector(text)


@pytest.mark.parametrize(
    "text",
    [
        "resource.l.filter(x, x != '').all(x, x != 'y')",
        "resource.name == '.all(' || resource.l.all(x, x != ').all(')",
        "resource.name in ['a+b+c'] || true",
        "'x' == resource.name // .all(x, y.all(",
        "resource.l.size() == 1000 && size(resource.l) == 1000",
    ],
)
def test_what_only_looks_costly_is_allowed(text: str) -> None:
    assert compile_selector(text)(THOUSAND) is True


def test_iterating_is_bounded_by_what_it_iterates_over() -> None:
    long = compile_selector("resource.l.all(x, x != '')")
    with pytest.raises(InvalidRequest, match=r"a list or map of 1,001 items, the limit is 1,000"):
        long(with_resource(l=["a"] * 1001))
    assert long(with_resource(l=["a"], other=["a"] * 1001)) is True
    assert compile_selector("'b' in resource.l")(with_resource(l=["a"] * 5000 + ["b"])) is True


def test_the_dearest_that_is_allowed_takes_a_few_seconds_at_most() -> None:
    body = " && ".join(["x in resource.l"] * 9)
    started = time.process_time()
    assert compile_selector(f"resource.l.all(x, {body})")(THOUSAND) is True
    assert compile_selector(f"resource.l{'.filter(x, true)' * 8} != []")(THOUSAND) is True
    assert time.process_time() - started < 10
    with pytest.raises(InvalidRequest, match="it may compare too many values"):
        compile_selector(f"resource.l.all(x, {body} && {body})")(THOUSAND)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("resource.name", "it gives string, not true or false"),
        ("resource.nothing", "it gives null, not true or false"),
        ("resource.n > '3'", "No such overload"),
        ("resource.n / 0 == 1", "division by zero"),
        ("resource.name.matches('(')", "unclosed group"),
    ],
)
def test_a_question_that_makes_no_sense_for_the_values_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=f"^selector .*{reason}") as caught:
        compile_selector(text)(with_resource(name="x", n=4, nothing=None))
    assert "\n" not in str(caught.value)


def test_a_variable_that_is_not_there_to_ask_about_is_named() -> None:
    with pytest.raises(InvalidRequest, match="there is no jobAgent to ask about here"):
        compile_selector("jobAgent.type == 'helm'")({"resource": {}})


def test_frozen_maps_and_tuples_are_maps_and_lists() -> None:
    frozen = MappingProxyType({"metadata": MappingProxyType({"a": ("x", "y")})})
    assert compile_selector("'y' in resource.metadata.a")({"resource": frozen})
    assert compile_selector("resource['meta' + 'data'].a == ['x', 'y']")({"resource": frozen})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("resource.name == 'environment'", {"resource"}),
        ("environment.name == 'x' && deployment.slug == 'y'", {"environment", "deployment"}),
        ("resource.environment == 'x'", {"resource"}),
        ("[jobAgent].exists(x, x.type == 'helm')", {"jobAgent"}),
        ("true", set()),
    ],
)
def test_references_are_the_variables_the_answer_can_depend_on(text: str, names: set[str]) -> None:
    assert references(text) == names


KEYS = st.sampled_from(["a", "b", "all", "x-y"])
VALUES = st.recursive(
    st.sampled_from(["v", 1, True, None]), lambda inner: st.dictionaries(KEYS, inner), max_leaves=9
)
STEPS = st.lists(KEYS.map(lambda key: f"['{key}']" if "-" in key else f".{key}"), max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES), st.lists(STEPS, min_size=1, max_size=3))
def test_what_is_not_needed_never_changes_the_answer(
    resource: dict[str, Any], paths: list[list[str]]
) -> None:
    text = " || ".join(f"resource{''.join(steps)} == 'v'" for steps in paths)
    # In a list the variable is needed whole.
    whole = text.replace("resource", "[resource][0]")
    assert outcome(text, resource) == outcome(whole, resource)


def outcome(text: str, resource: dict[str, Any]) -> bool | str:
    try:
        return compile_selector(text)({"resource": resource})
    except InvalidRequest as error:
        return error.message.split(": ")[-1]


def test_a_thousand_resources_are_asked_in_a_blink() -> None:
    selector = compile_selector("resource.metadata.region == 'eu' && resource.name != 'x'")
    big = {f"key-{n}": "x" * 50 for n in range(500)}
    variables = with_resource(name="n", metadata={"region": "eu", **big}, config=big)
    started = time.process_time()
    assert all(selector(variables) for _ in range(1000))
    assert time.process_time() - started < 1
