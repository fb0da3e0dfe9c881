"""Terraform Cloud plans through the engine's own steps: found, counted, stopped and swept."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from engine_world import World, some_resources
from terraform_cloud_world import ENVIRON, TOKEN, UPDATE, terraform_cloud
from terraform_cloud_world import World as Cloud

from foretell.domain.plan import PlanStatus
from foretell.domain.target import PlanSettings
from foretell.ports import Step
from foretell.testing.scripted import FakeAgents
from foretell.testing.terraform_cloud.world import Script


@pytest.fixture
async def cloud(tmp_path: Path) -> AsyncIterator[Cloud]:
    async with terraform_cloud(tmp_path, Script(plan=UPDATE)) as made:
        yield made


async def planned_by(world: World, cloud: Cloud, targets: int = 1) -> None:
    cloud.agent._tools = replace(cloud.agent._tools, clock=world.clock)
    cloud.fake.clock = world.clock
    for number in range(targets):
        cloud.fake.add("acme", f"web-{number}", Script(plan=UPDATE))
    config = {
        "organization": "acme",
        "token": {"env": "TOKEN"},
        "template": {
            "workspace": "{{ resource.name }}",
            "variables": {"tag": "{{ version.tag }}", "password": {"env": "DB_PW"}},
        },
        "repository": {"url": f"{cloud.repository}?ref=main"},
    }
    world.agents = FakeAgents(cloud.agent)
    world.specs = [replace(spec, type=cloud.agent.type, config=config) for spec in world.specs]
    world.resources = [
        replace(each, name=f"web-{number}") for number, each in enumerate(some_resources(targets))
    ]
    world.deployment = replace(world.deployment, plan=PlanSettings(enabled=True))
    await world.write()


async def test_every_target_has_its_plan_and_no_list_was_asked_for(
    world: World, cloud: Cloud
) -> None:
    await planned_by(world, cloud, targets=3)
    plan, report = await world.completed()
    assert plan.status is PlanStatus.COMPLETED
    assert [target.has_changes for target in report.targets] == [True] * 3
    assert len({target.results[0].content_hash for target in report.targets}) == 3
    assert len(cloud.fake.runs) == 3
    assert not [each for each in cloud.fake.seen("GET") if each.path.endswith("/runs")]
    assert len({run.configuration.content for run in cloud.fake.runs}) == 1


async def test_a_plan_that_is_cancelled_ends_its_runs(world: World, cloud: Cloud) -> None:
    await planned_by(world, cloud, targets=2)
    plan = await world.fanned_out()
    await world.run(Step.INVOKE)
    assert cloud.fake.runs == []
    await world.run(Step.INVOKE)
    assert len(cloud.fake.runs) == 2
    await world.cancel(plan)
    await world.drain()
    assert [run.ended_as for run in cloud.fake.runs] == ["canceled", "canceled"]


async def test_nothing_secret_is_stored(world: World, cloud: Cloud) -> None:
    await planned_by(world, cloud)
    await world.completed()
    for table in ("deployment_plan_target_result", "deployment_plan"):
        rows = await world.rows(f"SELECT t::text FROM {table} t")
        assert rows
        for secret in (TOKEN, ENVIRON["DB_PW"], "SIGNED"):
            assert secret not in str(rows)
