"""`foretell token`: who may come in. Works on the database itself, so it needs no token."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, TypeVar
from uuid import UUID

import typer
from rich.table import Table
from rich.text import Text

from foretell.cli.output import terminal, visible
from foretell.domain.errors import InvalidRequest, NotFound
from foretell.kit.clock import RandomIds, SystemClock
from foretell.ports import Role, Store, Token, Tx, Workspace
from foretell.settings import read_settings

T = TypeVar("T")

app = typer.Typer(
    help="Make, list and revoke the tokens that the API asks for.", no_args_is_help=True
)

WorkspaceOption = Annotated[
    str, typer.Option("--workspace", "-w", help="Slug or id; without it, the whole instance.")
]


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Who it is for, as lists and logs show it.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.PLANNER,
    workspace: WorkspaceOption = "",
    expires_in_days: Annotated[
        int | None, typer.Option(min=1, max=3660, help="Days; without it, until revoked.")
    ] = None,
) -> None:
    """Make a token and print it, this once. Only admins may have the whole instance.

    Example:  foretell token create ci --workspace acme --role planner
    """
    lifetime = None if expires_in_days is None else timedelta(days=expires_in_days)
    typer.echo(_on_store(lambda store: _create(store, name, role, workspace, lifetime)))


@app.command("list")
def list_tokens(workspace: WorkspaceOption = "") -> None:
    """List tokens, newest first; never their text.

    Example:  foretell token list --workspace acme
    """
    _print(*_on_store(lambda store: _list(store, workspace)))


@app.command("revoke")
def revoke(
    token_id: Annotated[str, typer.Argument(help="The id that `foretell token list` shows.")],
) -> None:
    """Make a token worthless, at once.

    Example:  foretell token revoke 3f0c5f1e-5f0e-4c57-9d0e-0f6f5d1c2b3a
    """
    _on_store(lambda store: _revoke(store, token_id))
    typer.echo(f"revoked {token_id}")


def _on_store(work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        from foretell.wiring import open_database

        async with open_database(read_settings()) as (_, store):
            return await work(store)

    return asyncio.run(run())


async def _create(
    store: Store, name: str, role: Role, workspace: str, lifetime: timedelta | None
) -> str:
    from foretell.auth.tokens import Grant, create_token

    if not workspace and role is not Role.ADMIN:
        raise InvalidRequest("name a --workspace: only an admin may have the whole instance")
    async with store.begin() as tx:
        found = await _workspace(tx, workspace)
    expires_at = None if lifetime is None else SystemClock().now() + lifetime
    grant = Grant(name, role, found.id if found else None, expires_at)
    text, _ = await create_token(store, SystemClock(), RandomIds(), grant)
    return text


async def _workspace(tx: Tx, ref: str) -> Workspace | None:
    if not ref:
        return None
    found = await tx.workspace(ref)
    if found is None:
        known = ", ".join(one.slug for one in await tx.workspaces()) or "none"
        raise NotFound(f"there is no workspace {ref!r} (there is: {known})")
    return found


async def _list(store: Store, workspace: str) -> tuple[list[Token], dict[str, str]]:
    async with store.begin() as tx:
        found = await _workspace(tx, workspace)
        slugs = {str(one.id): one.slug for one in await tx.workspaces()}
        return list(await tx.tokens(found.id if found else None)), slugs


def _print(tokens: list[Token], slugs: dict[str, str]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Id", "Name", "Role", "Workspace", "Created", "Until"):
        table.add_column(title, overflow="fold")
    for token in tokens:
        where = slugs.get(str(token.workspace_id), "") if token.workspace_id else "(all)"
        cells = (token.id, token.name, token.role, where, f"{token.created_at:%Y-%m-%d}")
        table.add_row(*(Text(visible(cell)) for cell in (*cells, _until(token))))
    terminal().print(table)


def _until(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return f"{token.expires_at:%Y-%m-%d %H:%M}" if token.expires_at else "revoked by hand"


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def _revoke(store: Store, token_id: str) -> None:
    if not _is_id(token_id):
        raise InvalidRequest(
            f"expected the id of a token, found {token_id!r}; see: foretell token list"
        )
    async with store.begin() as tx:
        if not await tx.revoke_token(token_id, SystemClock().now()):
            raise NotFound(f"there is no token {token_id!r} in force; see: foretell token list")
