"""Workers that kill themselves: each line of stdin is after how many moments the next one dies.

Each is a child of its own, forked before anything is open, and dies by SIGKILL. Its number as a
signal (negative), or its exit code, is printed: 0 when the plan was reported before.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta

from engine_world import World, open_world
from faulty_store import FaultyStore

from foretell.domain.plan import Plan
from foretell.domain.result import Pending
from foretell.domain.summary import PlanReport
from foretell.store.queue.link import QueueDatabase
from foretell.testing.scripted import CHANGED, FakeAgents, ScriptedAgent
from foretell.worker.queue import Pace, Queue

PACE = Pace(stale_after=timedelta(milliseconds=300), retry_after=timedelta(milliseconds=10))


class Signalling:
    """A reporter that says when the plans were reported."""

    def __init__(self, count: int = 1) -> None:
        self._missing = count
        self._told: set[str] = set()
        self.all_told = asyncio.Event()

    async def report(self, plan: Plan, report: PlanReport) -> None:
        self._told.add(plan.id)
        if len(self._told) >= self._missing:
            self.all_told.set()


def scripted_agents() -> FakeAgents:
    return FakeAgents(ScriptedAgent(Pending({"run": 1}, timedelta(0)), CHANGED))


async def work(world: World, reporter: Signalling, hook: Callable[[], None]) -> None:
    """One worker until everything is reported."""
    world.agents = scripted_agents()
    world.reporters = [reporter]
    store = FaultyStore(world.store, hook)
    world.store = store
    queue = Queue(QueueDatabase(world.dsn), world.tasks.by_step(), PACE)
    running = asyncio.create_task(queue.run())
    await reporter.all_told.wait()
    await queue.stop()
    await running


async def _until_death(dsn: str, after: int) -> None:
    left = after

    def die_in_time() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_world(dsn) as world:
        await work(world, Signalling(), die_in_time)


def main(dsn: str) -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(_until_death(dsn, int(line)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
