"""What a plan by Argo CD says: of the original, of both renders, and of what nobody can tell."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from argocd_world import (
    TOKEN,
    URL,
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

from foretell.domain.errors import AgentRejected
from foretell.domain.result import Action
from foretell.testing.agents import a_context, a_side
from foretell.testing.argocd import ADMIN, Directory, RenderInputs, an_application, read_policies
from foretell.testing.argocd.faults import Fault
from foretell.testing.argocd.refused import EXHAUSTED, Refused
from foretell.testing.budget import FreeBudget
from foretell.testing.contracts.agent import ask


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with a_world() as made:
        yield made


def secret(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web"}, "stringData": data}


async def test_both_kinds_are_told_and_which_side_is_from_where(world: World) -> None:
    template = await deployed(world, chart())
    done = await world.plan(template)
    assert set(kinds(done)) == {"manifest", "cr"}
    synced = world.repository.resolve("main")
    assert done.message == f"current side: web at its synced revision {synced}; proposed side: head"
    assert "targetRevision: head" in kinds(done)["cr"].proposed
    assert [phase.name for phase in done.phases] == ["lookup", "render", "compare"]


async def test_what_is_not_synced_is_compared_at_its_target_revision(world: World) -> None:
    template = await deployed(world, chart(), synced=False)
    done = await world.plan(template)
    assert "current side: web at its target revision main, since it is not synced" in done.message
    asked = [each for each in world.argocd.requests if each.path.endswith("/web/manifests")]
    assert [each.one("revision") for each in asked] == [""]


async def test_what_was_edited_after_its_sync_is_not_synced(world: World) -> None:
    template = await deployed(world, chart())
    world.argocd.applications["web"]["spec"]["source"] = a_source(revision="head")
    done = await world.plan(template)
    assert "since it is not synced" in done.message
    assert manifest(done).has_changes is False


async def test_an_application_that_did_not_change_has_no_change_in_either_kind(
    world: World,
) -> None:
    template = await deployed(world, Directory([config_map("web")]))
    done = await world.plan(template, tag="main")
    assert [result.has_changes for result in done.results] == [False, False]


async def test_what_the_server_leaves_out_of_a_spec_is_no_change(world: World) -> None:
    template = await deployed(world, Directory([config_map("web")]))
    template["spec"]["syncPolicy"]["automated"]["selfHeal"] = False
    template["spec"] |= {"info": [], "project": ""}
    done = await world.plan(template, tag="main")
    assert kinds(done)["cr"].has_changes is False
    template["spec"]["syncPolicy"]["automated"]["enabled"] = False
    assert kinds(await world.plan(template, tag="main"))["cr"].has_changes is True


async def test_a_new_application_is_all_adds(world: World) -> None:
    world.repository.commit("head", {"app": chart()})
    done = await world.plan(an_application("web", a_source(revision="head")))
    assert "there is no Application web yet: everything is an add" in done.message
    for result in done.results:
        (change,) = result.resources
        assert (change.action, change.tags) == (Action.ADD, ("new target",))


async def test_a_target_that_is_removed_loses_everything(world: World) -> None:
    template = await deployed(world, chart())
    current = a_side({**world.config, "template": template}, tag="main")
    context = a_context("argo-cd", current=current, proposed=None)
    done, _ = await ask(world.agent, context)
    for result in done.results:
        assert [change.action for change in result.resources] == [Action.DELETE]
    assert world.created == []


async def test_an_application_that_is_renamed_is_compared_with_what_it_was(world: World) -> None:
    template = await deployed(world, Directory([config_map("web")]), name="old")
    context = world.context({**template, "metadata": {"name": "new"}}, tag="main")
    former = a_side({**world.config, "template": template}, tag="main")
    context = a_context("argo-cd", current=former, proposed=context.proposed)
    done, _ = await ask(world.agent, context)
    assert "the Application is renamed from old to new" in done.message
    assert manifest(done).has_changes is False


async def test_an_application_in_another_project_is_found_there(world: World) -> None:
    world.argocd.projects["next"] = {}
    template = await deployed(world, Directory([config_map("web")]))
    template["spec"]["project"] = "next"
    done = await world.plan(template)
    assert manifest(done).has_changes is False
    assert kinds(done)["cr"].has_changes is True


GET = "p, r, applications, get, shop/*, allow\n"
CREATE = "p, r, applications, *, shop/*-plan-*, allow\np, r, repositories, get, *, allow\n"


@pytest.mark.parametrize(
    ("policies", "others", "message"),
    [
        (GET + CREATE, False, ""),
        (CREATE, False, "cannot tell whether the Application web exists"),
        ("p, r, applications, get, shop/other, allow\n" + CREATE, True, ""),
        (GET, False, "permission denied"),
    ],
    ids=["may get", "may not get", "sees others of the project", "may not create"],
)
async def test_a_missing_application_is_told_from_a_forbidden_one(
    policies: str, others: bool, message: str
) -> None:
    async with a_world(accounts={TOKEN: read_policies(policies)}) as world:
        world.argocd.projects["shop"] = {}
        world.repository.commit("head", {"app": chart()})
        if others:
            await world.argocd.deploy(
                an_application("other", a_source(revision="head"), project="shop")
            )
        template = an_application("web", a_source(revision="head"), project="shop")
        if not message:
            assert manifest(await world.plan(template)).has_changes is True
            return
        with pytest.raises(AgentRejected, match=message) as caught:
            await world.plan(template)
        assert caught.value.reason == "forbidden"


async def test_the_removal_of_everything_is_an_answer(world: World) -> None:
    objects = [config_map(name) for name in ("a", "b", "c")]
    template = await deployed(world, Directory(objects), Directory([]))
    done = await world.plan(template)
    assert [change.action for change in manifest(done).resources] == [Action.DELETE] * 3
    assert "everything is deleted" in done.message


async def test_a_new_application_that_renders_nothing_is_an_answer(world: World) -> None:
    world.repository.commit("head", {"app": Directory([])})
    done = await world.plan(an_application("web", a_source(revision="head")))
    assert manifest(done).has_changes is False
    assert "renders no object on either side" in done.message


async def test_nothing_rendered_for_a_reason_is_an_error_and_no_removal(world: World) -> None:
    template = await deployed(world, Directory([config_map("a")]))
    world.argocd.faults.conditions["-plan-"] = ("ComparisonError", "no such cluster")
    with pytest.raises(AgentRejected, match="ComparisonError: no such cluster"):
        await world.plan(template)


@pytest.mark.parametrize("for_good", [True, False])
async def test_another_commit_than_was_asked_for_is_no_plan(world: World, for_good: bool) -> None:
    template = await deployed(world, chart())
    sha, former = world.repository.resolve("head"), world.repository.resolve("main")
    server = world.argocd.repo_server
    server.says_commit, server.faults.stale = True, {sha: former}
    server.faults.stale_for_good = for_good
    if not for_good:
        done = await world.plan(template, tag=sha)
        assert f"commit: {sha[:7]}" in manifest(done).proposed
        return
    with pytest.raises(AgentRejected, match=f"asked for {sha}, got {former}") as caught:
        await world.plan(template, tag=sha)
    assert caught.value.reason == "stale"


async def test_an_error_that_is_only_remembered_is_looked_into_once_more(world: World) -> None:
    template = await deployed(world, chart())
    remembered = "Manifest generation error (cached): no such values file"
    world.argocd.faults.refuse("plan-.*/manifests", code=2, message=remembered)
    assert manifest(await world.plan(template)).has_changes is True
    assert world.argocd.requests[-2].one("noCache") == "true"


async def test_secrets_that_the_server_masks_are_not_known_to_be_equal(world: World) -> None:
    before, after = Directory([secret(p="one")]), Directory([secret(p="two")])
    done = await world.plan(await deployed(world, before, after))
    assert manifest(done).has_changes is None
    assert "not compared: Secret/shop/web" in done.message


async def test_a_key_that_a_secret_loses_shows(world: World) -> None:
    before, after = Directory([secret(p="one", q="two")]), Directory([secret(p="one")])
    done = await world.plan(await deployed(world, before, after))
    assert manifest(done).has_changes is True


OTHER = "https://git.example.test/values.git"


async def two_sources(world: World, **second: Any) -> dict[str, Any]:
    def valued(inputs: RenderInputs) -> list[dict[str, Any]]:
        return [config_map(inputs.name, commit=inputs.revision[:7])]

    for branch in ("main", "head"):
        world.repository.commit(branch, {"app": chart(valued)})
        world.argocd.repository(OTHER).commit(branch, {"extra": Directory([config_map(branch)])})
    values = {"repoURL": OTHER, "path": "extra", "targetRevision": "main"}
    await world.argocd.deploy(an_application("web", a_source(), values))
    values |= {"targetRevision": "head", **second}
    return an_application("web", a_source(), values)


async def test_of_several_sources_each_is_rendered_and_what_did_not_move_stays(
    world: World,
) -> None:
    done = await world.plan(await two_sources(world))
    changed = {change.name: change.action for change in manifest(done).resources}
    assert changed == {"main": Action.DELETE, "head": Action.ADD}
    assert "commit" in manifest(done).proposed


async def test_the_servers_own_copy_of_several_sources_stays_as_it_was(world: World) -> None:
    template = await two_sources(world)
    first = await world.plan(template)
    revisions = [
        each["targetRevision"] for each in world.argocd.applications["web"]["spec"]["sources"]
    ]
    assert revisions == ["main", "main"]
    assert (await world.plan(template)).results == first.results


@pytest.mark.parametrize(
    "wrong", [{"targetRevision": "nowhere"}, {"path": "nowhere"}, {"repoURL": "https://x.test/y"}]
)
async def test_an_error_of_one_source_names_it(world: World, wrong: dict[str, str]) -> None:
    template = await two_sources(world, **wrong)
    with pytest.raises(AgentRejected, match=r"source #2 \("):
        await world.plan(template)


async def test_an_error_of_the_current_side_says_so(world: World) -> None:
    template = await deployed(world, chart(), synced=False)
    world.argocd.applications["web"]["spec"]["source"]["targetRevision"] = "gone"
    with pytest.raises(AgentRejected, match=r"the current side: .*unable to resolve 'gone'"):
        await world.plan(template)


async def test_what_is_not_json_or_no_object_is_an_error(world: World) -> None:
    template = await deployed(world, chart())
    world.repository.commit(
        "head", {"app": Directory([{"apiVersion": "v1", "metadata": {}, "kind": ""}])}
    )
    with pytest.raises(AgentRejected, match="what Argo CD rendered can't be read"):
        await world.plan(template)


async def test_a_secret_of_a_variable_is_in_no_answer_and_no_error() -> None:
    canary = "canary-value-9c1d"
    async with a_world(environ={"PASSWORD": canary}) as world:
        helm = {"valuesObject": {"password": "{{ variables.password }}"}}
        template = await deployed(world, chart(), source={"helm": helm})
        world.argocd.applications["web"]["spec"]["source"]["helm"] = {}
        side = a_side(
            {**world.config, "template": template},
            tag="head",
            variables={"password": {"env": "PASSWORD"}},
        )
        done, _ = await ask(world.agent, a_context("argo-cd", current=None, proposed=side))
        assert world.created[0].body["spec"]["source"]["helm"]["valuesObject"]["password"] == canary
        assert canary not in repr(done)
        world.argocd.faults.refuse(
            "POST", code=3, message=f"bad value {canary} for {TOKEN}", times=None
        )
        again = a_context("argo-cd", current=None, proposed=side, plan="p-2")
        with pytest.raises(AgentRejected) as caught:
            await ask(world.agent, again)
        assert canary not in repr(caught.value)
        assert TOKEN not in repr(caught.value)


async def test_five_hundred_sources_of_79_inputs_are_79_renders(world: World) -> None:
    world.repository.commit("head", {f"app-{number}": chart() for number in range(79)})
    templates = [
        an_application(
            f"web-{number}",
            a_source(f"app-{number % 79}", "head", helm={"releaseName": "web"}),
        )
        for number in range(500)
    ]
    await asyncio.gather(
        *(world.plan(each, invocation=each["metadata"]["name"]) for each in templates)
    )
    assert sum(world.argocd.repo_server.made.values()) == 79
    assert len(world.created) == 79


async def test_a_server_that_takes_eight_at_once_gets_everything_done(world: World) -> None:
    world.argocd.faults.most_at_once = 8
    world.argocd.faults.render_for = timedelta(milliseconds=400)
    templates = [
        await deployed(world, chart(a_chart), name=f"web-{number}") for number in range(60)
    ]
    outcomes = await asyncio.gather(
        *(world.plan(each, invocation=each["metadata"]["name"]) for each in templates)
    )
    assert len(outcomes) == 60
    refused = [each for each in world.argocd.requests if each.status == 429]
    assert 0 < len(refused) < 60
    assert world.argocd.repo_server.peak == 8


async def test_an_address_that_is_none_is_told(world: World) -> None:
    template = await deployed(world, chart())
    with pytest.raises(AgentRejected, match="serverUrl: expected an address"):
        await world.plan(template, serverUrl="argo.example.test")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("not: [an, application]", "expected kind Application"),
        ("a: [", "the template makes no Application"),
        ({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}, "metadata: expected a map"),
        (an_application("Web", a_source()), "metadata.name"),
        (an_application("web"), "expected source, or a list of sources"),
        (an_application("web", {"path": "x"}), "source #1 has no repoURL"),
    ],
)
async def test_a_template_that_makes_no_application_names_the_field(
    world: World, template: Any, message: str
) -> None:
    with pytest.raises(AgentRejected, match=message):
        await world.plan(template)


async def test_a_template_may_be_text(world: World) -> None:
    await deployed(world, chart())
    text = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: "{{{{ deployment.slug }}}}"}}
spec:
  destination: {{server: "https://kubernetes.default.svc", namespace: shop}}
  source: {{repoURL: "{URL}", path: app, targetRevision: "{{{{ .release.version.tag }}}}"}}
"""
    assert manifest(await world.plan(text)).has_changes is True


async def test_an_account_that_was_removed_is_told(world: World) -> None:
    template = await deployed(world, chart())
    world.argocd.accounts = {"another": ADMIN}
    with pytest.raises(AgentRejected, match="does not accept the apiKey"):
        await world.plan(template)


async def test_what_is_there_is_asked_without_a_copy_of_it(world: World) -> None:
    """A Secret that the server masks is the same where both sides are one render."""
    template = await deployed(world, Directory([secret(p="one")]))
    done = await world.plan(template, tag=world.repository.resolve("main"))
    assert world.created == []
    assert manifest(done).has_changes is False


async def test_two_applications_of_one_folder_are_each_rendered_as_what_they_are(
    world: World,
) -> None:
    """A file in the folder may be for one of them alone: `.argocd-source-<name>.yaml`."""

    def overridden(inputs: RenderInputs) -> list[dict[str, Any]]:
        return [config_map("web", own=str(inputs.app_name == "one"))]

    world.repository.commit("main", {"app": chart(overridden)})
    world.repository.commit("head", {"app": Directory([config_map("web", own="False")])})
    for name in ("one", "two"):
        helm = {"releaseName": "web"}
        await world.argocd.deploy(an_application(name, a_source(helm=helm)))
        source = a_source(revision="head", directory={})
        done = await world.plan(an_application(name, source), invocation=name)
        assert manifest(done).has_changes is (name == "one")


async def test_an_original_that_is_hydrated_is_told(world: World) -> None:
    template = await deployed(world, chart())
    spec = world.argocd.applications["web"]["spec"]
    del spec["source"]
    spec["sourceHydrator"] = {"drySource": {}}
    with pytest.raises(AgentRejected, match="no source but a sourceHydrator"):
        await world.plan(template)


@pytest.mark.parametrize(
    "helm",
    [
        {"parameters": [{"name": "db.password", "value": "canary-%s"}]},
        {"valuesObject": {"db": {"password": "canary-%s"}}},
        {"values": "replicas: 2\ndb:\n  password: canary-%s\n"},
    ],
    ids=["parameters", "valuesObject", "values"],
)
async def test_a_password_in_an_application_is_hidden_and_its_change_shows(
    world: World, helm: dict[str, Any]
) -> None:
    def of(side: str) -> Any:
        return json.loads(json.dumps(helm).replace("%s", side))

    template = await deployed(world, Directory([config_map("web")]), source={"helm": of("old")})
    template["spec"]["source"]["helm"] = of("old")
    same = kinds(await world.plan(template, tag="main"))["cr"]
    template["spec"]["source"]["helm"] = of("new")
    done = await world.plan(template, tag="main", invocation="i-2")
    changed = kinds(done)["cr"]
    assert (same.has_changes, changed.has_changes) == (False, True)
    assert same.content_hash != changed.content_hash
    assert "canary-" not in repr(done) + repr(same)


async def test_values_without_a_secret_stay_as_they_are_written(world: World) -> None:
    template = await deployed(world, Directory([config_map("web")]))
    template["spec"]["source"]["helm"] = {"values": "replicas: 2 # two\n"}
    assert "replicas: 2 # two" in kinds(await world.plan(template))["cr"].proposed


async def test_renders_are_paced_over_all_workers_and_a_pause_is_for_all(world: World) -> None:
    template = await deployed(world, chart())
    busy = Refused(EXHAUSTED, "too many", retry_after=0)
    world.argocd.faults.calls.append(Fault("plan-.*/manifests", busy))
    await world.plan(template)
    budget = world.tools.budget
    assert isinstance(budget, FreeBudget)
    name = "argocd argo.example.test"
    assert budget.taken[name] == 3  # the original, the refused one and its repetition
    assert budget.held == {name: timedelta(0)}
