"""The example is the same everywhere, and is what its description says."""

from pathlib import Path

import pytest

from foretell.cli.demo_repository import make_repository
from foretell.domain.errors import InvalidRequest
from foretell.inventory.load import load
from foretell.kit.git import Checkouts


async def test_two_machines_make_the_same_commits(tmp_path: Path) -> None:
    first = await make_repository(tmp_path / "one")
    second = await make_repository(tmp_path / "two")
    assert (first.base, first.head) == (second.base, second.head)
    assert first.base != first.head


async def test_its_inventory_has_three_environments_and_nine_places(tmp_path: Path) -> None:
    made = await make_repository(tmp_path / "shop")
    checkouts = Checkouts(tmp_path / "cache")
    for revision, tag in ((made.base, "1.8.2"), (made.head, "1.9.0")):
        folder = await checkouts.checkout(str(made.path), revision)
        inventory = load([folder / "inventory.yaml"]).inventory
        assert len(inventory.environments) == 3
        assert len(inventory.resources) == 9
        assert inventory.deployments[0].variables[0].default == tag


async def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(InvalidRequest, match="is not empty"):
        await make_repository(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
