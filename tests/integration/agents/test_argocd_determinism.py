"""What is another on each render is no change; what only looks like it costs one more render."""

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest
from argocd_world import World, a_world, chart, config_map, deployed, manifest

from foretell.domain.result import Action
from foretell.testing.argocd import Directory, RenderInputs


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with a_world() as made:
        yield made


def made_up() -> Any:
    """A chart with a checksum of a password that is another on each render, and a commit."""
    numbers = count(0x1B5F3C7D9A2E4F60)

    def make(inputs: RenderInputs) -> list[dict[str, Any]]:
        checksum = f"{next(numbers):016x}" * 4
        annotations = {"checksum/secret": checksum}
        template = {"metadata": {"annotations": annotations}, "spec": {"containers": []}}
        return [
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": inputs.name},
                "spec": {"replicas": inputs.values.get("replicas", 1), "template": template},
            }
        ]

    return make


async def test_what_is_another_on_each_render_is_no_change(world: World) -> None:
    done = await world.plan(await deployed(world, chart(made_up())))
    assert manifest(done).has_changes is False
    assert "1 field differs on each render; a sync will restart Deployment/shop/web" in done.message
    assert world.temporary == []


async def test_a_change_beside_it_is_all_that_shows(world: World) -> None:
    template = await deployed(world, chart(made_up()))
    template["spec"]["source"]["helm"] = {"valuesObject": {"replicas": 3}}
    (change,) = manifest(await world.plan(template)).resources
    assert change.action is Action.MODIFY
    assert (change.additions, change.deletions) == (1, 1)
    assert "+  replicas: 3" in change.diff


@pytest.mark.parametrize(
    ("before", "after", "renders"),
    [
        ("1", "2", 1),
        ("production", "development", 1),
        ("v1.2.3", "v1.2.4", 1),
        ("0f3a9b7c1d", "7c1d0f3a9b", 2),
        ("-----BEGIN CERTIFICATE-----\nA", "-----BEGIN CERTIFICATE-----\nB", 2),
    ],
)
async def test_only_what_looks_made_up_is_rendered_twice(
    world: World, before: str, after: str, renders: int
) -> None:
    sides = (Directory([config_map("web", value=value)]) for value in (before, after))
    done = await world.plan(await deployed(world, *sides))
    assert manifest(done).has_changes is True
    assert sum(world.argocd.repo_server.made.values()) == renders
    assert world.temporary == []


async def test_the_commit_that_is_planned_does_not_look_made_up(world: World) -> None:
    def make(inputs: RenderInputs) -> list[dict[str, Any]]:
        return [config_map("web", commit=inputs.revision)]

    template = await deployed(world, chart(make))
    done = await world.plan(template, tag=world.repository.resolve("head"))
    assert manifest(done).has_changes is True
    assert len(world.created) == 1
