"""The matcher asks each question once, and never mixes two answers up."""

from typing import Any

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import AgentId, DeploymentId, EnvironmentId, ResourceId
from foretell.domain.target import AgentSpec, Deployment, Environment, Resource
from foretell.inventory.matching import CelSelectors
from foretell.inventory.select import KEYS


def scope(resource: str, environment: str, region: str = "eu") -> dict[str, Any]:
    return {
        "resource": {"id": resource, "name": resource, "metadata": {"region": region}},
        "environment": {"id": environment, "name": environment},
    }


def test_no_selector_matches_everything() -> None:
    assert CelSelectors().matches()("", {})


def test_an_answer_about_one_resource_is_not_given_for_another() -> None:
    matches = CelSelectors().matches()
    text = 'resource.metadata.region == "eu"'
    assert matches(text, scope("a", "prod"))
    assert not matches(text, scope("b", "prod", region="us"))


def test_an_answer_that_names_both_is_remembered_for_both() -> None:
    matches = CelSelectors().matches()
    text = 'environment.name == "prod" && resource.name == "a"'
    asked = [("a", "prod"), ("a", "test"), ("b", "prod"), ("a", "prod")]
    assert [matches(text, scope(*one)) for one in asked] == [True, False, False, True]


def test_a_new_matcher_knows_nothing_of_an_older_reading() -> None:
    selectors = CelSelectors()
    text = 'resource.metadata.region == "eu"'
    assert selectors.matches()(text, scope("a", "prod"))
    assert not selectors.matches()(text, scope("a", "prod", region="us"))


@pytest.mark.parametrize("text", ["resource.", "1 + 1", "nobody.name == 'x'"])
def test_a_selector_that_cannot_be_taken_is_refused_before_it_is_asked(text: str) -> None:
    with pytest.raises(InvalidRequest):
        CelSelectors().check(text)


def test_a_key_that_no_resource_has_is_refused_when_it_is_written() -> None:
    check = CelSelectors().check
    check('resource.metadata.any.thing == "x" && has(resource.config.any)')
    check('[resource].exists(r, r.anything == "x")')
    with pytest.raises(InvalidRequest, match="jobAgent has no 'kind': there is id, name, type"):
        check('jobAgent.kind == "helm"')


def test_the_keys_that_selectors_may_name_are_those_that_are_there() -> None:
    described = {
        "deployment": Deployment(DeploymentId("d"), "d", "d"),
        "environment": Environment(EnvironmentId("e"), "e"),
        "resource": Resource(ResourceId("r"), "r", "r"),
        "jobAgent": AgentSpec(AgentId("a"), "a", "helm"),
    }
    assert {name: frozenset(one.describe()) for name, one in described.items()} == KEYS
