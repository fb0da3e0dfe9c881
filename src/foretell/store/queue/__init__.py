"""The one door into the queue: `enqueue`, on the caller's own connection and transaction.

A job that is enqueued here commits or vanishes with the rows that made it necessary. The tables
are those of pgqueuer; the statements on them are ours, and say in their files why.
"""

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg

from foretell.ports import Job

if TYPE_CHECKING:
    from pgqueuer.domain.settings import DBSettings


def statement(name: str) -> bytes:
    """The text of a statement of this folder, by the name of its file."""
    return files(__name__).joinpath(f"{name}.sql").read_bytes()


_ENQUEUE = statement("enqueue")


async def enqueue(connection: psycopg.AsyncConnection[Any], jobs: Sequence[Job]) -> None:
    """Queue `jobs` in the caller's transaction, as one statement however many they are.

    The same (step, id) is queued at most once, one that is running not counted; of two requests
    the earlier time wins. Until the caller commits, no worker starts a job that it asked for, even
    one that was queued before.
    """
    if not jobs:
        return
    wanted = {
        "steps": [str(job.step) for job in jobs],
        "ids": [job.id for job in jobs],
        "afters": [job.after for job in jobs],
    }
    await connection.execute(_ENQUEUE, wanted)


def install_sql() -> str:
    """The tables of the queue and our two rules on them, for a migration: many statements."""
    from pgqueuer.adapters.persistence.schema_ddl import render_install

    tables = render_install(queue_settings(), create_schema=False)
    return f"{tables}\n{statement('install').decode()}"


def queue_settings() -> "DBSettings":
    """pgqueuer's names, each of them given here.

    It reads those that are not given from the environment, from variables as plain as `CHANNEL`
    and `FUNCTION`: a worker with other names would wait at an empty queue.
    """
    # Not at the top: it costs half a second, and who enqueues has no need of it.
    from pgqueuer.domain.settings import DBSettings, Durability
    from pgqueuer.domain.types import Channel

    return DBSettings(
        prefix="",
        db_schema=None,
        channel=Channel("ch_pgqueuer"),
        function="fn_pgqueuer_changed",
        statistics_table="pgqueuer_statistics",
        queue_status_type="pgqueuer_status",
        queue_table="pgqueuer",
        queue_table_log="pgqueuer_log",
        trigger="tg_pgqueuer_changed",
        schedules_table="pgqueuer_schedules",
        durability=Durability.balanced,
        widen_id=True,
    )
