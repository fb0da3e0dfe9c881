"""The installation's key: given or made once, shared by all, never weak, never guessed at."""

import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from foretell.domain.errors import Conflict, InvalidRequest
from foretell.kit.key import FILE_NAME, installation_key, key_name, shared_key
from foretell.settings import Settings
from foretell.store.postgres import open_store

GIVEN = "a key that is given and long enough"


def _settings(folder: Path, given: str | None = None) -> Settings:
    return Settings(data_dir=folder, secret_key=None if given is None else SecretStr(given))


def test_a_given_key_is_taken_and_nothing_is_written(tmp_path: Path) -> None:
    assert installation_key(_settings(tmp_path, GIVEN)) == GIVEN.encode()
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = installation_key(_settings(folder))
    assert installation_key(_settings(folder)) == first
    assert len(first) >= 32
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize("key", ["", "31 bytes are one byte too short"])
def test_a_short_key_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidRequest, match="FORETELL_SECRET_KEY: the key has") as refused:
        installation_key(_settings(tmp_path, key))
    assert not key or key not in str(refused.value)


def test_a_file_that_was_cut_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("half")
    with pytest.raises(InvalidRequest, match=r"secret\.key: the key has 4 bytes"):
        installation_key(_settings(tmp_path))


def test_a_folder_that_cannot_be_made_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidRequest, match="set FORETELL_SECRET_KEY, or FORETELL_DATA_DIR"):
        installation_key(_settings(tmp_path / "file" / "below"))


async def test_a_worker_with_another_key_does_not_start(tmp_path: Path, database: str) -> None:
    store = await open_store(database, size=2)
    try:
        assert await shared_key(_settings(tmp_path, GIVEN), store) == GIVEN.encode()
        assert await shared_key(_settings(tmp_path, GIVEN), store) == GIVEN.encode()
        with pytest.raises(Conflict, match="another key than the installation"):
            await shared_key(_settings(tmp_path, GIVEN + "!"), store)
        async with store.begin() as tx:
            await tx.replace_installation_key_id(key_name(f"{GIVEN}!".encode()))
        assert await shared_key(_settings(tmp_path, GIVEN + "!"), store)
    finally:
        await store.close()
