"""No secret value leaves, and no change of one stays hidden."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from manifests import compared, config_map, deployment, secret, seen, stream

from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Action
from foretell.formats.kubernetes import COMMON_SECRET_NAMES, CompareOptions, Comparison, compare
from foretell.formats.yaml import load_documents

CANARIES = ("s3cr3t", "czNjcjN0", "hunter", "aHVudGVy")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def told(comparison: Comparison) -> str:
    return repr(comparison)


def test_a_changed_value_shows_as_changed_and_never_itself() -> None:
    result = compared([secret(data={"p": "czNjcjN0"})], [secret(data={"p": "aHVudGVyMg=="})])
    assert seen(result) == [("modify", "n/s")]
    assert "-  p: <masked-old>\n+  p: <masked-new>\n" in result.changes[0].diff
    assert not [canary for canary in CANARIES if canary in told(result)]


def test_an_equal_value_is_no_change() -> None:
    folded = "czNj\ncjN0\n"
    assert not compared([secret(data={"p": "czNjcjN0"})], [secret(data={"p": folded})]).changes


def test_string_data_is_data_written_plainly() -> None:
    plain = secret(stringData={"p": "s3cr3t"})
    assert not compared([secret(data={"p": "czNjcjN0"})], [plain]).changes
    over = secret(data={"p": "b3RoZXI="}, stringData={"p": "s3cr3t"})
    assert not compared([secret(data={"p": "czNjcjN0"})], [over]).changes
    result = compared([secret(data={"p": "czNjcjN0"})], [secret(stringData={"p": "other"})])
    assert "-  p: <masked-old>\n+  p: <masked-new>\n" in result.changes[0].diff


@pytest.mark.parametrize(("short", "long"), [("abc", "x" * 300), ("", "é" * 7), ("0", "1\n2\n")])
def test_a_mark_has_one_width(short: str, long: str) -> None:
    lines = [
        line
        for value in (short, long)
        for other in (short + "!", long + "!")
        for line in compared(
            [secret(data={"p": encoded(value)})], [secret(data={"p": encoded(other)})]
        )
        .changes[0]
        .diff.splitlines()
        if line[1:].startswith("  p:")
    ]
    assert len(lines) == 8
    assert len({len(line) for line in lines}) == 1


def test_a_mark_depends_on_nothing_but_whether_the_value_changed() -> None:
    one = compared([secret(data={"p": "QQ=="})], [secret(data={"p": "Qg=="})])
    other = compared([secret(data={"p": "Q0ND"})], [secret(data={"p": "RERERA=="})])
    assert one.changes[0].diff == other.changes[0].diff
    twins = compared([secret(data={"a": "QQ==", "b": "QQ=="})], [])
    strangers = compared([secret(data={"a": "QQ==", "b": "Qg=="})], [])
    assert twins == strangers


def test_key_names_stay_visible() -> None:
    result = compared([secret(data={"tls.key": "QQ=="})], [secret(data={"ca.crt": "QQ=="})])
    assert "-  tls.key: <masked>\n" in result.changes[0].diff
    assert "+  ca.crt: <masked>\n" in result.changes[0].diff


@pytest.mark.parametrize(
    "hidden",
    [
        {"data": {"p": "czNjcjN0"}},
        {"data": {"p": "not base64: s3cr3t"}},
        {"data": "s3cr3t"},
        {"data": ["s3cr3t", {"p": "s3cr3t"}]},
        {"data": {"p": {"q": ["s3cr3t"]}}},
        {"stringData": {"p": "s3cr3t"}},
        {"stringData": {"p": {"q": "s3cr3t"}}},
        {"stringData": "s3cr3t"},
        {"stringdata": {"p": "s3cr3t"}},
        {"Data": "s3cr3t"},
        {"type": "kubernetes.io/dockerconfigjson",
         "data": {".dockerconfigjson": encoded('{"auths":{"r":{"password":"s3cr3t"}}}')}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrapped", ["bare", "list", "typed list", "template", "annotation"])
def test_a_secret_is_masked_in_whatever_shape(hidden: dict[str, Any], wrapped: str) -> None:
    value = secret(**hidden)
    match wrapped:
        case "list":
            value = {"apiVersion": "v1", "kind": "List", "items": [value]}
        case "typed list":
            item = {key: part for key, part in value.items() if key not in ("kind", "apiVersion")}
            value = {"apiVersion": "v1", "kind": "SecretList", "items": [item]}
        case "template":
            value = config_map("c") | {"kind": "ManifestWork", "spec": {"manifests": [value]}}
        case "annotation":
            applied = {LAST_APPLIED: json.dumps(value)}
            value = secret() | {"metadata": {"name": "s", "annotations": applied}}
        case _:
            pass
    for result in (compared([value], []), compared([], [value]), compared([value], [value])):
        assert "<masked>" in result.current + result.proposed
        assert not [canary for canary in CANARIES if canary in told(result)]


@pytest.mark.parametrize(
    "applied", ['{"data":{"p":"czNjcjN0"}}', '{"data":{"p":"czNjcjN0"', "s3cr3t"]
)
def test_the_last_applied_annotation_is_masked_even_when_broken(applied: str) -> None:
    value = secret(data={"q": "QQ=="})
    value["metadata"]["annotations"] = {LAST_APPLIED: applied}
    result = compared([], [value])
    assert not [canary for canary in CANARIES if canary in told(result)]
    plain = config_map("c", a="1")
    plain["metadata"]["annotations"] = {LAST_APPLIED: applied}
    assert not [canary for canary in CANARIES if canary in told(compared([], [plain]))]


def test_an_annotation_that_repeats_a_value_is_masked() -> None:
    value = secret(stringData={"p": "s3cr3t"})
    value["metadata"]["annotations"] = {"a": "was s3cr3t", "b": "x czNjcjN0", "c": "harmless"}
    result = compared([], [value])
    assert not [canary for canary in CANARIES if canary in told(result)]
    assert "c: harmless" in result.proposed


@pytest.mark.parametrize("field", ["annotations", "labels"])
def test_metadata_that_repeats_a_value_of_either_side_is_masked(field: str) -> None:
    old, new = secret(stringData={"p": "s3cr3t"}), secret(stringData={"p": "hunter"})
    old["metadata"][field] = {"a": "s3cr3t", "b": "hunter", "c": "harmless"}
    new["metadata"][field] = {"a": "s3cr3t", "b": "hunter", "c": "harmless"}
    result = compared([old], [new])
    assert not [canary for canary in CANARIES if canary in told(result)]
    assert "c: harmless" in result.proposed


@pytest.mark.parametrize("kind", ["SecretList", "secretlist"])
@pytest.mark.parametrize(
    "items",
    [
        lambda password: [{"metadata": {"name": "s"}, "stringData": {"p": password}}],
        lambda password: {"s": {"stringData": {"p": password}}},
        lambda password: [password],
        lambda password: password,
    ],
)
def test_items_of_a_secret_list_are_secrets_whatever_their_shape(
    kind: str, items: Callable[[str], Any]
) -> None:
    def listed(password: str) -> dict[str, Any]:
        metadata = {"name": "l"}
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "items": items(password)}

    result = compared([listed("s3cr3t")], [listed("hunter")])
    assert [change.action for change in result.changes] == [Action.MODIFY]
    assert not [canary for canary in CANARIES if canary in told(result)]


def test_a_kind_with_blanks_is_a_secret_too() -> None:
    value = {**secret(stringData={"p": "s3cr3t"}), "kind": " Secret "}
    assert not [canary for canary in CANARIES if canary in told(compared([], [value]))]


@pytest.mark.parametrize("empty", [None, {}])
def test_an_empty_string_data_is_none(empty: Any) -> None:
    value = secret(data={"p": "czNjcjN0"})
    assert not compared([{**value, "stringData": empty}], [value]).changes


def test_a_secret_under_another_name_is_compared_in_its_values() -> None:
    def named(name: str, password: str) -> dict[str, Any]:
        return secret(name, data={"p": encoded(password), "user": encoded("me")})

    result = compared([named("db-8mbdf7882g", "s3cr3t")], [named("db-gk642m9t7b", "hunter")])
    add = next(one for one in result.changes if one.action is Action.ADD)
    assert add.tags == ("renamed from db-8mbdf7882g",)
    assert "-  p: <masked-old>\n+  p: <masked-new>\n" in add.diff
    assert "   user: <masked>\n" in add.diff
    assert not [canary for canary in CANARIES if canary in told(result)]


def test_no_warning_and_no_error_has_a_value() -> None:
    twice = secret(stringData={"p": "s3cr3t"})
    assert "s3cr3t" not in told(compared([twice, twice], [twice]))
    for broken in (
        "kind: Secret\napiVersion: v1\nmetadata: {name: s}\nstringData: {p: s3cr3t",
        "stringData: {p: s3cr3t}",
        "s3cr3t",
        "- s3cr3t",
        "kind: Secret\napiVersion: v1\nstringData: {p: s3cr3t}",
        "kind: Secret\napiVersion: v1\nmetadata: {namespace: s3cr3t}",
    ):
        with pytest.raises(InvalidRequest) as refused:
            compare("", broken)
        assert "s3cr3t" not in str(refused.value)


def test_values_of_other_objects_are_masked_by_name_only_when_asked() -> None:
    def both(password: str) -> list[Any]:
        env = [{"name": "DB_PASSWORD", "value": password}, {"name": "HOST", "value": "h"}]
        containers = [{"name": "c", "env": env}]
        return [
            config_map("c", db_password=password, host="h"),
            deployment(template={"spec": {"containers": containers}}),
        ]

    shown = compared(both("s3cr3t"), both("hunter"))
    assert (shown.masked, "hunter" in shown.proposed) == (0, True)
    hidden = compared(both("s3cr3t"), both("hunter"), mask_names=COMMON_SECRET_NAMES)
    assert hidden.masked == 2
    assert len(hidden.changes) == 2
    assert not [canary for canary in CANARIES if canary in told(hidden)]
    assert "host: h" in hidden.proposed
    assert not compared(both("s3cr3t"), both("s3cr3t"), mask_names=COMMON_SECRET_NAMES).changes


def test_the_masked_text_is_still_a_stream_of_objects() -> None:
    result = compared([secret(data={"p": "QQ=="})], [secret(data={"p": "Qg=="}), deployment()])
    documents = load_documents(result.proposed, source="proposed")
    assert [one.value["kind"] for one in documents] == ["Secret", "Deployment"]


def test_a_random_secret_value_is_masked_too() -> None:
    once, again = (stream(secret(stringData={"p": text})) for text in ("s3cr3t", "hunter"))
    result = compare(once, again, CompareOptions(proposed_again=once))
    assert not result.has_changes
    assert not [canary for canary in CANARIES if canary in told(result)]
