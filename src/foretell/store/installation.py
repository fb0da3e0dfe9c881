"""What there is one of, within one transaction."""

from foretell.store.session import Session


class Installation(Session):
    """The installation's part of a transaction."""

    __slots__ = ()

    async def installation_key_id(self, key_id: str) -> str:
        return str(await self.value("installation_key_id", {"key_id": key_id}))

    async def replace_installation_key_id(self, key_id: str) -> None:
        await self.send("replace_installation_key_id", {"key_id": key_id})
