"""What holds for every pair of renders."""

import base64
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from manifests import law, stream

from foretell.domain.diff import apply_unified
from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Action
from foretell.formats.kubernetes import Comparison, compare
from foretell.formats.yaml import dump

CANARY = "s3cr3tCanary"
ENCODED = base64.b64encode(CANARY.encode()).decode()

WORDS = st.sampled_from(["a", "b", "yes", "1e3", "x: y", "two\nlines\n", "", " ", "é\u2028", "~"])
LEAVES = WORDS | st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1)
CONTENT = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [("v1", "ConfigMap"), ("v1", "Secret"), ("apps/v1", "Deployment"), ("acme.test/v1", "Thing")]
)


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    api_version, kind = draw(KINDS)
    metadata: dict[str, Any] = {"name": draw(st.sampled_from(["a", "b", "c-1", "c-2"]))}
    namespace = draw(st.sampled_from(["", "x", "y"]))
    if namespace:
        metadata["namespace"] = namespace
    body = draw(st.dictionaries(st.sampled_from(["spec", "data", "stringData"]), CONTENT))
    if kind == "Secret":
        body["data"] = {"k": draw(st.sampled_from([ENCODED, "QQ==", CANARY]))}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def identity(value: dict[str, Any]) -> tuple[str, ...]:
    metadata = value["metadata"]
    group = value["apiVersion"].rpartition("/")[0]
    return (group, value["kind"], metadata.get("namespace", ""), metadata["name"])


RENDERS = st.lists(objects(), max_size=6, unique_by=identity)


def counted(result: Comparison) -> dict[str, int]:
    return {action.value: result.count(action) for action in Action}


@law
@given(RENDERS, st.randoms())
def test_the_order_of_documents_and_their_spelling_are_no_change(
    render: list[dict[str, Any]], random: Any
) -> None:
    shuffled = list(render)
    random.shuffle(shuffled)
    result = compare(stream(*render), "---\n".join(dump(one) for one in shuffled))
    assert result.changes == ()
    assert result.current == result.proposed


@law
@given(RENDERS, RENDERS)
def test_every_difference_is_a_change_and_no_secret_is_in_it(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    result = compare(stream(*before), stream(*after))
    assert bool(result.changes) == (result.current != result.proposed)
    assert CANARY not in repr(result)
    assert ENCODED not in repr(result)


@law
@given(RENDERS, RENDERS)
def test_the_diff_applied_to_before_gives_after(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    for change in compare(stream(*before), stream(*after)).changes:
        if not any(tag.startswith("renamed to ") for tag in change.tags):
            assert apply_unified(change.before, change.diff) == change.after


@law
@given(RENDERS, RENDERS)
def test_the_other_way_round_adds_are_deletes(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    there = counted(compare(stream(*before), stream(*after)))
    back = counted(compare(stream(*after), stream(*before)))
    assert (there["add"], there["delete"], there["modify"]) == (
        back["delete"],
        back["add"],
        back["modify"],
    )


@law
@given(RENDERS)
def test_what_was_shown_compares_as_it_was_shown(render: list[dict[str, Any]]) -> None:
    result = compare("", stream(*render))
    assert compare("", result.proposed).proposed == result.proposed
    assert result.count(Action.ADD) == len(render)


@law
@given(st.text(st.sampled_from("---\n apiVersion: v1kndConfgMapteS{}[]\"'&*!|>#%,a\r\ufeff")))
def test_any_stream_is_compared_or_refused(text: str) -> None:
    try:
        result = compare(text, "")
    except InvalidRequest:
        return
    assert isinstance(result, Comparison)
