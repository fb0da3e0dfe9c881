"""A secret that an agent was given is in no row, document, comment or log of the plan."""

import asyncio

import pytest
from engine_world import MINUTE, World, a_policy

from foretell.domain.context import DispatchContext
from foretell.domain.plan import JsonObject
from foretell.domain.result import Outcome, Pending, Status
from foretell.formats.document import encode_report
from foretell.formats.html import page
from foretell.formats.markdown import comment
from foretell.inventory.secrets import References
from foretell.store.queue.link import QueueDatabase
from foretell.testing.scripted import FakeAgents, ScriptedAgent
from foretell.worker.queue import Queue

CANARY = "canary-5f0c9d"
SECRETS = References({"TOKEN": CANARY}, None)


class Leaking(ScriptedAgent):
    """Resolves its config as agents do, and then has a bug wherever one can be."""

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        config = SECRETS.reveal(context.side.agent_config).value
        assert config["token"] == CANARY
        self.on_abandon = ValueError(config)
        self.on_sweep = ValueError(config)
        outcome = await super().plan(context, state)
        if isinstance(outcome, Pending) and state is None:
            return outcome
        try:
            raise KeyError(config["token"])
        except KeyError as error:
            raise RuntimeError(f"cannot log in with {config}") from error


async def everything_stored(world: World) -> str:
    names = await world.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    rows = [
        await world.rows(f"SELECT row_to_json(part)::text FROM {name} AS part") for (name,) in names
    ]
    assert len(rows) > 10
    return repr(rows)


def leaking_world(world: World) -> World:
    world.agents = FakeAgents(Leaking(Pending({"run": 1}, MINUTE)))
    world.specs = [
        type(world.specs[0])(
            world.specs[0].id, "agent", "scripted", {"token": {"env": "TOKEN"}, "url": "u"}
        )
    ]
    world.policies = [a_policy("rule")]
    return world


async def test_a_bug_that_tells_a_secret_tells_it_to_nobody(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    await leaking_world(world).write()
    plan, report = await world.completed()
    await world.tasks.sweep()
    state = await world.the_invocation(plan)
    assert (state.status, state.reason) == (Status.ERRORED, "internal")
    stored = await everything_stored(world)
    assert '"env": "TOKEN"' in stored or '"env":"TOKEN"' in stored.replace("\\", "")
    shown = [stored, encode_report(report).decode(), comment(report), page([report])]
    assert CANARY not in "".join([*shown, *capfd.readouterr()])


async def test_the_worker_logs_no_secret_either(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    await leaking_world(world).write()
    agent = world.agents.find("scripted")
    assert isinstance(agent, Leaking)
    agent.script[:] = [Pending({"run": 1}, 0 * MINUTE)]
    plan = await world.submit()
    told = asyncio.Event()

    class Telling:
        async def report(self, *_: object) -> None:
            told.set()

    world.reporters = [Telling()]
    queue = Queue(QueueDatabase(world.dsn), world.tasks.by_step())
    running = asyncio.create_task(queue.run())
    async with asyncio.timeout(20):
        await told.wait()
        await queue.stop()
        await running
    assert (await world.the_invocation(plan)).reason == "internal"
    assert CANARY not in "".join([await everything_stored(world), *capfd.readouterr()])
