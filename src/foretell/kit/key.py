"""The installation's own key: given, or made once and kept beside the data."""

import os
import secrets
from pathlib import Path

from foretell.domain.digest import MIN_KEY_BYTES, keyed_digest
from foretell.domain.errors import Conflict, InvalidRequest
from foretell.ports import Store
from foretell.settings import Settings

FILE_NAME = "secret.key"


def installation_key(settings: Settings) -> bytes:
    """The key of the settings, else the one in the data folder, made where there is none.

    Raises InvalidRequest for a key of less than 32 bytes, and for a file that can't be used.
    """
    if settings.secret_key is not None:
        return _long_enough(settings.secret_key.get_secret_value().encode(), "FORETELL_SECRET_KEY")
    path = settings.data_dir / FILE_NAME
    try:
        return _long_enough(_kept(path), str(path))
    except OSError as error:
        raise InvalidRequest(
            f"the installation's key {path} can't be used: {error.strerror}; set"
            " FORETELL_SECRET_KEY, or FORETELL_DATA_DIR to a folder that can be written"
        ) from error


def _kept(path: Path) -> bytes:
    """Of two processes that make it at once, both use the one that was first."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(MIN_KEY_BYTES).encode() + b"\n")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes().strip()


def _long_enough(key: bytes, source: str) -> bytes:
    if len(key) < MIN_KEY_BYTES:
        raise InvalidRequest(
            f"{source}: the key has {len(key)} bytes, at least {MIN_KEY_BYTES} are needed"
            " (make one: python3 -c 'import secrets; print(secrets.token_hex(32))')"
        )
    return key


async def shared_key(settings: Settings, store: Store) -> bytes:
    """`installation_key`, once it is known to be the one of every other worker on this database.

    What one worker derives from it another must be able to compare. Raises Conflict otherwise.
    """
    key = installation_key(settings)
    key_id = key_name(key)
    async with store.begin() as tx:
        known = await tx.installation_key_id(key_id)
    if known != key_id:
        raise Conflict(
            "this process has another key than the installation: set FORETELL_SECRET_KEY to the"
            f" one of the other workers, or copy their {FILE_NAME}; where that one is lost,"
            " `foretell migrate --new-secret-key` makes the key of this machine the new one"
        )
    return key


def key_name(key: bytes) -> str:
    """By which the key is known in the database; it tells nothing of the key."""
    return keyed_digest("key-id", key)
