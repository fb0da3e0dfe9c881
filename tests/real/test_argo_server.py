"""The real Argo CD answers, renders each kind of source, and knows who asks."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from argo_children import Children
from argo_repository import (
    Repository,
    a_repository,
    app_of_apps,
    application,
    application_set,
)
from argo_server import ArgoCd
from programs.build import PROGRAMS

RealProgram = Callable[[str], Path]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return a_repository(tmp_path / "repository")


@pytest.fixture(autouse=True)
def clean(argo_cd: ArgoCd) -> Iterator[None]:
    yield
    for kind in ("ApplicationSet", "Application"):
        for name in argo_cd.kubernetes.names(kind):
            argo_cd.kubernetes.remove(kind, name)


def rendered(argo_cd: ArgoCd, name: str) -> list[tuple[str, str]]:
    argo_cd.until_application(name)
    objects = argo_cd.manifests("foretell", name)
    return [(each["kind"], each["metadata"]["name"]) for each in objects]


def test_the_server_names_the_version_that_was_built(
    argo_cd: ArgoCd, real_program: RealProgram
) -> None:
    for name in ("argocd", "etcd", "kube-apiserver", "kustomize", "redis-server", "helm3"):
        real_program(name)
    with argo_cd.api("foretell") as api:
        version = api.get(f"{argo_cd.address}/api/version").json()["Version"]
    assert version.startswith(f"v{PROGRAMS['argocd'].version}")


def test_who_has_no_token_gets_nothing(argo_cd: ArgoCd) -> None:
    with argo_cd.api("foretell") as api:
        del api.headers["Authorization"]
        assert api.get("/applications").status_code == 401


def test_an_account_without_a_policy_sees_no_application(
    argo_cd: ArgoCd, repository: Repository
) -> None:
    argo_cd.kubernetes.create(application("seen", repository.source("plain")))
    argo_cd.until_application("seen")
    seen: dict[str, Any] = {}
    for account in ("foretell", "stranger"):
        with argo_cd.api(account) as api:
            answered = api.get("/applications").json()["items"] or []
        seen[account] = [each["metadata"]["name"] for each in answered]
    assert seen == {"foretell": ["seen"], "stranger": []}


def test_a_plain_folder_is_rendered(argo_cd: ArgoCd, repository: Repository) -> None:
    argo_cd.kubernetes.create(application("a-folder", repository.source("plain")))
    assert rendered(argo_cd, "a-folder") == [("ConfigMap", "plain")]


def test_a_chart_is_rendered_under_the_name_of_its_application(
    argo_cd: ArgoCd, repository: Repository
) -> None:
    argo_cd.kubernetes.create(application("a-chart", repository.source("chart")))
    assert rendered(argo_cd, "a-chart") == [("Deployment", "a-chart")]


def test_an_overlay_is_rendered(argo_cd: ArgoCd, repository: Repository) -> None:
    argo_cd.kubernetes.create(application("an-overlay", repository.source("kustom/eu")))
    assert rendered(argo_cd, "an-overlay") == [("ConfigMap", "eu-kustom")]


def test_several_sources_are_rendered_as_one(argo_cd: ArgoCd, repository: Repository) -> None:
    sources = [*repository.chart_with_values(), repository.source("plain")]
    argo_cd.kubernetes.create(application("several", *sources))
    assert sorted(rendered(argo_cd, "several")) == [
        ("ConfigMap", "plain"),
        ("Deployment", "several"),
    ]
    (deployment,) = [
        each for each in argo_cd.manifests("foretell", "several") if each["kind"] == "Deployment"
    ]
    assert deployment["spec"]["replicas"] == 3


def test_an_app_of_apps_makes_its_applications(argo_cd: ArgoCd, repository: Repository) -> None:
    child = application("child", repository.source("plain"))
    argo_cd.kubernetes.create(app_of_apps(repository, "parent", child))
    assert rendered(argo_cd, "parent") == [("Application", "child")]
    assert rendered(argo_cd, "child") == [("ConfigMap", "plain")]


def test_an_application_set_makes_its_applications(argo_cd: ArgoCd, repository: Repository) -> None:
    source = repository.source("chart", helm={"releaseName": "web-{{.region}}"})
    argo_cd.kubernetes.create(application_set("fleet", source, "eu", "us"))
    for region in ("eu", "us"):
        assert rendered(argo_cd, f"fleet-{region}") == [("Deployment", f"web-{region}")]


def test_a_stopped_server_is_no_longer_there(tmp_path: Path) -> None:
    children = Children(tmp_path)
    children.start("sleeper", ["sleep", "1000"], {"PATH": "/usr/bin:/bin"})
    (pid,) = children.pids()
    assert Path(f"/proc/{pid}").exists()
    children.stop()
    assert not Path(f"/proc/{pid}").exists()
    assert children.pids() == []
