"""Same inputs once, and what that must not break."""

import asyncio

import pytest

from foretell.kit.renders import SharedRenders


class Making:
    """Counts its calls, and answers when it is let go."""

    def __init__(self, *, fails: bool = False) -> None:
        self.calls = 0
        self.fails = fails
        self.go = asyncio.Event()

    async def __call__(self) -> int:
        self.calls += 1
        await self.go.wait()
        if self.fails:
            raise ValueError("no chart")
        return self.calls


async def test_callers_with_one_key_share_one_call() -> None:
    renders, making = SharedRenders(), Making()
    waiting = [asyncio.create_task(renders.once("k", making)) for _ in range(5)]
    making.go.set()
    assert await asyncio.gather(*waiting) == [1] * 5
    assert await renders.once("k", making) == 1
    assert making.calls == 1


async def test_other_inputs_are_another_call() -> None:
    renders, making = SharedRenders(), Making()
    making.go.set()
    assert [await renders.once(key, making) for key in ("a", "b", "a")] == [1, 2, 1]


async def test_an_error_is_for_those_who_wait_and_then_forgotten() -> None:
    renders, making = SharedRenders(), Making(fails=True)
    making.go.set()
    with pytest.raises(ValueError, match="no chart"):
        await renders.once("k", making)
    making.fails = False
    assert await renders.once("k", making) == 2


async def test_one_caller_that_gives_up_takes_nothing_from_the_others() -> None:
    renders, making = SharedRenders(), Making()
    first = asyncio.create_task(renders.once("k", making))
    second = asyncio.create_task(renders.once("k", making))
    await asyncio.sleep(0)
    first.cancel()
    making.go.set()
    assert await second == 1
    assert making.calls == 1


async def test_the_memory_is_bounded() -> None:
    renders, making = SharedRenders(keep=2), Making()
    making.go.set()
    for key in ("a", "b", "c", "a"):
        await renders.once(key, making)
    assert making.calls == 4
