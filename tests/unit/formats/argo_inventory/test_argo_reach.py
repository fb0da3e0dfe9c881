"""Which Applications a change of files can reach, by every rule that says so."""

from collections.abc import Mapping
from typing import Any

import pytest

from foretell.formats.argo_inventory import Application, Change, Tree, choose, read_application
from foretell.formats.argo_inventory.application import GENERATE_PATHS

HERE = "https://git.example.com/shop/platform.git"
ELSEWHERE = "https://git.example.com/shop/other"

FILES: Mapping[str, str] = {
    "charts/web/Chart.yaml": (
        "apiVersion: v2\nname: web\nversion: 1.0.0\n"
        "dependencies: [{name: lib, version: 1.0.0, repository: 'file://../lib'}]\n"
    ),
    "charts/web/values.yaml": "",
    "charts/lib/Chart.yaml": (
        "apiVersion: v2\nname: lib\nversion: 1.0.0\n"
        "dependencies: [{name: deep, version: 1.0.0, repository: 'file://../deep'}]\n"
    ),
    "charts/deep/Chart.yaml": "apiVersion: v2\nname: deep\nversion: 1.0.0\n",
    "kustom/base/kustomization.yaml": "resources: [config.yaml]\n",
    "kustom/base/config.yaml": "",
    "kustom/eu/kustomization.yaml": (
        "resources: [../base]\nconfigMapGenerator: [{name: x, files: [a=../../files/a.txt]}]\n"
        "patches: [{path: ../patches/eu.yaml}]\n"
    ),
    "files/a.txt": "",
    "kustom/patches/eu.yaml": "",
    "plain/config.yaml": "",
    "jsonnet/main.jsonnet": "import '../anything.libsonnet'",
    "envs/production.yaml": "",
}


def tree(links: Mapping[str, str] | None = None, **more: str) -> Tree:
    files = {**FILES, **more}
    return Tree([*files, *(links or {})], files.get, links)


def here(path: str, **more: Any) -> dict[str, Any]:
    return {"repoURL": HERE, "path": path, "targetRevision": "main", **more}


def app(*sources: Mapping[str, Any], paths: str = "", types: tuple[str, ...] = ()) -> Application:
    metadata = {
        "name": "web",
        "namespace": "argocd",
        "annotations": {GENERATE_PATHS: paths} if paths else {},
    }
    spec = {"project": "default", "sources": list(sources)}
    found = read_application(metadata, spec, "shop/platform", types)
    assert found is not None
    return found


def reached(one: Application, *files: str, links: Mapping[str, str] | None = None) -> bool:
    return bool(choose([one], Change(files, tree(links), "main")))


CHART = here("charts/web")
OVERLAY = here("kustom/eu")


@pytest.mark.parametrize(
    ("source", "file"),
    [
        (here("plain"), "plain/config.yaml"),
        (here("plain/"), "plain/new/file.yaml"),
        (here("."), "anything"),
        (here("plain"), "plain/.argocd-source-web.yaml"),
        (CHART, "charts/web/templates/gone.yaml"),
        (CHART, "charts/lib/templates/x.yaml"),
        (CHART, "charts/deep/values.yaml"),
        (OVERLAY, "kustom/eu/kustomization.yaml"),
        (OVERLAY, "kustom/base/config.yaml"),
        (OVERLAY, "kustom/patches/eu.yaml"),
        (OVERLAY, "files/a.txt"),
        (here("plain", kustomize={"components": ["../kustom/base"]}), "kustom/base/config.yaml"),
        (here("charts/deep", helm={"valueFiles": ["../../envs/a.yaml"]}), "envs/a.yaml"),
        (here("charts/deep", helm={"valueFiles": ["/envs/a.yaml"]}), "envs/a.yaml"),
        (
            here("charts/deep", helm={"valueFiles": ["../../envs/$ARGOCD_APP_NAME.yaml"]}),
            "envs/web.yaml",
        ),
        (here("charts/deep", helm={"valueFiles": ["/envs/*.yaml"]}), "envs/a.yaml"),
        (
            here("charts/deep", helm={"fileParameters": [{"name": "x", "path": "../../files/a"}]}),
            "files/a",
        ),
    ],
)
def test_what_a_source_reads_reaches_it(source: dict[str, Any], file: str) -> None:
    assert reached(app(source), "elsewhere.md", file)


@pytest.mark.parametrize(
    ("source", "file"),
    [
        (here("plain"), "plain2/config.yaml"),
        (here("plain"), "README.md"),
        (here("plain"), "plain.yaml"),
        (CHART, "charts/web2/Chart.yaml"),
        (here("charts/deep"), "charts/lib/Chart.yaml"),
        (OVERLAY, "kustom/us/kustomization.yaml"),
        (OVERLAY, "files/b.txt"),
        (here("charts/deep", helm={"valueFiles": ["/envs/*.yaml"]}), "envs/deep/a.yaml"),
        (here("charts/deep", helm={"valueFiles": ["https://x.example.com/envs/a"]}), "envs/a"),
    ],
)
def test_what_no_source_reads_does_not(source: dict[str, Any], file: str) -> None:
    assert not reached(app(source), file)


def test_values_of_another_source_reach_the_chart_that_names_them() -> None:
    chart = {
        "repoURL": "https://charts.example.com",
        "chart": "web",
        "targetRevision": "1.2.3",
        "helm": {"valueFiles": ["$values/envs/production.yaml"]},
    }
    one = app(chart, {"repoURL": HERE, "targetRevision": "main", "ref": "values"})
    assert reached(one, "envs/production.yaml")
    assert not reached(one, "envs/staging.yaml")


def test_values_of_a_repository_elsewhere_are_no_file_of_this_one() -> None:
    chart = here("charts/deep", helm={"valueFiles": ["$values/envs/production.yaml"]})
    one = app(chart, {"repoURL": ELSEWHERE, "targetRevision": "main", "ref": "values"})
    assert not reached(one, "envs/production.yaml")


@pytest.mark.parametrize(
    "source",
    [
        here("plain", plugin={"name": "cue"}),
        here("jsonnet"),
        here("charts/web", helm={"valueFiles": ["$nobody/envs/a.yaml"]}),
        here("charts/web", helm={"valueFiles": ["${ARGOCD_ENV_STAGE}.yaml"]}),
        here("charts/web", helm={"valueFiles": ["envs/$ARGOCD_APP_REVISION.yaml"]}),
    ],
)
def test_what_cannot_be_decided_is_planned(source: dict[str, Any]) -> None:
    assert reached(app(source), "README.md")


def test_a_plugin_that_the_server_found_by_itself_is_planned() -> None:
    assert reached(app(here("plain"), types=("Plugin",)), "README.md")
    assert not reached(app(here("plain"), types=("Directory",)), "README.md")


def test_without_a_list_of_files_or_the_files_themselves_all_is_planned() -> None:
    one = app(here("plain"))
    assert choose([one], Change(None, tree(), "main"))
    assert choose([one], Change(("README.md",), None, "main"))


def test_with_nothing_changed_nothing_is_planned() -> None:
    assert not choose([app(here("plain", plugin={"name": "x"}))], Change((), tree(), "main"))


@pytest.mark.parametrize(
    ("paths", "file", "expected"),
    [
        (".", "plain/config.yaml", True),
        (".", "README.md", False),
        ("../joint", "joint/x", True),
        ("/joint", "joint/deep/x", True),
        ("/joint/*.yaml", "joint/x.yaml", True),
        ("/joint/*.yaml", "joint/deep/x.yaml", False),
        ("/a;/b;", "b/x", True),
        ("/joint", "plain/config.yaml", False),
    ],
)
def test_the_annotation_says_what_a_source_is_made_of(
    paths: str, file: str, expected: bool
) -> None:
    assert reached(app(here("plain"), paths=paths), file) is expected


def test_the_annotation_decides_what_a_plugin_reads() -> None:
    one = app(here("plain", plugin={"name": "cue"}), paths=".;/joint")
    assert not reached(one, "README.md")
    assert reached(one, "joint/x.cue")


def test_values_outside_of_the_annotations_paths_still_reach_it() -> None:
    one = app(here("charts/deep", helm={"valueFiles": ["/envs/a.yaml"]}), paths=".")
    assert reached(one, "envs/a.yaml")


def test_a_chart_outside_of_the_annotations_paths_still_reaches_it() -> None:
    assert reached(app(CHART, paths="."), "charts/lib/templates/x.yaml")


def test_where_links_lead_is_read_too() -> None:
    links = {"plain/linked": "../files/x", "folder": "plain"}
    assert reached(app(here("plain")), "files/x", links=links)
    assert reached(app(here("folder")), "plain/config.yaml", links=links)
    assert reached(app(here("folder/deep")), "plain/deep/config.yaml", links=links)
    assert not reached(app(here("envs")), "files/x", links=links)


def test_a_submodule_reaches_what_is_in_it() -> None:
    assert reached(app(here("vendor/charts/web")), "vendor")


def test_overlays_that_refer_to_each_other_end() -> None:
    files = {"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "[../a]\n"}
    change = Change(("b/x",), Tree(files, files.get), "main")
    assert choose([app(here("a"))], change)


def test_a_file_that_is_no_yaml_stops_nobody() -> None:
    files = {"a/kustomization.yaml": "resources: [", "b/Chart.yaml": "- x"}
    one, other = app(here("a")), app(here("b"))
    change = Change(("a/kustomization.yaml",), Tree(files, files.get), "main")
    assert [chosen.application for chosen in choose([one, other], change)] == [one]


@pytest.mark.parametrize(
    ("revision", "branch", "expected"),
    [
        ("main", "main", True),
        ("refs/heads/main", "main", True),
        ("HEAD", "main", True),
        ("release", "main", False),
        ("v1.2.3", "main", False),
        ("v1.2.3", "", True),
        ("4" * 40, "", False),
        ("4" * 40, "main", False),
    ],
)
def test_only_what_may_follow_the_branch_is_reached(
    revision: str, branch: str, expected: bool
) -> None:
    one = app(here("plain", targetRevision=revision))
    assert bool(choose([one], Change(("plain/x",), tree(), branch))) is expected


def test_the_reason_names_the_file_and_what_reads_it() -> None:
    (chosen,) = choose([app(CHART)], Change(("x", "charts/lib/y"), tree(), ""))
    assert chosen.reason == "charts/lib/y changed, it reads charts/lib"
