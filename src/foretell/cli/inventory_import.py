"""`foretell inventory import`: an inventory from what another system knows already."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.argo_source import CaFileOption, RepoOption, applications_of, argo_server
from foretell.domain.errors import InvalidRequest
from foretell.formats.argo_inventory import inventory
from foretell.formats.yaml import dump

app = typer.Typer(help="Write an inventory from what another system has.", no_args_is_help=True)

STDOUT = "-"


@app.callback()
def _group() -> None:
    """Write an inventory from what another system has."""


@app.command("argo-cd")
def argo_cd(
    server: Annotated[
        str,
        typer.Option("--server", envvar="ARGOCD_SERVER", help="The address of Argo CD."),
    ],
    repo: RepoOption,
    workspace: Annotated[
        str, typer.Option("--workspace", "-w", help="The inventory's workspace.")
    ] = "",
    ca_file: CaFileOption = "",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - shows it.")
    ] = STDOUT,
) -> None:
    """Write an inventory of the Applications that Argo CD deploys from a repository.

    One deployment for each folder of the repository, one target for each Application, also for
    those that an ApplicationSet or an app of apps makes; Argo CD's projects are the environments.
    The token is taken from the environment variable ARGOCD_AUTH_TOKEN.

    Example:  foretell inventory import argo-cd --server argocd.example.com --repo shop/platform
    """
    asked = argo_server(server, ca_file)
    found = asyncio.run(applications_of(asked, repo))
    document = inventory(
        found,
        server=asked.url,
        repository=repo,
        workspace=workspace,
        ca_file=asked.ca_file,
    )
    _write(dump(document), output)
    if output != STDOUT:
        paths = len({one.path for one in found})
        typer.echo(f"{output}: {len(found)} Applications of {paths} folders", err=True)


def _write(text: str, output: str) -> None:
    if output == STDOUT:
        sys.stdout.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{output} can't be written: {error.strerror}") from error
