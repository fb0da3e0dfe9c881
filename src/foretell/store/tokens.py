"""Tokens within one transaction."""

from collections.abc import Sequence
from datetime import datetime

from foretell.domain.plan import WorkspaceId
from foretell.ports import Token
from foretell.store.rows import token_of
from foretell.store.session import Session


class Tokens(Session):
    """The tokens' part of a transaction."""

    __slots__ = ()

    async def insert_token(self, token: Token) -> None:
        """Raises Conflict for a digest that is there."""
        await self.send(
            "insert_token",
            {
                "id": token.id,
                "name": token.name,
                "role": token.role,
                "digest": token.digest,
                "workspace_id": token.workspace_id,
                "created_at": token.created_at,
                "expires_at": token.expires_at,
                "revoked_at": token.revoked_at,
            },
        )

    async def token(self, digest: str) -> Token | None:
        row = await self.first("token", {"digest": digest})
        return token_of(row) if row else None

    async def tokens(self, workspace_id: WorkspaceId | None) -> Sequence[Token]:
        rows = await self.rows("tokens", {"workspace_id": workspace_id})
        return [token_of(row) for row in rows]

    async def revoke_token(self, token_id: str, at: datetime) -> bool:
        return await self.hit("revoke_token", {"token_id": token_id, "at": at})
