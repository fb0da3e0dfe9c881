"""`foretell worker`: one more process that works on plans."""

import asyncio

import typer

from foretell.cli.log import start_log
from foretell.cli.running import run_service
from foretell.domain.errors import InvalidRequest
from foretell.settings import Settings, read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("worker")(worker)


def worker() -> None:
    """Work on the plans of a server, from this or another machine.

    Needs FORETELL_DATABASE_URL, and FORETELL_SECRET_KEY as the server has it. Secret references
    are resolved here: what they name has to be here too.

    Example:  FORETELL_DATABASE_URL=postgresql://… foretell worker
    """
    settings = read_settings()
    if settings.database_url is None:
        raise InvalidRequest("set FORETELL_DATABASE_URL to the database that the server uses")
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    from foretell.wiring import open_backend

    start_log(settings)
    async with open_backend(settings) as backend:
        typer.echo("Foretell works on plans; interrupt to stop")
        await run_service(backend, sweeps=True)
