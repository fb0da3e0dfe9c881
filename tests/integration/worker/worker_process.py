"""A worker that a test may kill: one step that reports its start and then never ends."""

import asyncio
import sys
from datetime import timedelta

from foretell.ports import Step
from foretell.store.queue.link import QueueDatabase
from foretell.worker.queue import Pace, Queue


async def never_ends(id_: str) -> None:
    print(id_, flush=True)
    await asyncio.Event().wait()


async def main() -> None:
    pace = Pace(stale_after=timedelta(seconds=1))
    await Queue(QueueDatabase(sys.argv[1]), {Step.INVOKE: never_ends}, pace).run()


asyncio.run(main())
