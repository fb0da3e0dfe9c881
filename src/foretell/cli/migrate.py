"""`foretell migrate`: the database's tables, up to date."""

import typer

from foretell.domain.errors import InvalidRequest
from foretell.settings import read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("migrate")(migrate)


def migrate() -> None:
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
