import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.errors import InvalidRequest
from foretell.formats.redact.align import align
from foretell.formats.redact.collect import Collector
from foretell.formats.redact.credentials import hide_credentials
from foretell.formats.redact.marks import from_path, from_schema
from foretell.formats.redact.names import NameRule
from foretell.formats.redact.redactor import Redactor, Rules
from foretell.formats.redact.values import Scrubber

SECRET = "Canary-77-of-the-mine"
ODD = 'p"a\\ss<&>word\té%/+'
GO_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
MULTILINE = "-----BEGIN X-----\nMIIBVwIBADANBgkqhkiG\nsecond+line/of+key==\n-----END X-----\n"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "secret", [SECRET, ODD, MULTILINE, "hunter2", "café-crème", "a'b ${x} %{y}"]
)
@pytest.mark.parametrize(
    "form",
    [
        str.strip,
        lambda s: json.dumps(s)[1:-1],
        lambda s: json.dumps(s, ensure_ascii=False),
        lambda s: json.dumps(json.dumps(s)),
        lambda s: json.dumps({"k": s}).translate(GO_ESCAPES),
        quote,
        lambda s: quote(s, safe=""),
        quote_plus,
        lambda s: quote(s, safe="").lower() if s.islower() else quote(s, safe=""),
        b64,
        lambda s: b64(s).rstrip("="),
        lambda s: b64("x" + s + "yz"),
        lambda s: b64("ab" + s + "y"),
        lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
        lambda s: s.replace("${", "$${").replace("%{", "%%{"),
    ],
)
def test_a_secret_is_hidden_in_every_form_in_which_it_travels(secret: str, form) -> None:
    shown = Scrubber([secret]).text(f"before {form(secret)} after")
    assert "***" in shown
    for part in (secret.strip(), form(secret).strip(), b64(secret)[4:-4], quote(secret, safe="")):
        assert part not in shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


def test_a_line_of_a_multiline_secret_is_one_too() -> None:
    assert Scrubber([MULTILINE]).text("x MIIBVwIBADANBgkqhkiG y") == "x *** y"
    assert Scrubber([MULTILINE]).text("-----BEGIN X-----") == "-----BEGIN X-----"


@pytest.mark.parametrize(
    "ordinary", ["a", "ab", "abc", "true", "false", "null", "8080", "12345", "  "]
)
def test_ordinary_values_blot_out_nothing(ordinary: str) -> None:
    text = f"a abc true false null port 8080 id 12345 {ordinary} xabcx"
    assert Scrubber([ordinary]).text(text) == text


def test_short_secrets_and_numbers_count_only_as_words_of_their_own() -> None:
    scrubber = Scrubber(["main", "482913"])
    assert scrubber.text("main domain main.tf") == "*** domain ***.tf"
    assert scrubber.text("pin 482913, id 94829137") == "pin ***, id 94829137"


def test_the_longest_secret_wins_and_overlapping_ones_are_one_blot() -> None:
    assert Scrubber(["secret-one", "secret-one-two"]).text("secret-one-two") == "***"
    assert Scrubber(["abcdefgh", "efghijkl"]).text("x abcdefghijkl y") == "x *** y"


@given(
    st.lists(st.text(min_size=6, max_size=12), min_size=1, max_size=40),
    st.lists(st.text(max_size=8), min_size=1, max_size=4),
)
def test_no_searched_secret_survives_whatever_surrounds_it(secrets, around) -> None:
    scrubber = Scrubber(secrets)
    searched = [s for s in secrets if scrubber.is_secret(s) and not s.strip().isdecimal()]
    shown = scrubber.text("|".join(f"{a}{s}" for s in searched for a in around))
    assert not any(s.strip() in shown for s in searched if "*" not in s and len(s.strip()) > 5)


@pytest.mark.parametrize(
    "name",
    [
        *("password", "dbPassword", "DB-PASSWORD", "client_secret", "aws_secret_access_key"),
        *("private_key", "token", "tls_private_key_pem", "connection_string", "DB_PASS", "API_KEY"),
    ],
)
def test_a_secret_name_hides(name: str) -> None:
    assert NameRule().hides(name)


@pytest.mark.parametrize(
    "name",
    [
        *("name", "key", "key_name", "public_key", "secret_name", "password_length", "token_ttl"),
        *("partition_key", "bypass", "compass", "secret_arn", "kms_key_id", "value"),
    ],
)
def test_a_plain_name_does_not(name: str) -> None:
    assert not NameRule().hides(name)


def test_a_value_beside_a_secret_name_is_hidden() -> None:
    rules = Redactor(Rules(), [])
    env = [{"name": "SOME_API_KEY", "value": "x1"}, {"name": "MODE", "value": "fast"}]
    assert rules.value(env) == [
        {"name": "SOME_API_KEY", "value": "(sensitive value)"},
        {"name": "MODE", "value": "fast"},
    ]


def test_names_hide_no_booleans_and_no_nothing() -> None:
    value = {"password": None, "token": True, "secret": "", "api_key": 123456}
    assert Redactor(Rules(), []).value(value) == {**value, "api_key": "(sensitive value)"}


def test_names_count_inside_json_text() -> None:
    shown = Redactor(Rules(), []).value({"policy": '{"password": "x1y2", "a": 1.50}'})
    assert json.loads(shown["policy"]) == {"password": "(sensitive value)", "a": 1.5}
    assert "1.50" in shown["policy"]
    untouched = {"policy": '{ "a" : 1 }'}
    assert Redactor(Rules(), []).value(untouched) is untouched


def test_one_marked_side_hides_both() -> None:
    redactor = Redactor(Rules(), [])
    assert redactor.pair("old", "new", (True,), ()) == (
        "(sensitive value)",
        "(sensitive value, changed)",
    )
    assert redactor.pair({"a": "x"}, {"a": "x"}, (), ({"a": True},)) == (
        {"a": "(sensitive value)"},
        {"a": "(sensitive value)"},
    )
    assert redactor.pair(None, "new", (), (True,)) == (None, "(sensitive value)")


def test_a_hidden_list_says_how_much_of_it_changes() -> None:
    _, after = Redactor(Rules(), []).pair([{"a": 1}, {"b": 2}], [{"a": 1}, {"c": 2}], (True,), ())
    assert after == "(sensitive value: 1 of 2 elements changed)"


def test_an_inserted_element_does_not_make_its_neighbours_differ() -> None:
    before = [{"n": "a", "p": "s1"}, {"n": "b", "p": "s2"}]
    after = [{"n": "new", "p": "s0"}, *before]
    marks = [{"p": True}] * 3
    _, shown = Redactor(Rules(), []).pair(before, after, (marks[:2],), (marks,))
    assert [item["p"] for item in shown] == ["(sensitive value)"] * 3


def test_a_change_that_hiding_makes_invisible_is_said() -> None:
    was, now = Redactor(Rules(), [SECRET, SECRET + "2"]).pair(
        f"u:{SECRET}@h", f"u:{SECRET}2@h", (), ()
    )
    assert was == "u:***@h"
    assert now == "u:***@h (sensitive part changed)"


def test_keys_hold_secrets_too_and_do_not_swallow_one_another() -> None:
    shown = Redactor(Rules(), ["first-canary", "second-canary"]).value(
        {"first-canary": 1, "second-canary": 2}
    )
    assert shown == {"***": 1, "***'": 2}


def test_index_keys_are_values_and_names_of_code_are_spared() -> None:
    redactor = Redactor(Rules(), ["prod", SECRET])
    assert redactor.address('module.prod.x.y["prod"]') == 'module.prod.x.y["***"]'
    assert redactor.address(f'x.y["{SECRET}"].z') == 'x.y["***"].z'


def test_patterns_come_last_and_a_broken_one_is_named() -> None:
    assert Redactor(Rules(patterns=(r"acct-\d+",)), []).value("acct-12 x") == "*** x"
    with pytest.raises(InvalidRequest, match="mask pattern"):
        Redactor(Rules(patterns=("(",)), [])


def test_given_secrets_are_never_in_a_repr() -> None:
    assert SECRET not in repr(Rules(secrets=(SECRET,))) + repr(Redactor(Rules(), [SECRET]))


def test_schema_marks_reach_nested_blocks_and_attributes() -> None:
    block = {
        "attributes": {
            "id": {"type": "string"},
            "pin": {"sensitive": True},
            "cfg": {
                "nested_type": {"nesting_mode": "list", "attributes": {"k": {"sensitive": True}}}
            },
        },
        "block_types": {
            "auth": {"nesting_mode": "list", "block": {"attributes": {"pw": {"sensitive": True}}}}
        },
    }
    value = {"id": "i", "pin": 1234, "cfg": [{"k": "v"}], "auth": [{"pw": "v", "u": "n"}]}
    shown = Redactor(Rules(), []).value(value, (from_schema(block),))
    hidden = "(sensitive value)"
    assert shown == {
        "id": "i",
        "pin": hidden,
        "cfg": [{"k": hidden}],
        "auth": [{"pw": hidden, "u": "n"}],
    }


def test_path_rules_reach_into_lists() -> None:
    kind, mark = from_path("run.env[*].value")
    assert kind == "run"
    shown = Redactor(Rules(), []).value({"env": [{"name": "A", "value": "v"}]}, (mark,))
    assert shown == {"env": [{"name": "A", "value": "(sensitive value)"}]}


def test_only_random_looking_values_of_secret_names_are_looked_for_elsewhere() -> None:
    collector = Collector(NameRule())
    collector.add({"token": "a1b2c3d4e5", "secret": "registry", "x": [{"password": "Tr0ub4dor&3"}]})
    assert collector.found == {"a1b2c3d4e5", "Tr0ub4dor&3"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "fatal: 'https://x-access-token:s3@github.com/a/b.git/': 403",
            "fatal: 'https://***@github.com/a/b.git/': 403",
        ),
        ("https://abc123@host/x", "https://***@host/x"),
        ("dsn=postgres://u:s3@h/db", "dsn=postgres://u:***@h/db"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ('{"authorization": "Basic dTpw"}', '{"authorization": "***"}'),
        ("GET /o?X-Amz-Signature=abc&part=1", "GET /o?X-Amz-Signature=***&part=1"),
        ("see https://host/path and mail me@host", "see https://host/path and mail me@host"),
        ("-----BEGIN RSA PRIVATE KEY-----\nAB\n-----END RSA PRIVATE KEY----- x", "*** x"),
        ("token ghp_0123456789abcdefghijABCDEFGHIJ012345 x", "token *** x"),
    ],
)
def test_credentials_that_nobody_named_are_hidden(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ([1, 2, 3], [0, 1, 2, 3], [(None, 0), (0, 1), (1, 2), (2, 3)]),
        ([1, 2, 3], [1, 3], [(0, 0), (1, None), (2, 1)]),
        ([{"id": "a", "v": 1}, {"id": "b"}], [{"id": "b"}, {"id": "a", "v": 2}], [(1, 0), (0, 1)]),
        (["a"], ["b"], [(0, 0)]),
        ([], [1], [(None, 0)]),
        ([1, 1], [1], [(0, 0), (1, None)]),
    ],
)
def test_elements_pair_by_equality_then_identity_then_place(before, after, pairs) -> None:
    assert align(before, after) == pairs


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_every_element_of_both_sides_is_in_exactly_one_pair(before, after) -> None:
    pairs = align(before, after)
    assert sorted(i for i, _ in pairs if i is not None) == list(range(len(before)))
    assert sorted(j for _, j in pairs if j is not None) == list(range(len(after)))
