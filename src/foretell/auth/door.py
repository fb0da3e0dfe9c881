"""The question at the door of every route but the health checks: who are you, and may you?

Who shows a token of ours is who it was made for; who shows one of an identity provider that the
settings trust is whom its claims name. A FastAPI dependency for each role. The application's state
holds a `Door`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

import structlog
from fastapi import HTTPException, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from foretell.auth.oidc import Bearer, Oidc, Refused, is_jwt
from foretell.auth.roles import Caller, check_role, check_workspace
from foretell.auth.tokens import caller_of
from foretell.ports import Clock, Role, Store, Tx, Workspace

_bearer = HTTPBearer(
    auto_error=False,
    description="A token of `foretell token create`, or of GitHub Actions where that is set up.",
)

_INVALID = 'Bearer realm="foretell", error="invalid_token"'

Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


@dataclass(frozen=True, slots=True)
class Door:
    """What the question needs, put at `app.state.door`."""

    store: Store
    clock: Clock
    oidc: Oidc | None = None


@dataclass(frozen=True, slots=True)
class Entrance:
    """Who came in, and into which workspace."""

    caller: Caller
    workspace: Workspace


WorkspaceRef = Annotated[str, Path(alias="workspaceId", description="A UUID or a slug.")]


def entrance(role: Role) -> Callable[..., Awaitable[Entrance]]:
    """The dependency of a route in a workspace: 401, then 404, then 403, then in."""

    async def enter(request: Request, workspace: WorkspaceRef, shown: Credentials) -> Entrance:
        door: Door = request.app.state.door
        bearer = await _bearer_of(door, shown)
        async with door.store.begin() as tx:
            own = bearer or await _known(tx, door, shown)
            there = await tx.workspace(workspace)
        caller = own.caller_in(there, workspace) if isinstance(own, Bearer) else own
        found = check_workspace(caller, there, workspace)
        check_role(caller, role)
        structlog.contextvars.bind_contextvars(workspace=found.slug)
        return Entrance(caller, found)

    return enter


def caller_with(role: Role) -> Callable[..., Awaitable[Caller]]:
    """The dependency of a route outside of any workspace."""

    async def enter(request: Request, shown: Credentials) -> Caller:
        door: Door = request.app.state.door
        if bearer := await _bearer_of(door, shown):
            caller = bearer.caller_outside()
        else:
            async with door.store.begin() as tx:
                caller = await _known(tx, door, shown)
        check_role(caller, role)
        return caller

    return enter


async def _bearer_of(door: Door, shown: HTTPAuthorizationCredentials | None) -> Bearer | None:
    """Whom an identity provider vouches for; None where that is nobody's business.

    No connection of the store is held meanwhile: the provider may take its time.
    """
    if door.oidc is None or shown is None or not is_jwt(shown.credentials):
        return None
    try:
        bearer = await door.oidc.bearer(shown.credentials)
    except Refused as error:
        raise _unknown(f"the token is not taken: {error}", _INVALID) from None
    structlog.contextvars.bind_contextvars(token=bearer.id)
    return bearer


async def _known(tx: Tx, door: Door, shown: HTTPAuthorizationCredentials | None) -> Caller:
    if shown is None:
        raise _unknown("show a token: Authorization: Bearer ft_…", 'Bearer realm="foretell"')
    caller = await caller_of(tx, shown.credentials, door.clock.now())
    if caller is None:
        raise _unknown("the token is unknown, revoked or expired", _INVALID)
    structlog.contextvars.bind_contextvars(token=caller.token_id)
    return caller


def _unknown(detail: str, challenge: str) -> HTTPException:
    return HTTPException(401, detail, headers={"WWW-Authenticate": challenge})


Viewer = Annotated[Entrance, Security(entrance(Role.VIEWER))]
Planner = Annotated[Entrance, Security(entrance(Role.PLANNER))]
Admin = Annotated[Entrance, Security(entrance(Role.ADMIN))]
AnyViewer = Annotated[Caller, Security(caller_with(Role.VIEWER))]
AnyAdmin = Annotated[Caller, Security(caller_with(Role.ADMIN))]
