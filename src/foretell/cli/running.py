"""A service until a signal ends it: running work is finished or handed back, nothing is lost."""

import asyncio
import signal
from typing import TYPE_CHECKING

import structlog

from foretell.domain.errors import ForetellError

if TYPE_CHECKING:
    from foretell.wiring import Backend

_log = structlog.get_logger()


async def run_service(backend: "Backend", *, sweeps: bool) -> None:
    """Work on the queue, and sweep now and then, until SIGTERM or SIGINT."""
    stopping = _stopped_by_signal()
    _report_problems(backend)
    queue = backend.queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(queue.run())
        sweeper = group.create_task(_sweep_until(stopping, backend)) if sweeps else None
        await stopping.wait()
        await queue.stop()
        if sweeper is not None:
            await sweeper


def _stopped_by_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    return stopping


def _report_problems(backend: "Backend") -> None:
    for point, problem in backend.agents.problems().items():
        _log.warning("agent.not_loaded", entry_point=point, problem=problem)


async def _sweep_until(stopping: asyncio.Event, backend: "Backend") -> None:
    """The first round at once: what an earlier process left is picked up at the start."""
    every = backend.settings.sweep_every.total_seconds()
    while not stopping.is_set():
        try:
            await backend.tasks.sweep()
        except ForetellError as error:
            _log.warning("sweep.failed", error=error.message)
        try:
            await asyncio.wait_for(stopping.wait(), every)
        except TimeoutError:
            continue
