"""Bearer tokens: made once, shown once, kept as a digest.

`ft_<id>_<secret>`: the id is the row's, without hyphens, so that a token found somewhere can be
revoked by it; the secret has 256 bits. The whole text is hashed: at rest there is no part of it
that opens anything, and 256 random bits need no slow hash.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from foretell.auth.roles import Caller
from foretell.domain.errors import Conflict
from foretell.domain.plan import WorkspaceId
from foretell.ports import Clock, Ids, Role, Store, Token, TokenTx

PREFIX = "ft_"
_SECRET_BYTES = 32
_LONGEST = 200
_FIRST = str(uuid5(UUID("0c4b3f0e-5a3a-5d0d-8f5c-6a6d0c5b1f0a"), "first"))
"""The first token's id is the same everywhere: of two servers that start at once, one makes it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a new token may do; see `Token` for what None means."""

    name: str
    role: Role
    workspace_id: WorkspaceId | None
    expires_at: datetime | None = None


def digest_of(text: str) -> str:
    """What a token is known by at rest: the SHA-256 of its text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def new_token(grant: Grant, id: str, at: datetime) -> tuple[str, Token]:
    """The text to show once, and the row to keep."""
    text = f"{PREFIX}{UUID(id).hex}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    token = Token(
        id=id,
        name=grant.name,
        role=grant.role,
        digest=digest_of(text),
        workspace_id=grant.workspace_id,
        created_at=at,
        expires_at=grant.expires_at,
    )
    return text, token


async def create_token(store: Store, clock: Clock, ids: Ids, grant: Grant) -> tuple[str, Token]:
    """A new token, stored; its text is nowhere else."""
    text, token = new_token(grant, ids.new(), clock.now())
    async with store.begin() as tx:
        await tx.insert_token(token)
    return text, token


async def ensure_first_token(store: Store, clock: Clock, ids: Ids) -> str | None:
    """The instance's first admin token, or None where there ever was a token."""
    async with store.begin() as tx:
        if await tx.tokens(None):
            return None
    text, token = new_token(Grant("first", Role.ADMIN, None), _FIRST, clock.now())
    try:
        async with store.begin() as tx:
            await tx.insert_token(token)
    except Conflict:
        return None
    return text


async def caller_of(tx: TokenTx, text: str, now: datetime) -> Caller | None:
    """Who shows the token `text`; None when it is unknown, revoked or expired."""
    if not text.startswith(PREFIX) or len(text) > _LONGEST:
        return None
    token = await tx.token(digest_of(text))
    if token is None or token.revoked_at is not None:
        return None
    if token.expires_at is not None and token.expires_at <= now:
        return None
    return Caller(token.id, token.name, token.role, token.workspace_id)
