"""`foretell inventory`: what may be planned, as files under version control."""

import asyncio
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Annotated, Any

import typer

from foretell.cli import inventory_import
from foretell.cli.client import open_client
from foretell.cli.inventory_bundle import bundle
from foretell.cli.remote import DEFAULT_SERVER, Server, ServerOption, TokenOption
from foretell.domain.errors import NotFound
from foretell.inventory.load import LoadedInventory, load
from foretell.settings import read_settings

app = typer.Typer(help="Check inventory files, and send them to a server.", no_args_is_help=True)
app.add_typer(inventory_import.app, name="import")

Files = Annotated[list[Path], typer.Argument(help="YAML files, or folders of them.")]


@app.command("validate")
def validate(files: Files) -> None:
    """Check files; needs no server.

    Names problems with file, line and field. Selectors are compiled and templates read once the
    fields are right; rules are compiled by `foretell policy check`.

    Example:  foretell inventory validate inventory.yaml
    """
    loaded = _load(files)
    found = loaded.inventory
    typer.echo(
        f"workspace {loaded.workspace}: {_counted(found.deployments, 'deployment')}, "
        f"{_counted(found.environments, 'environment')}, {_counted(found.resources, 'resource')}, "
        f"{_counted(found.agents, 'job agent')}, {_counted(found.policies, 'policy', 'policies')}"
    )


def _counted(items: Sized, one: str, many: str = "") -> str:
    return f"{len(items)} {one if len(items) == 1 else many or f'{one}s'}"


@app.command("diff")
def diff(
    files: Files,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
) -> None:
    """Say what applying the files would change.

    Nothing is changed on the server.

    Example:  foretell inventory diff inventory.yaml --server https://foretell.example.com
    """
    _send(files, Server(server, token), dry_run=True)


@app.command("apply")
def apply(
    files: Files,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
) -> None:
    """Make a server's inventory that of the files.

    What the files do not have is deleted there. The workspace has to exist.

    Example:  foretell inventory apply inventory.yaml
    """
    _send(files, Server(server, token), dry_run=False)


def _send(files: list[Path], server: Server, *, dry_run: bool) -> None:
    loaded = _load(files)
    text = bundle(files, loaded.inventory)
    answer = asyncio.run(_put(server, loaded.workspace, text, dry_run=dry_run))
    for change in answer["changes"]:
        fields = f" ({', '.join(change['fields'])})" if change["fields"] else ""
        typer.echo(f"{change['action']} {change['kind']}/{change['ref']}{fields}")
    if not answer["changes"]:
        typer.echo("no changes")


async def _put(server: Server, workspace: str, text: str, *, dry_run: bool) -> Mapping[str, Any]:
    async with open_client(server.url, server.token) as client:
        try:
            return await client.put_inventory(workspace, text, dry_run=dry_run)
        except NotFound as error:
            raise NotFound(f"{error}\n{_how_to_make(workspace, server.url)}") from None


def _how_to_make(workspace: str, url: str) -> str:
    return (
        "  With the token of the instance's admin it is made so:\n"
        f"  curl -X PUT {url.rstrip('/')}/v1/workspaces/{workspace} "
        f"""-H "Authorization: Bearer $FORETELL_TOKEN" -d '{{"name": "{workspace}"}}'"""
    )


def _load(files: list[Path]) -> LoadedInventory:
    from foretell.wiring import installed_agents

    loaded = load(files, agents=installed_agents(read_settings()))
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    return loaded
