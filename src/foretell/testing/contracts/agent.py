"""What every agent promises (`foretell.ports.Agent`).

class TestMyAgent(AgentContract):
    @pytest.fixture
    async def question(self) -> AsyncIterator[AgentQuestion]:
        async with agent_tools(environ={"TOKEN": "canary"}) as tools:
            yield AgentQuestion(MyAgent(tools), answered, refused, ("canary",))
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from foretell.domain.context import DispatchContext
from foretell.domain.errors import AgentError
from foretell.domain.result import Done, Pending, Unsupported, kinds_problem
from foretell.domain.verdict import RESERVED
from foretell.ports import Agent

MOST_CALLS = 100
"""How often an agent may be asked before a test gives up on it."""


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """An agent, a question it answers with Done, and one whose config it refuses.

    `secrets` are texts that the answered question's references resolve to.
    """

    agent: Agent
    answered: DispatchContext
    refused: DispatchContext
    secrets: tuple[str, ...] = ()


async def ask(agent: Agent, context: DispatchContext) -> tuple[Done, list[Pending]]:
    """The answer, and every Pending on the way to it; what it asks to wait for is not waited."""
    state: Any = None
    rounds: list[Pending] = []
    for _ in range(MOST_CALLS):
        match await agent.plan(context, state):
            case Done() as done:
                return done, rounds
            case Pending() as pending:
                rounds.append(pending)
                state = pending.state
            case Unsupported(message=message):
                raise AssertionError(f"the agent cannot answer the question: {message}")
    raise AssertionError(f"no answer after {MOST_CALLS} calls")


def _lasting(done: Done) -> tuple[Any, ...]:
    """Everything but how long it took."""
    return done.results, done.message


class AgentContract:
    """Subclass it, give the fixture `question`, and let pytest collect the subclass."""

    @pytest.fixture
    def question(self) -> AgentQuestion:
        """The agent under test, and what it is asked."""
        raise NotImplementedError("give the fixture `question`")

    async def test_it_ends_in_bounded_calls(self, question: AgentQuestion) -> None:
        done, _ = await ask(question.agent, question.answered)
        assert done.results

    async def test_its_kinds_are_unique_and_none_is_empty_or_reserved(
        self, question: AgentQuestion
    ) -> None:
        done, _ = await ask(question.agent, question.answered)
        assert kinds_problem(done.results, RESERVED) is None

    async def test_the_same_context_has_the_same_answer(self, question: AgentQuestion) -> None:
        first, _ = await ask(question.agent, question.answered)
        second, _ = await ask(question.agent, question.answered)
        assert _lasting(first) == _lasting(second)

    async def test_any_earlier_state_may_be_replayed(self, question: AgentQuestion) -> None:
        done, rounds = await ask(question.agent, question.answered)
        for earlier in rounds:
            state: Any = earlier.state
            for _ in range(MOST_CALLS):
                outcome = await question.agent.plan(question.answered, state)
                if not isinstance(outcome, Pending):
                    break
                state = outcome.state
            assert isinstance(outcome, Done)
            assert _lasting(outcome) == _lasting(done)

    async def test_its_state_is_json_and_its_pauses_are_not_negative(
        self, question: AgentQuestion
    ) -> None:
        _, rounds = await ask(question.agent, question.answered)
        for pending in rounds:
            assert json.loads(json.dumps(dict(pending.state))) == dict(pending.state)
            assert pending.after >= timedelta(0)

    async def test_abandoning_twice_is_once(self, question: AgentQuestion) -> None:
        outcome = await question.agent.plan(question.answered, None)
        state = outcome.state if isinstance(outcome, Pending) else None
        await question.agent.abandon(question.answered, state)
        await question.agent.abandon(question.answered, state)

    async def test_abandoning_what_never_began_is_nothing(self, question: AgentQuestion) -> None:
        await question.agent.abandon(question.answered, None)

    async def test_a_sweep_leaves_the_living_alone(self, question: AgentQuestion) -> None:
        context = question.answered
        await question.agent.plan(context, None)
        left = await question.agent.sweep(
            context.side.agent_config, timedelta(0), frozenset({context.invocation_id})
        )
        assert left.removed == 0
        await ask(question.agent, context)

    async def test_only_agent_errors_escape(self, question: AgentQuestion) -> None:
        with pytest.raises(AgentError) as caught:
            await ask(question.agent, question.refused)
        assert caught.value.message.strip()
        assert caught.value.reason

    async def test_no_secret_leaves_it(self, question: AgentQuestion) -> None:
        done, rounds = await ask(question.agent, question.answered)
        told = f"{done!r}{rounds!r}{[dict(each.state) for each in rounds]!r}"
        with pytest.raises(AgentError) as caught:
            await ask(question.agent, question.refused)
        told += f"{caught.value.message}{caught.value!r}"
        for secret in question.secrets:
            assert secret not in told
