"""The temporary Application: what it holds, that it always goes, and what of it may show."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from argocd_world import (
    ADDRESS,
    World,
    a_chart,
    a_source,
    a_world,
    chart,
    config_map,
    deployed,
    kinds,
    manifest,
)
from prometheus_client import REGISTRY

from foretell.agents.argocd.temporary import PLAN_LABEL
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.plan import InvocationId
from foretell.domain.result import Done, Pending
from foretell.testing.argocd import Directory, Plugin, RenderInputs, an_application
from foretell.testing.contracts.agent import ask


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with a_world() as made:
        yield made


async def test_the_copy_is_built_from_an_allow_list(world: World) -> None:
    template = await deployed(world, chart())
    template["metadata"] |= {
        "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        "ownerReferences": [{"kind": "ApplicationSet", "name": "all", "uid": "1"}],
        "labels": {"team": "shop"},
        "annotations": {"note": "x"},
    }
    template |= {"operation": {"sync": {}}, "status": {}}
    template["spec"] |= {
        "info": [],
        "revisionHistoryLimit": 3,
        "ignoreDifferences": [{"kind": "Job"}],
    }
    await world.plan(template)
    (created,) = world.created
    copy = created.body
    assert set(copy) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(copy["metadata"]) == {"name", "labels", "annotations"}
    assert copy["metadata"]["labels"] == {PLAN_LABEL: "true"}
    assert (
        copy["metadata"]["annotations"]["ctrlplane.dev/plan-created-at"] == "2026-01-01T12:00:00Z"
    )
    assert set(copy["spec"]) == {"project", "destination", "source", "ignoreDifferences"}
    assert created.query["upsert"] == ["true"]
    (deleted,) = (each for each in world.argocd.requests if each.method == "DELETE")
    assert deleted.query["cascade"] == ["false"]


@pytest.mark.parametrize(
    ("source", "release"),
    [
        ({"chart": "web", "path": ""}, "web"),
        ({"helm": {"valueFiles": []}}, "web"),
        ({"helm": {"releaseName": "own"}}, "own"),
        ({}, "web"),
        ({"directory": {"recurse": True}}, None),
        ({"kustomize": {"namePrefix": "x-"}}, None),
        ({"plugin": {"name": "x"}}, None),
    ],
)
async def test_only_sources_that_are_helm_get_a_release_name(
    world: World, source: dict[str, Any], release: str | None
) -> None:
    content = {"app": chart(), "web": chart()}
    world.repository.commit("main", content)
    await world.argocd.deploy(an_application("web", a_source(**source)))
    world.repository.commit("head", content)
    await world.plan(an_application("web", a_source(revision="head", **source)))
    helm = world.created[-1].body["spec"]["source"].get("helm")
    assert (helm["releaseName"] if helm else None) == release


@pytest.mark.parametrize(("content", "is_helm"), [(chart(), True), (Directory([]), False)])
async def test_of_a_new_application_the_server_says_what_its_source_is(
    world: World, content: Any, is_helm: bool
) -> None:
    world.repository.commit("head", {"app": content})
    await world.plan(an_application("web", a_source(revision="head")))
    details, created = world.created
    assert details.path.endswith("/appdetails")
    assert ("helm" in created.body["spec"]["source"]) is is_helm


async def test_build_variables_of_the_name_keep_the_originals(world: World) -> None:
    helm = {"parameters": [{"name": "url", "value": "${ARGOCD_APP_NAME}.$ARGOCD_APP_NAMESPACE"}]}
    template = await deployed(world, chart(), source={"helm": helm})
    await world.plan(template)
    sent = world.created[0].body["spec"]["source"]["helm"]
    assert sent["parameters"] == [{"name": "url", "value": "web.$ARGOCD_APP_NAMESPACE"}]


@pytest.mark.parametrize("by_label", [True, False])
async def test_marks_of_tracking_are_no_change_and_a_users_label_is(
    world: World, by_label: bool
) -> None:
    world.argocd.repo_server.by_label = by_label

    def labelled(colour: str) -> Directory:
        thing = config_map("web")
        thing["metadata"]["labels"] = {"colour": colour, "app.kubernetes.io/name": "web"}
        return Directory([thing])

    template = await deployed(world, labelled("blue"), labelled("blue"))
    assert manifest(await world.plan(template)).has_changes is False
    world.repository.commit("other", {"app": labelled("green")})
    changed = manifest(await world.plan(template, tag="other"))
    assert changed.diff is not None
    assert "+    colour: green" in changed.diff
    assert (changed.additions, changed.deletions) == (1, 1)


async def test_a_name_that_a_plug_in_prints_is_told(world: World) -> None:
    def printing(inputs: RenderInputs) -> list[dict[str, Any]]:
        return [config_map("web", app=inputs.app_name)]

    template = await deployed(world, Plugin(printing))
    done = await world.plan(template)
    assert "rendered under a temporary name, which is in ConfigMap/web" in done.message


async def test_where_the_original_can_be_asked_nothing_is_created() -> None:
    def printing(inputs: RenderInputs) -> list[dict[str, Any]]:
        return [config_map("web", app=inputs.app_name, commit=inputs.revision)]

    async with a_world(settings={"argocdWithoutTemporary": True}) as world:
        template = await deployed(world, Plugin(printing))
        done = await world.plan(template)
        assert world.created == []
        assert "app: web\n" in manifest(done).proposed
        assert "temporary" not in done.message
        assert manifest(done).has_changes is True


@pytest.mark.parametrize("change", ["values", "project", "several"])
async def test_another_spec_needs_a_temporary_application_all_the_same(change: str) -> None:
    async with a_world(settings={"argocdWithoutTemporary": True}) as world:
        template = await deployed(world, chart())
        spec = template["spec"]
        if change == "values":
            spec["source"]["helm"] = {"valuesObject": {"a": "b"}}
        elif change == "project":
            world.argocd.projects["other"] = {}
            spec["project"] = "other"
        else:
            spec["sources"] = [spec.pop("source"), a_source(revision="head")]
        await world.plan(template)
        assert len(world.created) == 1


async def test_it_is_in_the_project_for_plans_where_there_is_one(world: World) -> None:
    world.argocd.projects["plans"] = {}
    template = await deployed(world, chart())
    done = await world.plan(template, planProject="plans")
    assert world.created[0].body["spec"]["project"] == "plans"
    assert "plans" not in kinds(done)["cr"].proposed


async def test_it_goes_when_the_render_fails(world: World) -> None:
    template = await deployed(world, chart())
    template["spec"]["source"]["path"] = "nowhere"
    with pytest.raises(AgentRejected, match="app path does not exist"):
        await world.plan(template)
    assert world.temporary == []


async def test_it_goes_when_the_time_is_up_and_one_that_hangs_costs_only_itself(
    world: World,
) -> None:
    names = [f"web-{number}" for number in range(20)]
    templates = [await deployed(world, chart(), name=name) for name in names]
    world.argocd.faults.hanging["^web-7-plan"] = asyncio.Event()
    outcomes = await asyncio.gather(
        *(
            world.plan(template, invocation=name, timeout="3s")
            for name, template in zip(names, templates, strict=True)
        ),
        return_exceptions=True,
    )
    (late,) = (each for each in outcomes if isinstance(each, BaseException))
    assert isinstance(late, AgentRejected)
    assert (late.reason, late.message) == ("timeout", "Argo CD did not render web-7 in 3 s")
    await world.agent.close()
    assert world.temporary == []


async def test_it_goes_when_the_invocation_is_abandoned(world: World) -> None:
    template = await deployed(world, chart())
    going_on = asyncio.Event()
    world.argocd.faults.hanging["plan"] = going_on
    agent = world.another_agent(wait_for=timedelta(milliseconds=10))
    context = world.context(template)
    state = None
    while not world.temporary:
        pending = await agent.plan(context, state)
        assert isinstance(pending, Pending)
        state = pending.state
    await agent.abandon(context, state)
    assert world.temporary == []
    going_on.set()
    await agent.close()
    assert world.temporary == []


async def test_who_shares_a_render_is_not_hurt_when_its_maker_is_abandoned(world: World) -> None:
    template = await deployed(world, chart())
    going_on = asyncio.Event()
    world.argocd.faults.hanging["plan"] = going_on
    agent = world.another_agent(wait_for=timedelta(milliseconds=10))
    first, second = (world.context(template, invocation=name) for name in ("i-1", "i-2"))
    while not world.temporary:
        await agent.plan(first, None)
    await agent.plan(second, None)
    await agent.abandon(first, None)
    going_on.set()
    done, _ = await ask(agent, second)
    assert manifest(done).has_changes is True
    await agent.close()
    assert world.temporary == []


async def test_one_that_somebody_deleted_meanwhile_is_made_again(world: World) -> None:
    template = await deployed(world, chart())
    world.argocd.faults.refuse("plan-.*/manifests", code=5, message="not found")
    with pytest.raises(AgentUnavailable, match="was deleted"):
        await world.plan(template)
    assert manifest(await world.plan(template)).has_changes is True


async def test_a_retry_after_a_crash_finds_its_own_again(world: World) -> None:
    template = await deployed(world, chart())
    world.argocd.faults.hanging["plan"] = asyncio.Event()
    crashed = world.another_agent(wait_for=timedelta(milliseconds=10))
    while not world.temporary:
        pending = await crashed.plan(world.context(template), None)
    (left,) = world.temporary
    world.argocd.faults.hanging.clear()
    assert isinstance(pending, Pending)
    world.clock.advance(timedelta(seconds=30))
    again = world.another_agent(remembers=False)
    done = await again.plan(world.context(template), pending.state)
    assert isinstance(done, Done)
    assert [each.body["metadata"]["name"] for each in world.created] == [left, left]
    assert world.temporary == []
    await again.close()
    await crashed.close()


def _orphan(world: World, name: str, *, label: bool = True, age: timedelta) -> None:
    labels = {PLAN_LABEL: "true"} if label else {}
    made = (world.clock.now() - age).strftime("%Y-%m-%dT%H:%M:%SZ")
    annotations = {
        "ctrlplane.dev/plan-created-at": made,
        "ctrlplane.dev/plan-invocation": f"of-{name}",
    }
    source = a_source()
    world.argocd.store(an_application(name, source, labels=labels, annotations=annotations))


async def test_a_sweep_takes_what_is_old_dead_and_ours(world: World) -> None:
    hour = timedelta(hours=1)
    _orphan(world, "web-plan-00000001", age=hour)
    _orphan(world, "web-plan-00000002", age=timedelta(minutes=9))
    _orphan(world, "web-plan-00000003", age=hour, label=False)
    _orphan(world, "web-plan-00000004", age=hour)
    live = frozenset({InvocationId("of-web-plan-00000004")})
    config = {**world.config, "apiKey": "canary-argo-4f1c"}
    left = await world.agent.sweep(config, timedelta(minutes=10), live)
    assert (left.removed, left.stuck) == (1, ())
    assert world.temporary == [f"web-plan-0000000{number}" for number in (2, 3, 4)]


async def test_a_sweep_waits_for_who_may_still_be_at_work_elsewhere(world: World) -> None:
    _orphan(world, "web-plan-00000001", age=timedelta(minutes=15))
    config = {**world.config, "apiKey": "canary-argo-4f1c", "timeout": "20m"}
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert left.removed == 0
    world.clock.advance(timedelta(minutes=7))
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert left.removed == 1


def counted() -> float | None:
    return REGISTRY.get_sample_value("foretell_argocd_leftovers", {"server": ADDRESS})


async def test_what_a_finalizer_holds_is_told_and_tried_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    template = await deployed(world, chart())
    world.argocd.faults.finalizers = ("post-delete.example.test",)
    await world.plan(template)
    (held,) = world.temporary
    world.clock.advance(timedelta(minutes=11))
    config = {**world.config, "apiKey": "canary-argo-4f1c"}
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert (left.removed, left.stuck) == (0, (held,))
    assert counted() == 1
    assert f"application={held}" in capsys.readouterr().out
    world.argocd.applications[held]["metadata"]["finalizers"] = []
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert (left.removed, left.stuck) == (1, ())
    assert counted() == 0


async def test_what_could_not_be_deleted_does_not_cost_the_answer(world: World) -> None:
    template = await deployed(world, chart())
    world.argocd.faults.refuse("DELETE", code=7, message="permission denied")
    assert manifest(await world.plan(template)).has_changes is True
    assert len(world.temporary) == 1
    world.clock.advance(timedelta(minutes=11))
    config = {**world.config, "apiKey": "canary-argo-4f1c"}
    assert (await world.agent.sweep(config, timedelta(minutes=10), frozenset())).removed == 1


async def test_where_the_address_is_a_template_all_servers_that_were_asked_are_swept(
    world: World,
) -> None:
    template = await deployed(world, chart())
    await ask(world.agent, world.context(template))
    _orphan(world, "web-plan-00000001", age=timedelta(hours=1))
    config = {**world.config, "serverUrl": "{{ resource.config.argocd }}"}
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert left.removed == 1


async def test_no_temporary_name_is_in_an_answer(world: World) -> None:
    template = await deployed(world, chart(a_chart))
    done = await world.plan(template)
    assert "-plan-" not in manifest(done).proposed + done.message
