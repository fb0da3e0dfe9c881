"""`foretell migrate`: the database's tables, up to date."""

import asyncio
from typing import Annotated

import typer

from foretell.domain.errors import InvalidRequest
from foretell.settings import Settings, read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate(
    new_secret_key: Annotated[
        bool,
        typer.Option(
            "--new-secret-key",
            help="Take this machine's secret key for the installation's, where the old is lost.",
        ),
    ] = False,
) -> None:
    """Bring the tables of the database up to date.

    It is the one of FORETELL_DATABASE_URL. `serve` and `worker` do it too when they start.

    Example:  FORETELL_DATABASE_URL=postgresql://… foretell migrate
    """
    from foretell.store.migrate import migrate as bring_up_to_date

    settings = read_settings()
    if settings.database_url is None:
        raise InvalidRequest(
            "set FORETELL_DATABASE_URL: the embedded database is migrated when it is started"
        )
    bring_up_to_date(settings.database_url.get_secret_value())
    typer.echo("the database is up to date")
    if new_secret_key:
        asyncio.run(_replace_key(settings))
        typer.echo("the installation has a new secret key: give it to every worker")


async def _replace_key(settings: Settings) -> None:
    from foretell.kit.key import installation_key, key_name
    from foretell.wiring import open_database

    key = installation_key(settings)
    async with open_database(settings) as (_, store), store.begin() as tx:
        await tx.replace_installation_key_id(key_name(key))
