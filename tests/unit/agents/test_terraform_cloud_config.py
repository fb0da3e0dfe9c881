"""The agent's config: every wrong key is named, and no secret is quoted."""

from typing import Any

import pytest

from foretell.agents.terraform_cloud.config import (
    check_unrevealed,
    config_complaints,
    read_access,
    read_config,
)
from foretell.domain.errors import AgentRejected

GOOD: dict[str, Any] = {
    "organization": "acme",
    "token": "tok-canary",
    "template": {"workspace": "web-production", "variables": {"a": 1}},
    "repository": {"url": "https://git.example.com/acme/infra.git", "path": "infra"},
}
UNREVEALED = {**GOOD, "token": {"env": "TOKEN"}}


def test_all_keys_are_read() -> None:
    more = {
        "address": "https://tfe.example.com/",
        "queueTimeout": "5m",
        "runTimeout": "1h",
        "planKey": "k" * 32,
    }
    config = read_config({**GOOD, **more})
    assert config.address == "https://tfe.example.com"
    assert config.queue_timeout.total_seconds() == 300
    assert "canary" not in repr(config)
    assert "kkkk" not in repr(config)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"organisation": "acme"}, "organisation: unknown key; did you mean 'organization'?"),
        ({"organization": None}, "organization: expected text"),
        ({"organization": "a/b"}, "organization: expected at most 90 letters"),
        ({"template": {}}, "template.workspace: missing"),
        ({"template": {"workspace": "a b"}}, "template.workspace: expected at most 90"),
        ({"template": {"workspace": "a", "variable": {}}}, "did you mean 'variables'"),
        ({"repository": {"url": "x", "ref": "main"}}, "repository.ref: unknown key"),
        ({"repository": {"path": "x"}}, "repository.url: missing"),
        ({"address": "http://tfe.example.com"}, "address: expected https://HOST"),
        ({"address": "https://u:p@tfe.example.com"}, "address: expected https://HOST"),
        ({"address": "https://tfe.example.com/app"}, "address: expected https://HOST"),
        ({"address": "https://[::1"}, "address: expected https://HOST"),
        ({"queueTimeout": 5}, "queueTimeout: expected a duration"),
        ({"runTimeout": "0s"}, "runTimeout: expected a duration"),
        ({"planKey": "short-canary"}, "planKey: expected at least 32 bytes"),
        ({"token": "two words-canary"}, "token: expected one word"),
    ],
)
def test_a_wrong_key_is_named_and_no_secret_quoted(change: dict[str, Any], told: str) -> None:
    with pytest.raises(AgentRejected) as caught:
        read_config({**GOOD, **change})
    assert told in caught.value.message
    assert "canary" not in caught.value.message


def test_plain_http_is_for_this_machine_alone() -> None:
    for address in ("http://127.0.0.1:8080", "http://localhost:9", "http://[::1]:9"):
        assert read_config({**GOOD, "address": address}).address == address


@pytest.mark.parametrize("key", ["token", "planKey"])
def test_a_secret_is_a_reference(key: str) -> None:
    with pytest.raises(AgentRejected, match=f"{key}: expected a reference"):
        check_unrevealed({**UNREVEALED, key: "canary-" * 6})
    assert [each.field for each in config_complaints({**UNREVEALED, key: "x"}, partial=False)] == [
        key
    ]


def test_templates_and_references_stand_for_any_value() -> None:
    config = {
        "organization": "{{ variables.org }}",
        "token": {"env": "TOKEN"},
        "template": {
            "workspace": "web-{{ environment.name }}",
            "variables": {"a": "{{ version.tag }}", "secret": {"env": "S"}},
        },
        "repository": {"url": "{{ variables.url }}", "path": "{{ x }}"},
        "queueTimeout": "{{ y }}",
    }
    assert config_complaints(config, partial=False) == []


def test_a_layer_may_leave_the_rest_to_others() -> None:
    assert config_complaints({"organization": "acme"}, partial=True) == []
    missing = {each.field for each in config_complaints({"organization": "acme"}, partial=False)}
    assert missing == {"token", "template", "repository"}
    assert config_complaints({"organization": "a", "nope": 1}, partial=True)


def test_a_sweep_needs_the_access_alone() -> None:
    access = read_access({**GOOD, "template": {"workspace": "{{ x }}"}})
    assert (access.organization, access.address) == ("acme", "https://app.terraform.io")
    with pytest.raises(AgentRejected, match="organization"):
        read_access({**GOOD, "organization": "{{ x }}"})
