"""Promises about tokens."""

from dataclasses import replace

import pytest

from foretell.domain.errors import Conflict
from foretell.ports import Role, Token
from foretell.testing.contracts.store.world import MINUTE, NOW, ODD, Promises, World, new_id


class TokenPromises(Promises):
    async def test_a_token_is_found_by_its_digest_and_listed_newest_first(
        self, world: World
    ) -> None:
        own = Token(new_id(), ODD, Role.PLANNER, "d1", world.workspace.id, NOW, NOW + MINUTE)
        newer = replace(own, id=new_id(), digest="d2", created_at=NOW + MINUTE, expires_at=None)
        admin = Token(new_id(), "admin", Role.ADMIN, "d3", None, NOW - MINUTE)
        async with world.store.begin() as tx:
            for token in (own, newer, admin):
                await tx.insert_token(token)
        async with world.store.begin() as tx:
            assert await tx.token("d1") == own
            assert await tx.token("D1") is None
            assert list(await tx.tokens(world.workspace.id)) == [newer, own]
            assert list(await tx.tokens(None)) == [newer, own, admin]

    async def test_a_token_is_revoked_once_and_says_when(self, world: World) -> None:
        token = Token(new_id(), "ci", Role.VIEWER, "d1", world.workspace.id, NOW)
        async with world.store.begin() as tx:
            await tx.insert_token(token)
            assert await tx.revoke_token(token.id, NOW)
            assert not await tx.revoke_token(token.id, NOW + MINUTE)
            assert not await tx.revoke_token(new_id(), NOW)
            assert await tx.token("d1") == replace(token, revoked_at=NOW)

    async def test_a_digest_is_there_once(self, world: World) -> None:
        token = Token(new_id(), "ci", Role.VIEWER, "d1", world.workspace.id, NOW)
        async with world.store.begin() as tx:
            await tx.insert_token(token)
        with pytest.raises(Conflict):
            async with world.store.begin() as tx:
                await tx.insert_token(replace(token, id=new_id()))
