"""A broken plug-in is reported, and stops nobody else."""

from collections.abc import AsyncIterator
from importlib.metadata import EntryPoint

import pytest

from foretell.agents.registry import GROUP, Registry
from foretell.domain.context import DispatchContext
from foretell.domain.plan import JsonObject
from foretell.domain.result import Outcome, Unsupported
from foretell.ports import Agent, AgentTools
from foretell.testing.agents import agent_tools


class Good(Agent):
    type = "good"

    def __init__(self, tools: AgentTools) -> None:
        self.tools = tools

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        return Unsupported("never")


class Explodes(Good):
    def __init__(self, tools: AgentTools) -> None:
        raise RuntimeError("token=https://u:hunter2@example.test/ is gone")


class NoAgent:
    def __init__(self, tools: AgentTools) -> None:
        self.tools = tools


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", GROUP)


@pytest.fixture
async def tools() -> AsyncIterator[AgentTools]:
    async with agent_tools() as made:
        yield made


def registry(tools: AgentTools, *points: EntryPoint) -> Registry:
    return Registry(lambda type: tools, points)


async def test_a_plug_in_is_found_by_its_type(tools: AgentTools) -> None:
    found = registry(tools, point("good", "Good"))
    assert isinstance(found.find("good"), Good)
    assert found.types() == ["good"]
    assert found.find("other") is None
    assert found.problems() == {}


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (EntryPoint("bad", "no.such.module:Agent", GROUP), "ModuleNotFoundError"),
        (point("bad", "Missing"), "AttributeError"),
        (point("bad", "Explodes"), "RuntimeError: token=https://***@example.test/ is gone"),
        (point("bad", "NoAgent"), "is no foretell.ports.Agent"),
        (point("bad", "Good"), "its type is 'good', its entry point 'bad'"),
    ],
)
async def test_a_broken_plug_in_is_named_and_stops_nobody(
    tools: AgentTools, broken: EntryPoint, reason: str
) -> None:
    found = registry(tools, broken, point("good", "Good"))
    assert found.types() == ["good"]
    (problem,) = found.problems().values()
    assert reason in problem
    assert "hunter2" not in problem


async def test_of_two_with_one_type_the_second_is_a_problem(tools: AgentTools) -> None:
    found = registry(tools, point("good", "Good"), EntryPoint("good", "zzz:Other", GROUP))
    assert found.types() == ["good"]
    assert list(found.problems()) == ["good = zzz:Other"]


async def test_our_own_agents_are_installed(tools: AgentTools) -> None:
    found = Registry(lambda type: tools)
    assert {"helm", "test-runner"} <= set(found.types())
    assert found.problems() == {}


class Holds(Good):
    type = "holds"
    closed = False

    async def close(self) -> None:
        self.closed = True


class CannotLetGo(Good):
    type = "cannot-let-go"

    async def close(self) -> None:
        raise RuntimeError("no")


async def test_every_agent_is_closed_whatever_another_does(tools: AgentTools) -> None:
    points = (point("cannot-let-go", "CannotLetGo"), point("holds", "Holds"))
    async with registry(tools, *points) as found:
        agent = found.find("holds")
        assert isinstance(agent, Holds)
        assert not agent.closed
    assert agent.closed
