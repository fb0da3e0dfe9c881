"""`foretell show PLAN_ID`: a plan of a server, once more."""

import asyncio
from typing import Annotated

import typer

from foretell.cli.client import Deployed
from foretell.cli.ending import Ending
from foretell.cli.output import Output, write_reports
from foretell.cli.plan import worst_code
from foretell.cli.remote import (
    DEFAULT_SERVER,
    ContextOption,
    Server,
    ServerOption,
    TokenOption,
    WorkspaceOption,
    needed,
    show_remotely,
)
from foretell.formats.recontext import CONTEXT


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("show")(show)


def show(  # noqa: PLR0913 - a command's options are its parameters
    plan_id: Annotated[str, typer.Argument(help="The plan's id.")],
    workspace: WorkspaceOption = "",
    deployment: Annotated[
        str, typer.Option("--deployment", "-d", envvar="FORETELL_DEPLOYMENT", help="Slug or id.")
    ] = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
    output: Annotated[Output, typer.Option("--output", "-o")] = Output.TABLE,
    context: ContextOption = CONTEXT,
) -> None:
    """Show a plan of a server, as far as it has come.

    Markdown is the text of the comment on a pull request.
    Exits as `foretell plan` does for a finished plan, 0 while it computes.

    Example:  foretell show 3b1f… --workspace acme --deployment api --output markdown
    """
    needed(workspace=workspace, deployment=deployment)
    where = Deployed(workspace, deployment)
    report = asyncio.run(show_remotely(Server(server, token), where, plan_id, context))
    write_reports([report], output)
    raise Ending(worst_code([report], detailed=False, allow_empty=True, wait=False))
