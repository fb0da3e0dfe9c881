"""The Argo CD agent on the real Argo CD: its contract, every kind of source, and who may what."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from argo_repository import (
    FILES,
    SLOW,
    Repository,
    a_repository,
    app_of_apps,
    application,
    application_set,
    project,
)
from argo_server import ArgoCd

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.errors import AgentError
from foretell.domain.plan import InvocationId
from foretell.domain.result import Action, Done, KindResult
from foretell.formats.yaml import dump
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.clock import ManualClock
from foretell.testing.contracts.agent import AgentContract, AgentQuestion, ask

PLAN_LABEL = "ctrlplane.dev/plan"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_repository(tmp_path / "repository")


@pytest.fixture(autouse=True)
def clean(argo_cd: ArgoCd) -> Iterator[None]:
    yield
    for kind in ("ApplicationSet", "Application"):
        for name in argo_cd.kubernetes.names(kind):
            argo_cd.kubernetes.remove(kind, name)


@dataclass(frozen=True)
class Asker:
    """Plans of one account."""

    argo_cd: ArgoCd
    tools: AgentTools
    agent: ArgoCdAgent

    def config(self, template: Mapping[str, Any], account: str = "FORETELL") -> dict[str, Any]:
        return {
            "serverUrl": self.argo_cd.address,
            "apiKey": {"env": account},
            "template": dump(template),
        }

    async def plan(
        self, template: Mapping[str, Any], account: str = "FORETELL", **more: Any
    ) -> Done:
        config = self.config(template, account) | more
        context = a_context("argo-cd", current=None, proposed=a_side(config))
        done, _ = await ask(self.agent, context)
        return done

    async def refused(self, template: Mapping[str, Any], account: str = "FORETELL") -> AgentError:
        with pytest.raises(AgentError) as caught:
            await self.plan(template, account)
        return caught.value

    async def swept(
        self, *, later: timedelta, living: frozenset[InvocationId] = frozenset()
    ) -> tuple[int, tuple[str, ...]]:
        """What a round removes and can't remove, in another process and `later` than now."""
        clock = ManualClock(self.tools.clock.now() + later)
        agent = ArgoCdAgent(replace(self.tools, clock=clock))
        config = {"serverUrl": self.argo_cd.address, "apiKey": self.argo_cd.tokens["foretell"]}
        left = await agent.sweep(config, timedelta(minutes=10), living)
        await agent.close()
        return left.removed, left.stuck


@pytest.fixture
async def asker(argo_cd: ArgoCd) -> AsyncIterator[Asker]:
    environ = {name.upper(): token for name, token in argo_cd.tokens.items()}
    async with agent_tools(environ=environ) as tools:
        agent = ArgoCdAgent(tools)
        yield Asker(argo_cd, tools, agent)
        await agent.close()


def kinds(done: Done) -> dict[str, KindResult]:
    return {str(result.kind): result for result in done.results}


def actions(done: Done) -> set[tuple[str, str, Action]]:
    return {(each.kind, each.name, each.action) for each in kinds(done)["manifest"].resources}


def temporary(argo_cd: ArgoCd) -> set[str]:
    return {name for name in argo_cd.kubernetes.names("Application") if "-plan-" in name}


def at(template: Mapping[str, Any], revision: str) -> dict[str, Any]:
    """The Application with its first source at another revision."""
    spec = dict(template["spec"])
    if "sources" in spec:
        first, *rest = spec["sources"]
        spec["sources"] = [{**first, "targetRevision": revision}, *rest]
    else:
        spec["source"] = {**spec["source"], "targetRevision": revision}
    return {**template, "spec": spec}


@pytest.mark.parametrize("settings", [{}, {"argocdWithoutTemporary": True}], ids=["", "without"])
class TestContract(AgentContract):
    @pytest.fixture
    async def question(
        self,
        asker: Asker,
        repository: Repository,
        argo_cd: ArgoCd,
        settings: Mapping[str, Any],
    ) -> AsyncIterator[AgentQuestion]:
        template = application("shop", repository.source("chart"))
        argo_cd.kubernetes.create(at(template, repository.commit()))
        repository.write("chart/values.yaml", "replicas: 1\ntag: v2\n")
        wanted = at(template, repository.commit())
        broken = application("shop", repository.source("no-such-folder"))
        agent = ArgoCdAgent(replace(asker.tools, settings=settings))
        yield AgentQuestion(
            agent,
            a_context("argo-cd", current=None, proposed=a_side(asker.config(wanted))),
            a_context("argo-cd", current=None, proposed=a_side(asker.config(broken))),
            tuple(argo_cd.tokens.values()),
        )
        await agent.close()
        assert temporary(argo_cd) == set()


async def test_without_a_temporary_application_the_answer_is_the_same(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    template = application("shop", repository.source("chart"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    repository.write("chart/values.yaml", "replicas: 1\ntag: v2\n")
    wanted = at(template, repository.commit())
    agent = ArgoCdAgent(replace(asker.tools, settings={"argocdWithoutTemporary": True}))
    # Who may only read can be answered so.
    found = await replace(asker, agent=agent).plan(wanted, "READER")
    await agent.close()
    assert found.results == (await asker.plan(wanted)).results


SOURCES = ["plain", "chart", "kustom/eu"]


@pytest.mark.parametrize("path", SOURCES)
async def test_the_plan_of_what_is_there_is_empty(
    asker: Asker, repository: Repository, argo_cd: ArgoCd, path: str
) -> None:
    template = application("unchanged", repository.source(path))
    argo_cd.kubernetes.create(template)
    done = await asker.plan(template)
    assert {name: each.has_changes for name, each in kinds(done).items()} == {
        "manifest": False,
        "cr": False,
    }
    assert temporary(argo_cd) == set()


@pytest.mark.parametrize("length", [1, 20, 53, 63])
async def test_the_length_of_a_name_changes_nothing(
    asker: Asker, repository: Repository, argo_cd: ArgoCd, length: int
) -> None:
    # A name is Helm's name of the release too, of at most 53 characters, unless a source says else.
    own = {"helm": {"releaseName": "web"}} if length > 53 else {}
    template = application("a" * length, repository.source("chart", **own))
    argo_cd.kubernetes.create(template)
    done = await asker.plan(template)
    assert kinds(done)["manifest"].has_changes is False


async def test_a_commit_that_changes_a_plain_folder_is_seen(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    template = application("plain", repository.source("plain"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    repository.write("plain/config.yaml", FILES["plain/config.yaml"].replace("blue", "red"))
    repository.write("plain/more.yaml", FILES["plain/config.yaml"].replace("plain", "more"))
    done = await asker.plan(at(template, repository.commit()))
    assert actions(done) == {
        ("ConfigMap", "plain", Action.MODIFY),
        ("ConfigMap", "more", Action.ADD),
    }
    assert kinds(done)["cr"].has_changes is True
    assert temporary(argo_cd) == set()


async def test_a_commit_that_changes_a_chart_changes_nothing_but_that(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    template = application("a-chart", repository.source("chart"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    repository.write("chart/values.yaml", "replicas: 1\ntag: v2\n")
    done = await asker.plan(at(template, repository.commit()))
    (change,) = kinds(done)["manifest"].resources
    assert (change.kind, change.name, change.action) == ("Deployment", "a-chart", Action.MODIFY)
    assert "web:v2" in change.diff
    assert (kinds(done)["manifest"].additions, kinds(done)["manifest"].deletions) == (1, 1)


async def test_several_sources_are_planned_as_one(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    def template(revision: str) -> dict[str, Any]:
        # Argo CD refuses values of another revision of the chart's own repository.
        sources = [*repository.chart_with_values(), repository.source("plain")]
        return application("several", *[{**s, "targetRevision": revision} for s in sources])

    first = template(repository.commit())
    argo_cd.kubernetes.create(first)
    assert kinds(await asker.plan(first))["manifest"].has_changes is False
    repository.write("envs/production.yaml", "replicas: 7\n")
    done = await asker.plan(template(repository.commit()))
    (change,) = kinds(done)["manifest"].resources
    assert (change.kind, change.action) == ("Deployment", Action.MODIFY)
    assert "replicas: 7" in change.diff
    assert temporary(argo_cd) == set()


async def test_an_app_of_apps_shows_the_applications_that_it_would_make(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    children = [application(name, repository.source("plain")) for name in ("one", "two")]
    parent = app_of_apps(repository, "parent", children[0])
    argo_cd.kubernetes.create(at(parent, repository.commit()))
    argo_cd.until_application("one")
    app_of_apps(repository, "parent", children[1])
    done = await asker.plan(at(parent, repository.commit()))
    assert ("Application", "two", Action.ADD) in actions(done)
    assert "two" not in argo_cd.kubernetes.names("Application")
    child = argo_cd.until_application("one")
    assert kinds(await asker.plan(children[0]))["manifest"].has_changes is False
    assert child["spec"]["project"] == "default"


async def test_an_application_of_a_set_is_planned_and_its_set_prunes_nothing(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    argo_cd.kubernetes.create(application_set("fleet", repository.source("chart"), "eu", "us"))
    for region in ("eu", "us"):
        argo_cd.until_application(f"fleet-{region}")
        done = await asker.plan(application(f"fleet-{region}", repository.source("chart")))
        assert kinds(done)["manifest"].has_changes is False
    assert argo_cd.kubernetes.names("Application") == {"fleet-eu", "fleet-us"}


async def test_a_new_application_is_all_new(asker: Asker, repository: Repository) -> None:
    done = await asker.plan(application("brand-new", repository.source("plain")))
    assert actions(done) == {("ConfigMap", "plain", Action.ADD)}
    (change,) = kinds(done)["manifest"].resources
    assert "new target" in change.tags


async def test_a_change_of_a_secret_is_not_called_no_change(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: %s}\n"
    repository.write("plain/secret.yaml", secret % "canary-old-71c3")
    template = application("secrets", repository.source("plain"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    repository.write("plain/secret.yaml", secret % "canary-new-50fa")
    done = await asker.plan(at(template, repository.commit()))
    assert kinds(done)["manifest"].has_changes is None
    assert "canary" not in repr(done)


async def test_a_source_that_does_not_render_says_why(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    repository.write("chart/templates/broken.yaml", "{{ .Values.absent.key }}\n")
    repository.commit()
    error = await asker.refused(application("broken", repository.source("chart")))
    assert "broken.yaml" in error.message
    assert temporary(argo_cd) == set()


async def test_removing_every_object_is_a_plan_and_no_error(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    template = application("emptied", repository.source("plain"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    (repository.folder / "plain" / "config.yaml").unlink()
    repository.write("plain/README.md", "nothing\n")
    done = await asker.plan(at(template, repository.commit()))
    assert actions(done) == {("ConfigMap", "plain", Action.DELETE)}


@pytest.mark.parametrize("account", ["READER", "STRANGER", "ELSEWHERE"])
async def test_who_may_not_is_told_so_and_leaves_nothing(
    asker: Asker, repository: Repository, argo_cd: ArgoCd, account: str
) -> None:
    template = application("guarded", repository.source("plain"))
    argo_cd.kubernetes.create(template)
    # Another revision than is there: what is there can be asked without a temporary Application.
    repository.write("plain/config.yaml", FILES["plain/config.yaml"].replace("blue", "red"))
    error = await asker.refused(at(template, repository.commit()), account)
    assert error.reason == "forbidden"
    assert temporary(argo_cd) == set()


async def test_temporary_applications_may_have_a_project_of_their_own(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    argo_cd.kubernetes.apply(project("plans", repository))
    template = application("shop", repository.source("chart"))
    argo_cd.kubernetes.create(at(template, repository.commit()))
    repository.write("chart/values.yaml", "replicas: 1\ntag: v2\n")
    wanted = at(template, repository.commit())
    done = await asker.plan(wanted, "PLANNER", planProject="plans")
    assert actions(done) == {("Deployment", "shop", Action.MODIFY)}
    error = await asker.refused(at(template, "main"), "PLANNER")
    assert error.reason == "forbidden"
    assert temporary(argo_cd) == set()


async def test_a_wrong_token_is_said_and_not_shown(asker: Asker, repository: Repository) -> None:
    environ = {"WRONG": "canary-token-2d4e"}
    async with agent_tools(environ=environ) as tools:
        agent = ArgoCdAgent(tools)
        other = Asker(asker.argo_cd, tools, agent)
        error = await other.refused(application("x", repository.source("plain")), "WRONG")
        await agent.close()
    assert "canary" not in error.message


CHILD = """
import asyncio, json, sys
from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.clock import ManualClock
from foretell.testing.contracts.agent import ask

async def main(given):
    async with agent_tools(environ=given["environ"]) as tools:
        context = a_context("argo-cd", current=None, proposed=a_side(given["config"]))
        await ask(ArgoCdAgent(tools), context)

asyncio.run(main(json.load(sys.stdin)))
"""


async def test_the_orphan_of_a_killed_process_goes_and_its_look_alike_stays(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    repository.write("chart/templates/slow.yaml", SLOW)
    repository.commit()
    argo_cd.kubernetes.create(application("shop-plan-0123abcd", repository.source("plain")))
    config = asker.config(application("shop", repository.source("chart")))
    given = {"environ": {"FORETELL": argo_cd.tokens["foretell"]}, "config": config}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdin is not None
    json.dump(given, child.stdin)
    child.stdin.close()
    try:
        orphans = argo_cd.until(lambda: temporary(argo_cd) - {"shop-plan-0123abcd"})
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert temporary(argo_cd) == {*orphans, "shop-plan-0123abcd"}
    assert await asker.swept(later=timedelta(hours=1)) == (1, ())
    assert argo_cd.kubernetes.names("Application") == {"shop-plan-0123abcd"}


async def test_a_sweep_spares_the_young_and_the_living(
    asker: Asker, repository: Repository, argo_cd: ArgoCd
) -> None:
    now = asker.tools.clock.now()
    left_behind = application("shop-plan-89abcdef", repository.source("plain"))
    left_behind["metadata"] |= {
        "labels": {PLAN_LABEL: "true"},
        "annotations": {
            "ctrlplane.dev/plan-created-at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "ctrlplane.dev/plan-invocation": "i-7",
        },
    }
    argo_cd.kubernetes.create(left_behind)
    living = frozenset({InvocationId("i-7")})
    assert await asker.swept(later=timedelta(minutes=5)) == (0, ())
    assert await asker.swept(later=timedelta(hours=1), living=living) == (0, ())
    assert await asker.swept(later=timedelta(hours=1)) == (1, ())
    assert temporary(argo_cd) == set()
