"""The test runner: instant unless told otherwise, and deterministic."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from foretell.agents.test_runner.agent import TestRunner
from foretell.domain.context import Side
from foretell.domain.diff import apply_unified
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.domain.result import Action, Done, KindResult, Outcome, Pending
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.contracts.agent import AgentContract, AgentQuestion


@pytest.fixture
async def tools() -> AsyncIterator[AgentTools]:
    async with agent_tools() as made:
        yield made


class TestContract(AgentContract):
    @pytest.fixture
    def question(self, tools: AgentTools) -> AgentQuestion:
        config = {"pendingRounds": 3, "size": 500}
        answered = a_context(
            "test-runner", current=a_side(config, tag="v1"), proposed=a_side(config, tag="v2")
        )
        refused = a_context("test-runner", current=None, proposed=a_side({"fail": True}))
        return AgentQuestion(TestRunner(tools), answered, refused)


async def planned(tools: AgentTools, config: JsonObject, **sides: str | None) -> Outcome:
    def side(name: str, tag: str) -> Side | None:
        wanted = sides.get(name, tag)
        return None if wanted is None else a_side(config, tag=wanted)

    context = a_context(
        "test-runner", current=side("current", "v1"), proposed=side("proposed", "v2")
    )
    return await TestRunner(tools).plan(context, None)


async def result(tools: AgentTools, config: JsonObject, **sides: str | None) -> KindResult:
    done = await planned(tools, config, **sides)
    assert isinstance(done, Done)
    (only,) = done.results
    return only


async def test_another_version_is_a_change_and_the_same_is_none(tools: AgentTools) -> None:
    changed = await result(tools, {})
    assert changed.has_changes is True
    assert (changed.additions, changed.deletions) == (1, 1)
    assert (await result(tools, {}, proposed="v1")).has_changes is False


@pytest.mark.parametrize(
    ("sides", "action"),
    [({"current": None}, Action.ADD), ({"proposed": None}, Action.DELETE), ({}, Action.MODIFY)],
)
async def test_a_side_that_is_absent_is_an_add_or_a_delete(
    tools: AgentTools, sides: dict[str, Any], action: Action
) -> None:
    (change,) = (await result(tools, {}, **sides)).resources
    assert change.action is action


@pytest.mark.parametrize("size", [0, 1, 100, 10_000])
async def test_the_size_is_about_what_was_asked_for(tools: AgentTools, size: int) -> None:
    found = await result(tools, {"size": size})
    assert size - 30 <= len(found.proposed) <= max(size, 60)
    assert found.diff is not None
    assert apply_unified(found.current, found.diff) == found.proposed


async def test_rounds_are_counted_in_the_state(tools: AgentTools) -> None:
    pending = await planned(tools, {"pendingRounds": 2, "delay": 3})
    assert pending == Pending({"round": 1}, timedelta(seconds=3), "round 1 of 2")


async def test_a_template_may_stand_for_any_value(tools: AgentTools) -> None:
    agent = TestRunner(tools)
    side = a_side(
        {"fail": "{{ variables.broken }}", "size": "{{ variables.size }}"},
        variables={
            "broken": True,
            "size": 100,
        },
    )
    with pytest.raises(AgentRejected, match="as its config says"):
        await agent.plan(a_context("test-runner", current=None, proposed=side), None)


async def test_without_a_template_no_template_is_rendered(tools: AgentTools) -> None:
    class Untouchable:
        async def render(self, value: Any, variables: JsonObject) -> Any:
            raise AssertionError("nobody has a template here")

    bare = replace(tools, templates=Untouchable())
    assert isinstance(await planned(bare, {"size": 10}), Done)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sise": 1}, "sise: unknown key; did you mean 'size'?"),
        ({"size": -1}, "size:"),
        ({"delay": "soon"}, "delay:"),
        ({"pendingRounds": 1.5}, "pendingRounds:"),
    ],
)
async def test_a_wrong_key_is_named(
    tools: AgentTools, config: dict[str, Any], message: str
) -> None:
    (found,) = TestRunner(tools).config_complaints(config, partial=False)
    assert f"{found.field}: {found.message}".startswith(message)
    with pytest.raises(AgentRejected, match=message.partition(":")[0]):
        await planned(tools, config)
