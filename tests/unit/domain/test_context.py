"""What an agent is asked: layers of config, variables by priority, frozen sides."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.context import (
    AgentRef,
    DispatchContext,
    Scope,
    Version,
    merge_config,
    resolve_variables,
)
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    InvocationId,
    PlanId,
    ResourceId,
    WorkspaceId,
)
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Environment,
    Resource,
    Target,
    Variable,
    VariableValue,
)

keys = st.sampled_from("abc")
scalars = st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2) | st.booleans()
layers = st.recursive(
    st.dictionaries(keys, scalars, max_size=3),
    lambda inner: st.dictionaries(keys, scalars | st.none() | inner, max_size=3),
    max_leaves=6,
)
# Without null, and each key either always a map or never one.
plain_layers = st.fixed_dictionaries(
    {},
    optional={
        "a": scalars,
        "b": scalars,
        "m": st.fixed_dictionaries({}, optional={"a": scalars, "b": scalars}),
    },
)


@given(layers)
def test_one_layer_is_itself_without_what_it_removes(layer: dict[str, Any]) -> None:
    def without_nulls(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {key: without_nulls(item) for key, item in value.items() if item is not None}

    assert merge_config(layer) == without_nulls(layer)
    assert merge_config({}, layer, {}) == merge_config(layer)
    assert merge_config(layer, layer) == merge_config(layer)


@given(layers, layers, layers)
def test_layers_are_laid_one_after_the_other(
    low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]
) -> None:
    assert merge_config(merge_config(low, middle), high) == merge_config(low, middle, high)


@given(plain_layers, plain_layers, plain_layers)
def test_without_null_upper_layers_may_be_merged_first(
    low: dict[str, Any], middle: dict[str, Any], high: dict[str, Any]
) -> None:
    assert merge_config(low, merge_config(middle, high)) == merge_config(low, middle, high)


@given(layers, layers)
def test_the_later_layer_wins_at_every_key(low: dict[str, Any], high: dict[str, Any]) -> None:
    merged = merge_config(low, high)
    for key, value in high.items():
        if value is None:
            assert key not in merged
        elif not isinstance(value, Mapping):
            assert merged[key] == value
    for key in low.keys() - high.keys():
        assert merged.get(key) == merge_config({key: low[key]}).get(key)


@given(layers, layers)
def test_merging_changes_no_layer(low: dict[str, Any], high: dict[str, Any]) -> None:
    before = repr((low, high))
    merge_config(low, high)["a"] = "changed"
    assert repr((low, high)) == before


def test_maps_are_merged_deep_lists_replaced_and_null_removes() -> None:
    low = {"m": {"a": 1, "b": {"c": 1}}, "l": [1, 2], "gone": 1, "s": {"x": 1}}
    high = {"m": {"b": {"d": 2}}, "l": [3], "gone": None, "s": "text", "m2": {"n": None}}
    assert merge_config(low, high) == {
        "m": {"a": 1, "b": {"c": 1, "d": 2}},
        "l": [3],
        "s": "text",
        "m2": {},
    }


RESOURCE = Resource(ResourceId("r"), "eu-1", "eu-1", metadata={"tier": "prod"})


def by_text(text: str, scope: Mapping[str, Any]) -> bool:
    """A selector here is the tier it wants; "" matches all."""
    return not text or scope["resource"]["metadata"]["tier"] == text


def resolved(definition: Variable, resource: Resource = RESOURCE) -> Any:
    return resolve_variables([definition], resource, by_text)[definition.key]


values = st.lists(
    st.builds(
        VariableValue,
        st.integers(),
        st.sampled_from(["", "prod", "dev"]),
        st.integers(-3, 3),
    ),
    max_size=5,
)


@given(values, st.booleans())
def test_the_matching_value_of_highest_priority_wins_and_a_tie_has_no_winner(
    given_values: list[VariableValue], has_default: bool
) -> None:
    definition = Variable("size", tuple(given_values), "default", has_default)
    fitting = [one for one in given_values if one.resource_selector in ("", "prod")]
    top = max((one.priority for one in fitting), default=None)
    best = [one for one in fitting if one.priority == top]
    if len(best) == 1:
        assert resolved(definition) == best[0].value
    elif not best and has_default:
        assert resolved(definition) == "default"
    else:
        with pytest.raises(InvalidRequest, match="'size'"):
            resolved(definition)


@given(values)
def test_the_resources_own_value_beats_all(given_values: list[VariableValue]) -> None:
    own = Resource(ResourceId("r"), "eu-1", "eu-1", variables={"size": None})
    assert resolved(Variable("size", tuple(given_values)), own) is None


def test_null_is_a_value_of_a_variable_and_of_a_default() -> None:
    assert resolved(Variable("size", (VariableValue(None),), "default", True)) is None
    assert resolved(Variable("size", (), None, True)) is None
    with pytest.raises(InvalidRequest, match="has no value"):
        resolved(Variable("size"))


def test_a_tie_names_both_selectors() -> None:
    tied = Variable("size", (VariableValue(1, "prod", 2), VariableValue(2, "", 2)))
    with pytest.raises(InvalidRequest, match=r"prod and \(all resources\)"):
        resolved(tied)


def test_a_side_is_merged_in_the_order_agent_deployment_request() -> None:
    deployment = Deployment(
        DeploymentId("d"), "web", "Web", job_agent_config={"b": "deployment", "c": "deployment"}
    )
    target = Target(Environment(EnvironmentId("e"), "production"), RESOURCE)
    agent = AgentSpec(AgentId("a"), "agent", "scripted", {"a": "agent", "b": "agent", "c": "agent"})
    side = Scope(deployment, by_text).freeze(
        target, agent, Version("v1"), job_agent_config={"c": "request"}
    )
    assert side.agent_config == {"a": "agent", "b": "deployment", "c": "request"}


def test_templates_see_the_version_under_both_of_its_names() -> None:
    target = Target(Environment(EnvironmentId("e"), "production"), RESOURCE)
    agent = AgentSpec(AgentId("a"), "agent", "scripted")
    side = Scope(Deployment(DeploymentId("d"), "web", "Web"), by_text).freeze(
        target, agent, Version("v1"), variables={"x": 1}
    )
    seen = side.template_variables()
    assert seen["version"] == seen["release"]["version"]
    assert seen["version"]["name"] == "v1"
    assert seen["release"]["variables"] == seen["variables"] == {"x": 1}


def test_a_context_names_the_side_that_there_is() -> None:
    target = Target(Environment(EnvironmentId("e"), "production"), RESOURCE)
    agent = AgentSpec(AgentId("a"), "agent", "scripted")
    scope = Scope(Deployment(DeploymentId("d"), "web", "Web"), by_text)
    old, new = (scope.freeze(target, agent, Version(tag)) for tag in ("v1", "v2"))

    def context(proposed: Any, current: Any) -> DispatchContext:
        ref = AgentRef(agent.id, agent.name, agent.type)
        return DispatchContext(
            InvocationId("i"), PlanId("p"), WorkspaceId("w"), ref, proposed, current
        )

    assert context(new, old).side is new
    assert context(None, old).side is old
    with pytest.raises(InvalidRequest):
        _ = context(None, None).side
