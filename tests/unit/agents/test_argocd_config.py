"""What is wrong with a config is found before anybody plans, templates and references aside."""

from typing import Any

import pytest

from foretell.agents.argocd.config import config_complaints, read_config
from foretell.domain.errors import AgentRejected

WHOLE: dict[str, Any] = {
    "serverUrl": "https://argo.example.test",
    "apiKey": {"env": "TOKEN"},
    "template": {"kind": "Application", "metadata": {"name": "{{ resource.name }}"}},
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"serverUrl": "{{ resource.config.argocd }}", "template": "{{ variables.application }}"},
        {"apiKey": "{{ variables.token }}", "timeout": "10m", "concurrency": 8},
        {"planProject": "plans", "caFile": "/etc/ssl/argo.pem", "apiKey": {"file": "/token"}},
        {"revision": {"repository": "shop/platform", "commit": "{{ version.tag }}"}},
    ],
)
def test_a_whole_config_may_be_open(more: dict[str, Any]) -> None:
    assert config_complaints({**WHOLE, **more}, partial=False) == []


@pytest.mark.parametrize("key", ["serverUrl", "apiKey", "template"])
def test_what_is_needed_is_missed_in_the_whole_and_not_in_a_part(key: str) -> None:
    config = {name: value for name, value in WHOLE.items() if name != key}
    assert [each.field for each in config_complaints(config, partial=False)] == [key]
    assert config_complaints(config, partial=True) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("serverUrl", "argo.example.test"),
        ("serverUrl", "https://argo.example.test/?x=1"),
        ("apiKey", "a-token"),
        ("template", []),
        ("template", ""),
        ("timeout", 60),
        ("concurrency", 0),
        ("concurrency", "8"),
        ("caFile", "argo.pem"),
        ("planProject", "Plans"),
        ("serverURL", "https://argo.example.test"),
        ("revision", {"repository": "shop/platform"}),
    ],
)
def test_what_is_wrong_names_its_key_and_quotes_no_value(key: str, value: Any) -> None:
    found = config_complaints({**WHOLE, key: value}, partial=False)
    assert {each.path[0] for each in found} == {key}
    assert not any("a-token" in each.message for each in found)


def test_a_revealed_config_that_is_wrong_names_every_key() -> None:
    with pytest.raises(AgentRejected, match=r"serverUrl: .*; template: ") as caught:
        read_config({"serverUrl": "canary-1", "apiKey": "canary-2", "template": 3})
    assert "canary" not in caught.value.message
