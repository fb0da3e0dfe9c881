"""`foretell serve`: API, worker and sweeper in one process."""

import asyncio
from typing import Annotated

import typer

from foretell.cli.demo_server import advice, demo_settings, fill
from foretell.cli.log import start_log
from foretell.cli.running import run_service
from foretell.settings import Settings, read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="With the example of `foretell demo` in workspace demo.")
    ] = False,
) -> None:
    """Serve the API and work on plans, in one process.

    Starts an embedded database where FORETELL_DATABASE_URL is not set. The first start
    prints an admin token, once. More workers: `foretell worker` on other machines with
    FORETELL_DATABASE_URL and FORETELL_SECRET_KEY.

    Examples:

      foretell serve --port 8080

      foretell serve --demo
    """
    wanted = {"host": host, "port": port}
    given = {name: value for name, value in wanted.items() if value is not None}
    asyncio.run(_serve(read_settings().model_copy(update=given), demo=demo))


async def _serve(settings: Settings, *, demo: bool) -> None:
    from foretell.auth.tokens import ensure_first_token
    from foretell.wiring import api_server, open_backend

    start_log(settings)
    repository = None
    if demo:
        settings, repository = await demo_settings(settings)
    async with open_backend(settings) as backend:
        token = await ensure_first_token(backend.store, backend.clock, backend.ids)
        if repository is not None:
            await fill(backend, repository)
        if token is not None:
            typer.echo(f"The first admin token, shown this once:\n\n    {token}\n")
        async with api_server(backend) as address:
            typer.echo(f"Foretell listens on {address}")
            if repository is not None:
                typer.echo(advice(address, repository))
            await run_service(backend, sweeps=True)
