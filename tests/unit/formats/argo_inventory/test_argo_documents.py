"""Applications become an inventory that the loader takes, and nothing in them becomes a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.formats.argo_inventory import Application, inventory, read_application
from foretell.formats.argo_inventory.documents import slugs
from foretell.formats.argo_inventory.repository import same_repository
from foretell.formats.yaml import dump, load_documents
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors

HERE = "https://git.example.com/shop/platform.git"
WEB = {"repoURL": HERE, "path": "charts/web", "targetRevision": "main"}


def app(name: str, *sources: object, project: str = "default", **metadata: object) -> Application:
    spec = {
        "project": project,
        "destination": {"server": "https://eu.example.com", "namespace": "web"},
        "sources": list(sources),
    }
    about = {"name": name, "namespace": "argocd", **metadata}
    found = read_application(about, spec, "shop/platform")
    assert found is not None
    return found


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.com/shop/platform",
        "https://git.example.com/shop/platform.git",
        "https://git.example.com/Shop/Platform/",
        "https://user:word@git.example.com:8443/shop/platform",
        "git@git.example.com:shop/platform.git",
        "ssh://git@git.example.com:22/shop/platform.git",
    ],
)
def test_a_repository_is_the_same_in_every_spelling(address: str) -> None:
    assert same_repository("shop/platform", address)
    assert same_repository(HERE, address)
    assert not same_repository("shop/platform2", address)
    assert not same_repository("other/platform", address)
    assert not same_repository("https://elsewhere.example.com/shop/platform", address)


def test_a_longer_path_is_another_repository() -> None:
    assert not same_repository("shop/platform", "https://git.example.com/group/shop/platform")
    assert same_repository("group/shop/platform", "https://git.example.com/group/shop/platform")


def test_a_folder_of_this_machine_is_a_repository() -> None:
    assert same_repository("file:///srv/git/platform", "file:///srv/git/platform")
    assert not same_repository("file:///srv/git/platform", "file:///srv/git/other")


def test_there_is_a_deployment_for_each_path_and_a_target_for_each_application() -> None:
    found = [
        app("web-eu", WEB, project="eu"),
        app("web-us", WEB, project="us"),
        app("config", {**WEB, "path": "plain"}, project="eu"),
    ]
    document = inventory(found, server="https://argo.example.com", repository="shop/platform")
    loaded = parse({"inventory.yaml": dump(document)}).inventory
    assert [one.slug for one in loaded.deployments] == ["charts-web", "plain"]
    assert [one.name for one in loaded.environments] == ["eu", "us"]
    matches = CelSelectors().matches()
    chosen = {
        (deployment.slug, environment.name, resource.identifier)
        for deployment in loaded.deployments
        for environment in loaded.environments
        for resource in loaded.resources
        if matches(deployment.resource_selector, {"resource": resource.describe()})
        and matches(environment.resource_selector, {"resource": resource.describe()})
    }
    assert chosen == {
        ("charts-web", "eu", "argocd/web-eu"),
        ("charts-web", "us", "argocd/web-us"),
        ("plain", "eu", "argocd/config"),
    }


def test_a_text_of_an_application_is_neither_a_reference_nor_a_template() -> None:
    values = {"global": {"env": "FORETELL_SECRET_KEY"}, "text": "{{ .Values.x }}"}
    one = app("web", {**WEB, "helm": {"valuesObject": values}})
    document = inventory([one], server="https://argo.example.com", repository="shop/platform")
    (resource,) = parse({"inventory.yaml": dump(document)}).inventory.resources
    text = resource.config["application"]
    assert isinstance(text, str)
    (kept,) = load_documents(text, source="application")
    assert kept.value["spec"]["sources"][0]["helm"]["valuesObject"] == values


def test_the_token_is_named_and_not_written() -> None:
    document = inventory([app("web", WEB)], server="https://argo.example.com", repository="x/y")
    assert document["jobAgents"][0]["config"]["apiKey"] == {"env": "ARGOCD_AUTH_TOKEN"}


def test_an_application_keeps_what_its_author_wrote_and_no_more() -> None:
    one = app(
        "web",
        WEB,
        labels={"team": "shop"},
        annotations={
            "note": "x",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
        uid="u-1",
        finalizers=["resources-finalizer.argocd.argoproj.io"],
        ownerReferences=[{"kind": "ApplicationSet", "name": "fleet"}],
    )
    document = inventory([one], server="https://argo.example.com", repository="shop/platform")
    (resource,) = document["resources"]
    (kept,) = load_documents(resource["config"]["application"], source="application")
    assert kept.value["metadata"] == {
        "name": "web",
        "namespace": "argocd",
        "labels": {"team": "shop"},
        "annotations": {"note": "x"},
        "finalizers": ["resources-finalizer.argocd.argoproj.io"],
    }
    assert resource["metadata"]["madeBy"] == "fleet"


def test_temporary_applications_and_those_of_other_repositories_are_left_out() -> None:
    spec = {"source": WEB}
    about = {"name": "x", "labels": {"ctrlplane.dev/plan": "true"}}
    assert read_application(about, spec, "shop/platform") is None
    assert read_application({"name": "x"}, spec, "shop/other") is None
    assert read_application({"name": "x"}, {}, "shop/platform") is None


def test_an_application_of_an_app_of_apps_names_its_parent() -> None:
    tracked = {"argocd.argoproj.io/tracking-id": "parent:argoproj.io/Application:argocd/child"}
    assert app("child", WEB, annotations=tracked).made_by == "parent"


def test_a_chart_from_elsewhere_is_filed_under_its_values() -> None:
    chart = {
        "repoURL": "https://charts.example.com",
        "chart": "web",
        "helm": {"valueFiles": ["$values/envs/eu/web.yaml"]},
    }
    assert app("web", chart, {"repoURL": HERE, "ref": "values"}).path == "envs/eu"


PATHS = st.lists(st.text(min_size=1, max_size=100), unique=True, max_size=20)


@given(PATHS)
def test_slugs_are_valid_and_no_two_are_the_same(paths: list[str]) -> None:
    found = slugs(paths)
    assert len(set(found)) == len(paths)
    document = {"deployments": [{"name": "x", "slug": slug} for slug in found]}
    assert len(parse({"x.yaml": dump(document)}).inventory.deployments) == len(paths)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["charts/web", "."], ["charts-web", "root"]),
        (["a/b", "a-b"], ["a-b-c14cddc0", "a-b-d44362d6"]),
    ],
)
def test_a_slug_reads_as_its_path(paths: list[str], expected: list[str]) -> None:
    assert slugs(paths) == expected
