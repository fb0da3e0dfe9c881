import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.errors import InvalidRequest
from foretell.formats.exact_json import canonical, dumps, embedded, loads, same


@pytest.mark.parametrize(
    "number",
    ["1", "1.0", "0.10", "12345678901234567890", "1E5", "1e-7", "-0", "-0.0", "9" * 5000, "1e400"],
)
def test_a_number_keeps_its_text(number: str) -> None:
    assert dumps(loads(f'{{"a":[{number}]}}')) == f'{{"a":[{number}]}}'
    assert canonical(loads(number)) == number


def test_numbers_are_the_same_by_value_and_booleans_are_no_numbers() -> None:
    assert same(loads("0.1"), loads("0.10"))
    assert same(loads("1"), loads("1.0"))
    assert not same(loads("[1]"), loads("[true]"))
    assert not same(loads('{"a":false}'), loads('{"a":0}'))
    assert not same(loads('{"a":null}'), loads("{}"))


def test_canonical_text_is_sorted_and_escaped_as_go_does() -> None:
    text = canonical(loads('{"b": "<&>\\u2028é", "a": 1.50, "é": null}'))
    assert text == '{"a":1.50,"b":"\\u003c\\u0026\\u003e\\u2028é","é":null}'


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert loads('{"\\ud800": "a\\udc00", "\\ud83d\\ude00": 1}') == {"\ufffd": "a\ufffd", "😀": 1}


@pytest.mark.parametrize("text", ['{"a": SECRET}', '["SECRET', "NaN", "[1e99999999999999999999]"])
def test_an_error_says_where_and_never_quotes(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        loads(text, what="the plan")
    assert "SECRET" not in repr(caught.value) + str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("text", ["[" * 200 + "]" * 200, '{"a":' * 9999 + "1" + "}" * 9999])
def test_deep_nesting_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidRequest, match="nested"):
        loads(text)


def test_bytes_are_read_with_and_without_mark_and_as_utf_16() -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert loads('{"é": 1}'.encode(encoding)) == {"é": 1}
    with pytest.raises(InvalidRequest, match="not UTF-8"):
        loads(b'{"a": "\xff"}')


def test_only_objects_and_lists_are_embedded_json() -> None:
    assert embedded('{"a": 1}\n') == {"a": 1}
    assert embedded("{not json}") is None
    assert embedded("1") is None
    assert embedded("") is None


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_what_is_written_reads_back(value: object) -> None:
    assert same(loads(dumps(value)), loads(canonical(value)))
