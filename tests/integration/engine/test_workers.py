"""The engine behind its queue: whatever fails and whoever dies, a plan comes to its end."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import structlog
from engine_world import World, a_policy, some_resources
from faulty_store import FaultyStore
from mortal_worker import Signalling, work

from foretell.domain.context import DispatchContext
from foretell.domain.errors import AgentUnavailable, Unavailable
from foretell.domain.plan import JsonObject, Plan, PlanStatus
from foretell.domain.result import Done, Outcome, Pending, Status
from foretell.domain.verdict import VerdictStatus
from foretell.kit.clock import SystemClock
from foretell.ports import PlanLimits, Step
from foretell.store.queue.link import QueueDatabase
from foretell.testing.scripted import FakeAgents, ScriptedAgent, a_result
from foretell.worker.queue import Pace, Queue

PATIENCE = 60


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Hundreds of failures are meant; to render each traceback takes longer than the work."""
    with structlog.testing.capture_logs():
        yield


BRISK = Pace(
    stale_after=timedelta(seconds=1),
    retry_after=timedelta(milliseconds=5),
    retry_at_most=timedelta(milliseconds=40),
    grace=timedelta(0),
)
SOON = timedelta(milliseconds=1)


async def whole(world: World, plan: Plan, targets: int) -> None:
    """The plan is complete, every target has its whole answer, and each rule spoke once."""
    there = await world.plan(plan.id)
    assert there.status is PlanStatus.COMPLETED
    states = await world.invocations(plan)
    assert len(states) == targets
    for state in states:
        assert state.status is Status.COMPLETED, state
        assert [one.kind for one in state.results] == ["plan", "other"]
        assert [one.status for one in state.verdicts] == [VerdictStatus.PASSED]


class Trouble:
    """Seeded bad luck: the store goes away, agents do, workers are interrupted."""

    def __init__(self, seed: int, often: float) -> None:
        self._random = Random(seed)
        self._often = often
        self.count = 0

    def strikes(self) -> bool:
        struck = self._random.random() < self._often
        self.count += struck
        return struck

    def store(self) -> None:
        if self.strikes():
            raise Unavailable("the database went away")

    async def agent(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        if self.strikes():
            raise AgentUnavailable("locked", retry_after=SOON)
        if state is None and self._random.random() < 0.3:
            return Pending({"run": context.invocation_id}, SOON)
        return Done((a_result("plan"), a_result("other", has_changes=False)))


@asynccontextmanager
async def two_workers(world: World, trouble: Trouble) -> AsyncIterator[None]:
    """Two workers, one of which is interrupted and replaced again and again."""

    def queue() -> Queue:
        return Queue(QueueDatabase(world.dsn), world.tasks.by_step(), BRISK)

    async def one_after_the_other() -> None:
        while True:
            running = asyncio.create_task(queue().run())
            await asyncio.wait({running}, timeout=0.2)
            running.cancel()
            await asyncio.wait({running})
            trouble.count += 1

    tasks = {asyncio.create_task(queue().run()), asyncio.create_task(one_after_the_other())}
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def run_plans(world: World, *, seed: int, plans: int, targets: int, often: float) -> None:
    trouble = Trouble(seed, often)
    reporter = Signalling(plans)
    world = replace(
        world,
        clock=SystemClock(),  # type: ignore[arg-type]
        agents=FakeAgents(ScriptedAgent(trouble.agent)),
        reporters=[reporter],
        resources=some_resources(targets),
        policies=[a_policy("rule")],
        limits=PlanLimits(plans, plans, plans, plans),
    )
    await world.write()
    made = [await world.submit() for _ in range(plans)]
    faulty = replace(world, store=FaultyStore(world.store, trouble.store))
    async with asyncio.timeout(PATIENCE), two_workers(faulty, trouble):
        await reporter.all_told.wait()
    assert trouble.count > plans
    for plan in made:
        await whole(world, plan, targets)


@pytest.mark.parametrize("seed", range(10))
async def test_a_plan_always_settles_whatever_fails(world: World, seed: int) -> None:
    """Ten plans at once of twelve targets each: a hundred rounds over all seeds."""
    await run_plans(world, seed=seed, plans=10, targets=12, often=0.05)


async def test_a_larger_plan_settles_through_more_trouble(world: World) -> None:
    await run_plans(world, seed=60, plans=1, targets=60, often=0.15)


async def test_a_worker_killed_at_every_point_between_two_commits_loses_nothing(
    world: World,
) -> None:
    world.policies = [a_policy("rule")]
    await world.write()
    mortal = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("mortal_worker.py")), world.dsn),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert mortal.stdin is not None
    assert mortal.stdout is not None
    deaths = 0
    async with asyncio.timeout(PATIENCE):
        while True:
            plan = await world.submit()
            mortal.stdin.write(f"{deaths + 1}\n".encode())
            ended = int(await mortal.stdout.readline())
            if ended == 0:
                break
            assert ended == -9
            deaths += 1
            await finish(world)
            await settled_in_full(world, plan)
        await settled_in_full(world, plan)
        mortal.stdin.close()
        assert await mortal.wait() == 0
    # fan-out, twice asking and saving, judging, settling, reporting: each before and after.
    assert deaths >= 14


async def finish(world: World) -> None:
    """A healthy worker takes over what is left, if anything is."""
    if await world.rows("SELECT 1 FROM pgqueuer LIMIT 1"):
        await work(replace(world), Signalling(), lambda: None)


async def settled_in_full(world: World, plan: Plan) -> None:
    there = await world.plan(plan.id)
    assert there.status is PlanStatus.COMPLETED
    state = await world.the_invocation(plan)
    assert state.status is Status.COMPLETED
    assert [one.kind for one in state.results] == ["plan"]
    assert len(state.verdicts) == 1
    assert Step.INVOKE not in await world.steps()
