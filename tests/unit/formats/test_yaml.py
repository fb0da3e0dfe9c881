"""YAML as Kubernetes reads it, and text that it reads back."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import law

from foretell.domain.errors import InvalidRequest
from foretell.formats.yaml import Limits, dump, load_documents

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TRICKY = st.text(st.sampled_from("0123456789abexyYnN+-_.:#'\"\n\t ~|>&*{}[],?%@=<\\\r\x85\u2028"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | FINITE | TEXT | TRICKY,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT | TRICKY, inner),
    max_leaves=20,
)


def value(text: str | bytes) -> Any:
    documents = load_documents(text, source="here")
    assert len(documents) == 1
    return documents[0].value


def read_or_refused(text: str | bytes) -> None:
    with suppress(InvalidRequest):
        for document in load_documents(text, source="here"):
            dump(document.value)


def numbered(item: Any) -> Any:
    """As JSON has numbers: whole floats below 1e21 are integers."""
    if isinstance(item, float) and item.is_integer() and abs(item) < 1e21:
        return int(item)
    if isinstance(item, dict):
        return {key: numbered(part) for key, part in item.items()}
    return [numbered(part) for part in item] if isinstance(item, list) else item


@law
@given(VALUES)
def test_what_is_written_is_read_back(item: Any) -> None:
    documents = load_documents(dump({"a": item}), source="here")
    assert documents[0].value == numbered({"a": item})
    assert dump(documents[0].value) == dump(numbered({"a": item}))


@law
@given(st.text() | TRICKY)
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text)


@law
@given(st.binary())
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    read_or_refused(raw)


@pytest.mark.parametrize(
    ("plain", "meant"),
    [
        ("yes", True), ("y", True), ("on", True), ("N", False), ("Off", False), ("oN", "oN"),
        ("~", None), ("", None), ("NULL", None), ("nULL", "nULL"),
        ("0o17", 15), ("017", 15), ("0b11", 3), ("0x1F", 31), ("-0b11", -3), ("+12", 12),
        ("1_000", 1000), ("08", 8), ("1e3", 1000), ("12e03", 12000), ("1.5", 1.5), (".5", 0.5),
        ("1.", 1), ("+.5", 0.5), ("._5", "._5"), (".", "."), ("0x", "0x"), ("1e400", "1e400"),
        ("22:22", "22:22"), ("2001-01-01", "2001-01-01"), ("=", "="), ("<<", "<<"),
        ("18446744073709551615", 2**64 - 1), ("18446744073709551616", 2**64),
        ("!!str 5", "5"), ("!!int '5'", 5), ("!own 5", "5"), ("! 5", "5"), ("!!binary aGk=", "hi"),
        ("'5'", "5"), ('"yes"', "yes"),
    ],
)  # fmt: skip
def test_a_scalar_is_what_kubernetes_takes_it_for(plain: str, meant: Any) -> None:
    assert repr(value(f"a: {plain}")["a"]) == repr(meant)


@pytest.mark.parametrize(
    ("key", "text"),
    [("yes", "true"), ("1", "1"), ("1e6", "1e+06"), ("1.5", "1.5"), ("0x10", "16"),
     ("1e20", "1e+20"), ("0.25", "0.25"), ("123456.5", "123456.5"), ("-1.50", "-1.5")],
)  # fmt: skip
def test_a_key_is_the_text_that_go_makes_of_it(key: str, text: str) -> None:
    assert value(f"{key}: x") == {text: "x"}


@pytest.mark.parametrize(
    "text",
    ["y", "1e3", "12e03", "0o17", "n", "08", "1E5", "+.5", "3e10", "0644", "1_0", "22:22",
     "2001-1-1", "null", "~", "", " x", "x ", "a: b", "a #b", "#", "- a", "-", "---", "...", "!x",
     "&a", "*a", "%", "@", "`", "{", "[", "'", '"', "|", ">",
     "<<", "=", "? a", "\u200b", "a\u202eb", "\x07", ".inf"],
)  # fmt: skip
def test_what_somebody_could_misread_is_quoted(text: str) -> None:
    written = dump({"a": text}).removeprefix("a: ").rstrip("\n")
    assert written[0] in "'\""
    assert value(f"a: {written}") == {"a": text}


def test_the_layout_is_kubectls() -> None:
    item = {
        "b": [{"y": 1, "x": [1, [2]]}],
        "a": {"t": "one\ntwo\n", "s": " lead\n\n", "e": {}, "l": []},
        "k" * 130: None,
    }
    assert dump(item) == (
        "a:\n  e: {}\n  l: []\n  s: |2+\n     lead\n\n  t: |\n    one\n    two\n"
        'b:\n- x:\n  - 1\n  - - 2\n  "y": 1\n'
        f"? {'k' * 130}\n: null\n"
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("# only\n# comments\n", []),
        ("---\n---\n", []),
        ("--- # said\na: 1\n--- {b: 2}\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\n...\n---\nb: 2\n...\n", [{"a": 1}, {"b": 2}]),
        ("a: 1\r\n---\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1}, {"b": "x\ny\n"}]),
        ('{"a": 1}', [{"a": 1}]),
        ('{"a": 1}{"b": 2}\n{"c": 3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"a": "\\ud83d\\ude00", "b": "\\ud800"}', [{"a": "😀", "b": "\ufffd"}]),
        ("{a: 1, b: yes}", [{"a": 1, "b": True}]),
        ("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}",
         [{"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}]),
        ("%YAML 1.1\n---\na: 1\n", [{"a": 1}]),
        ("\ufeffa: 1\n---\n\ufeffb: 2\n", [{"a": 1}, {"b": 2}]),
        ("a: |\n  x\n  ---\n  y\n", [{"a": "x\n---\ny\n"}]),
        ("---- a\n", ["---- a"]),
        ("---a: 1\n", [{"---a": 1}]),
    ],
)  # fmt: skip
def test_a_stream_of_any_shape_is_read(text: str, values: list[Any]) -> None:
    for given_text in (text, text.encode(), text.encode("utf-16"), text.encode("utf-8-sig")):
        assert [one.value for one in load_documents(given_text, source="here")] == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\n---\nb: 1\nb: 2\n", "document 2 of here, line 4: the key 'b' is there twice"),
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ("1: a\n'1': b", "the key '1' is there twice"),
        ("---\na: 1\n---\n- [\n", "document 2 of here, line 5: is no YAML"),
        ('{"a": 1}{"b": }', "document 2 of here, line 1: is no JSON"),
        ("a: *b", "'b' is not defined"),
        ("a: &a [*a]", "contains itself"),
        ("? [a]\n: b", "a key must be text"),
        ("~: b", "a key must be text"),
        ("a: .inf", "quote it"),
        ('{"a": 1e999}', "too large"),
        ("a: !!python/object/apply:os.system [id]", "run Python code"),
        ("{{", "not rendered?"),
        (": :", "is no YAML"),
        ("a: \x07", "control characters"),
        (b"a: \xff", "not UTF-8 text (byte 3)"),
        ("a: 1\n...\nb: 2\n", "document 2 of here, line 3"),
        ("[" * 300 + "]" * 300, "nested deeper than 200"),
        ("- " * 300, "nested deeper than 200"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested deeper than 200"),
        ('{"a":' * 100_000, "nested"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str | bytes, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        load_documents(text, source="here")
    assert said in str(refused.value)


def test_aliases_cannot_blow_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 10)]
    with pytest.raises(InvalidRequest, match="aliases expand to more than"):
        load_documents("\n".join(lines), source="here")


def test_a_stream_is_bounded() -> None:
    with pytest.raises(InvalidRequest, match="at most 10 are read"):
        load_documents("a: 12345678", source="here", limits=Limits(characters=10))
    with pytest.raises(InvalidRequest, match="more than 1 documents"):
        load_documents("a: 1\n---\nb: 1", source="here", limits=Limits(documents=1))


def test_no_error_quotes_a_value() -> None:
    for text in (
        "a: 's3cr3t",
        "a: s3cr3t: b",
        'p: "s3cr3t\n---\n',
        '{"a": "s3cr3t"} {"b": s3cr3t}',
    ):
        with pytest.raises(InvalidRequest) as refused:
            load_documents(text, source="here")
        assert "s3cr3t" not in str(refused.value)


def test_a_document_that_is_there_again_is_parsed_once() -> None:
    known: dict[str, Any] = {}
    one = load_documents("---\na: [1]\n", source="one", known=known)
    other = load_documents("---\nb: 1\n---\na: [1]\n", source="other", known=known)
    assert one[0].value is other[1].value
    assert (other[1].number, other[1].line) == (2, 3)
