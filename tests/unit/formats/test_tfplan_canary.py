"""A secret at every place that is marked, and none of them in anything that leaves."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from plan_samples import REAL_PLANS, SECRET, change, document, everything_shown, output

from foretell.domain.errors import InvalidRequest
from foretell.formats.redact.redactor import Rules
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.redacted import redact, redact_with

MARKED = document(
    change(
        "n.a",
        "update",
        {"cfg": {"k": "x", "l": ["x", {"m": "x"}]}, "list": ["x", "y"], "set": [{"pw": "x"}]},
        {"cfg": {"k": "y", "l": []}, "list": ["y", "x", "z"], "set": [{"pw": "y"}, {"pw": "z"}]},
        before_sensitive={"cfg": True, "list": [True, False], "set": True},
        after_sensitive={"cfg": {"k": True}, "list": [False, True, True], "set": True},
    ),
    change("n.b", "delete", {"cfg": {"k": "x"}}, None, before_sensitive={"cfg": True}),
    change("n.c", "create", None, {"cfg": [{"k": "x"}]}, after_sensitive=True),
    change("n.d", "delete+create", {"p": "x"}, {"p": "y"}, before_sensitive={"p": True}),
    change("n.e", "forget", {"p": "x"}, None, before_sensitive={"p": True}),
    change("n.f", "no-op", {"p": "x"}, {"p": "x"}, after_sensitive={"p": True}),
    change("data.n.g", "read", None, {"p": "x"}, after_sensitive={"p": True}, mode="data"),
    outputs={"o": output("update", "x", "y", before_sensitive=True, after_sensitive=True)},
    resource_drift=[change("n.a", "update", {"p": "x"}, {"p": "y"}, after_sensitive={"p": True})],
    deferred_changes=[
        {
            "reason": "unknown",
            "resource_change": change(
                "n.h", "create", None, {"p": "x"}, after_sensitive={"p": True}
            ),
        }
    ],
    prior_state={
        "values": {
            "outputs": {"old": {"sensitive": True, "value": "x"}},
            "root_module": {
                "child_modules": [
                    {
                        "resources": [
                            {
                                "address": "module.m.data.v.s",
                                "mode": "data",
                                "type": "v",
                                "values": {"data": {"a": "x"}},
                                "sensitive_values": {"data": True},
                            }
                        ]
                    }
                ]
            },
        }
    },
)


class Planter:
    """Puts a new secret in the place of every string, and remembers it."""

    def __init__(self) -> None:
        self.planted: list[str] = []

    def at_marks(self, value: Any, mark: Any) -> Any:
        if mark is True:
            return self._everywhere(value)
        if isinstance(value, dict) and isinstance(mark, dict):
            return {key: self.at_marks(item, mark.get(key)) for key, item in value.items()}
        if isinstance(value, list) and isinstance(mark, list):
            return [self.at_marks(v, m) for v, m in zip(value, mark, strict=False)] + value[
                len(mark) :
            ]
        return value

    def _everywhere(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._everywhere(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._everywhere(item) for item in value]
        if value is None or isinstance(value, bool):
            return value
        self.planted.append(f'Canary <{len(self.planted)}> "q" é')
        return self.planted[-1]

    def document(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.document(item) for item in node]
        if not isinstance(node, dict):
            return node
        marks = {
            "before": node.get("before_sensitive"),
            "after": node.get("after_sensitive"),
            "values": node.get("sensitive_values"),
            "value": node.get("sensitive"),
        }
        return {
            key: self.at_marks(value, marks[key]) if marks.get(key) else self.document(value)
            for key, value in node.items()
        }


def forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield base64.b64encode(secret.encode()).decode().rstrip("=")
    yield quote(secret, safe="")


def assert_hidden(shown: str, secrets: list[str]) -> None:
    assert secrets
    found = [form for secret in secrets for form in forms(secret) if form in shown]
    assert found == []


def planted(text: str) -> tuple[dict[str, Any], list[str]]:
    planter = Planter()
    return planter.document(json.loads(text)), planter.planted


def with_copies(given: dict[str, Any], secrets: list[str]) -> dict[str, Any]:
    """The same secrets where nothing marks them."""
    copies = [
        change(
            f"copy.x[{json.dumps(secret)}]",
            "create",
            None,
            {
                "plain": f"a {secret} b",
                "encoded": base64.b64encode(f"user:{secret}".encode()).decode(),
                "url": f"https://h/?q={quote(secret)}",
                "json": json.dumps({"deep": [secret], secret: 1}),
                "map": {secret: {"k": [secret]}},
            },
            after_unknown={"m": {secret: True}},
            replace_paths=[["map", secret]],
            index=secret,
            importing={"id": secret},
            generated_config=f"x = {json.dumps(secret)}",
        )
        for secret in secrets
    ]
    problems = [{"message": f"bad {secret}"} for secret in secrets]
    return {
        **given,
        "resource_changes": [*given.get("resource_changes", []), *copies],
        "output_changes": {
            **given.get("output_changes", {}),
            **{f"copy{n}": output("create", None, secret) for n, secret in enumerate(secrets)},
        },
        "checks": [
            {
                "address": {"to_display": secrets[0]},
                "status": "fail",
                "instances": [{"problems": problems}],
            }
        ],
        "future_section": {"x": [{"y": secret} for secret in secrets]},
    }


FIXTURES = [pytest.param(json.dumps(MARKED), id="marked")] + [
    pytest.param(path.read_text(), id=path.stem)
    for path in REAL_PLANS
    if planted(path.read_text())[1]
]


def test_enough_real_plans_have_marks() -> None:
    assert len(FIXTURES) >= 4


@pytest.mark.parametrize("text", FIXTURES)
def test_a_secret_at_every_marked_path_is_in_no_output(text: str) -> None:
    given, secrets = planted(text)
    assert_hidden(everything_shown(parse(json.dumps(given))), secrets)


@pytest.mark.parametrize("text", FIXTURES)
def test_nor_is_any_unmarked_copy_of_it(text: str) -> None:
    given, secrets = planted(text)
    copied = with_copies(given, secrets)
    assert_hidden(everything_shown(parse(json.dumps(copied))), secrets)


@pytest.mark.parametrize("path", REAL_PLANS, ids=lambda path: path.stem)
def test_no_real_plan_shows_its_secret(path: Path) -> None:
    assert "S3cr3t-Value-42" not in everything_shown(parse(path.read_bytes()))


FLAGGED = {
    "configuration": {"root_module": {"variables": {"tok": {"sensitive": True, "default": SECRET}}}}
}
COPY = change("x.a", "create", None, {"t": SECRET})


@pytest.mark.parametrize(
    "given",
    [
        document(COPY, variables={"tok": {"value": SECRET}}, **FLAGGED),
        document(COPY, variables={"db_password": {"value": SECRET}}),
        document(COPY, outputs={"o": output("update", SECRET, 1, before_sensitive=True)}),
        document(COPY, outputs={"o": output("update", 1, SECRET, after_sensitive=True)}),
        document(
            change("x.a", "update", {"p": SECRET}, {"p": SECRET}, before_sensitive={"p": True})
        ),
        document(
            outputs={"o": output("update", SECRET, 1, before_sensitive=False)},
            prior_state={"values": {"outputs": {"o": {"sensitive": True, "value": SECRET}}}},
        ),
        document(
            COPY,
            configuration={
                "root_module": {
                    "module_calls": {
                        "m": {
                            "expressions": {"pw": {"constant_value": SECRET}},
                            "module": {"variables": {"pw": {"sensitive": True}}},
                        }
                    }
                }
            },
        ),
        document(
            COPY,
            action_invocations=[
                {
                    "address": "action.a.b",
                    "type": "a",
                    "config_values": {"body": SECRET},
                    "config_sensitive": {"body": True},
                }
            ],
        ),
        document(change("s.s", "delete", {"agent": {"secret_key": SECRET}})),
        document(
            change("s.s", "update", {"env": [{"name": "A_KEY", "value": SECRET}]}, {"env": []})
        ),
    ],
)
def test_whatever_flags_a_secret_it_is_in_no_output(given: dict[str, Any]) -> None:
    assert SECRET not in everything_shown(parse(json.dumps(given)))


def test_a_schema_and_a_path_rule_hide_what_no_mark_does() -> None:
    entry = change(
        "x.a", "update", {"pin": 4711, "q": [{"v": "abc"}]}, {"pin": 4712, "q": [{"v": "x"}]}
    )
    entry["provider_name"] = "p"
    schemas = {
        "provider_schemas": {
            "p": {
                "resource_schemas": {"x": {"block": {"attributes": {"pin": {"sensitive": True}}}}}
            }
        }
    }
    shown = redact(parse(json.dumps(document(entry))), Rules(schemas=schemas, paths=("x.q[*].v",)))
    assert shown.changes[0].before == {
        "pin": "(sensitive value)",
        "q": [{"v": "(sensitive value)"}],
    }
    assert shown.changes[0].after["pin"] == "(sensitive value, changed)"


def test_redacting_twice_is_redacting_once_and_schemas_are_left_out() -> None:
    given = parse(json.dumps({**MARKED, "provider_schemas": {"big": 1}}))
    once = redact(given)
    assert redact(once) is once
    assert "provider_schemas" not in once.document


def test_what_only_rules_read_can_be_left_out_and_the_rest_is_the_same() -> None:
    given = parse(json.dumps(MARKED))
    whole, shown = redact(given), redact(given, for_rules=False)
    assert shown.document == {
        name: part
        for name, part in whole.document.items()
        if name not in ("planned_values", "prior_state", "configuration")
    }


def test_messages_of_a_plan_go_through_its_redactor() -> None:
    given = parse(json.dumps(document(COPY, variables={"tok": {"value": SECRET}}, **FLAGGED)))
    _, redactor = redact_with(given)
    assert redactor.text(f"bad pw {SECRET}") == "bad pw ***"


def test_ordinary_values_of_a_plan_stay_readable() -> None:
    entry = change(
        "aws_instance.main",
        "update",
        {"ami": "a1", "n": 8080, "on": True},
        {"ami": "a2", "n": 8081, "on": False},
        before_sensitive={"flag": True},
        after_sensitive={"flag": True},
    )
    entry["change"]["before"]["flag"] = "true"
    entry["change"]["after"]["flag"] = "main"
    shown = redact(parse(json.dumps(document(entry))))
    assert shown.changes[0].address == "aws_instance.main"
    assert shown.changes[0].after["n"] == 8081
    assert shown.changes[0].after["on"] is False


def test_a_broken_plan_never_quotes_itself() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(json.dumps(MARKED)[:-2].replace('"x"', json.dumps(SECRET)))
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
