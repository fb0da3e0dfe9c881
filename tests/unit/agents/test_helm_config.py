"""What is wrong with a config is found before anybody plans, templates and references aside."""

from typing import Any

import pytest

from foretell.agents.helm.config import config_complaints, read_config
from foretell.agents.helm.pull import remote_reference


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"chart": "{{ variables.chart }}", "apiVersions": ["{{ x }}"], "values": {"a": [1, None]}},
        {"releaseName": "web-{{ environment.name }}", "kubeconfig": {"env": "KUBECONFIG_TEXT"}},
        {"kubeconfig": "{{ resource.config.kubeconfig }}", "timeout": "90s"},
    ],
)
def test_a_part_of_a_config_may_be_open(config: dict[str, Any]) -> None:
    assert config_complaints(config, partial=True) == []


def test_the_whole_needs_a_chart_which_may_be_a_template() -> None:
    (missing,) = config_complaints({}, partial=False)
    assert missing.field == "chart"
    assert config_complaints({"chart": "{{ variables.chart }}"}, partial=False) == []


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"kubeVersion": 1.3}, "kubeVersion"),
        ({"valuesFiles": "one.yaml"}, "valuesFiles"),
        ({"values": ["a"]}, "values"),
        ({"repoUrl": "x"}, "repoUrl"),
        ({"kubeconfig": "apiVersion: v1"}, "kubeconfig"),
        ({"timeout": 60}, "timeout"),
    ],
)
def test_a_wrong_key_is_named(config: dict[str, Any], field: str) -> None:
    (found,) = config_complaints(config, partial=True)
    assert found.field == field


@pytest.mark.parametrize(
    ("config", "pulled"),
    [
        ({"chart": "charts/web"}, None),
        ({"chart": "charts/web", "repoURL": "https://git.example/x"}, None),
        ({"chart": "web", "repoURL": "https://git.example/x.git"}, None),
        ({"chart": "./web", "repoURL": "https://git.example/x"}, None),
        ({"chart": "web", "repoURL": "git@git.example:x"}, None),
        ({"chart": "web", "repoURL": "https://u:p@charts.example/x"}, "web (latest) of "),
        ({"chart": "oci://r.example/web", "revision": "1.0"}, "oci://r.example/web 1.0"),
        ({"chart": "web", "repoURL": "oci://r.example/charts/"}, "oci://r.example/charts/web"),
    ],
)
def test_what_is_pulled_and_what_is_a_path(config: dict[str, Any], pulled: str | None) -> None:
    found = remote_reference(read_config(config))
    assert (found is None) == (pulled is None)
    if found is not None and pulled is not None:
        assert found.name.startswith(pulled)
        assert "u:p" not in found.name


def test_an_unknown_key_is_found_whatever_stands_behind_it() -> None:
    config = {"chart": "{{ version.tag }}", "chrt": "{{ version.tag }}"}
    (found,) = config_complaints(config, partial=False)
    assert found.field == "chrt"
    assert "unknown key" in found.message


def test_a_reference_or_template_may_stand_for_any_value() -> None:
    config = {"chart": "{{ a }}", "values": "{{ b }}", "apiVersions": ["{{ c }}", "v1"]}
    assert config_complaints({**config, "kubeconfig": {"env": "K"}}, partial=False) == []
