"""`foretell agents`: who can plan here, and what could not be loaded."""

import typer

from foretell.cli.ending import Ending
from foretell.settings import read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("agents")(agents)


def agents() -> None:
    """List the agents that are installed.

    Also says how their programs are kept off the network. Exits 1 when an agent
    could not be loaded; the others work.
    """
    from foretell.kit.process import network_isolation
    from foretell.wiring import installed_agents

    found = installed_agents(read_settings())
    for name in found.types():
        typer.echo(name)
    typer.echo(f"renders without network: {network_isolation()}")
    for point, problem in found.problems().items():
        typer.echo(f"foretell: {point} can't be loaded: {problem}", err=True)
    if found.problems():
        raise Ending(1)
