"""How many plans run at once."""

import asyncio

from foretell.kit.terraform.room import PLAN_BYTES, Room, memory_available_bytes


class _Plan:
    """One that runs until it is told to end."""

    def __init__(self, room: Room) -> None:
        self.inside, self._end = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run(room))

    async def _run(self, room: Room) -> None:
        async with room.taken():
            self.inside.set()
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        await self._task

    async def cancel(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_more_run_than_there_is_room_for() -> None:
    room = Room(2, lambda: None)
    plans = [_Plan(room) for _ in range(3)]
    await _settle()
    assert [plan.inside.is_set() for plan in plans] == [True, True, False]
    await plans[0].end()
    await plans[2].inside.wait()
    await asyncio.gather(plans[1].end(), plans[2].end())


async def test_little_memory_lets_one_run_at_a_time() -> None:
    room = Room(8, lambda: PLAN_BYTES // 2)
    plans = [_Plan(room) for _ in range(2)]
    await _settle()
    assert [plan.inside.is_set() for plan in plans] == [True, False]
    await plans[0].end()
    await plans[1].inside.wait()
    await plans[1].end()


async def test_those_that_run_may_not_have_taken_their_memory_yet() -> None:
    room = Room(8, lambda: 3 * PLAN_BYTES)
    plans = [_Plan(room) for _ in range(5)]
    await _settle()
    assert sum(plan.inside.is_set() for plan in plans) == 3
    await asyncio.gather(*(plan.end() for plan in plans))


async def test_who_is_cancelled_leaves_its_room() -> None:
    room = Room(1, lambda: None)
    first, waiting, last = (_Plan(room) for _ in range(3))
    await _settle()
    await waiting.cancel()
    await first.cancel()
    await last.inside.wait()
    await last.end()


def test_the_memory_of_this_machine_is_known() -> None:
    available = memory_available_bytes()
    assert available is None or available > 0
