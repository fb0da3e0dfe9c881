"""From the real Argo CD to an inventory, and to plans of what a commit can reach."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from argo_children import PATIENCE_SECONDS
from argo_repository import (
    SLOW,
    Repository,
    a_repository,
    app_of_apps,
    application,
    application_set,
)
from argo_server import ArgoCd

from foretell.cli.app import run
from foretell.inventory.load import load

Planned = Callable[..., list[dict[str, Any]]]


def temporary(argo_cd: ArgoCd) -> set[str]:
    return {name for name in argo_cd.kubernetes.names("Application") if "-plan-" in name}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = a_repository(tmp_path / "repository")
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture(autouse=True)
def world(
    argo_cd: ArgoCd, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A plain folder, two sources, a set of two and an app of apps with one child."""
    kubernetes = argo_cd.kubernetes
    kubernetes.create(application("config", repository.source("plain")))
    kubernetes.create(application("shop", *repository.chart_with_values()))
    kubernetes.create(application_set("fleet", repository.source("chart"), "eu", "us"))
    child = application("child", repository.source("kustom/eu"))
    kubernetes.create(app_of_apps(repository, "parent", child))
    for name in ("config", "shop", "fleet-eu", "fleet-us", "parent", "child"):
        argo_cd.until_application(name)
    monkeypatch.setenv("ARGOCD_AUTH_TOKEN", argo_cd.tokens["foretell"])
    yield
    for kind in ("ApplicationSet", "Application"):
        for name in kubernetes.names(kind):
            kubernetes.remove(kind, name)


@pytest.fixture
def data_folder() -> Iterator[str]:
    """Where a database of root may be: its own user has to pass through, which pytest's bars."""
    with tempfile.TemporaryDirectory(prefix="foretell-test-") as folder:
        Path(folder).chmod(0o755)
        yield folder


@pytest.fixture
def planned(
    argo_cd: ArgoCd,
    repository: Repository,
    data_folder: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Planned:
    """The targets of the plans of `foretell plan --argocd`, and nothing left behind."""
    structlog.reset_defaults()
    monkeypatch.setenv("FORETELL_DATA_DIR", data_folder)
    monkeypatch.setenv("FORETELL_CACHE_DIR", str(tmp_path / "cache"))

    def plan(*options: str, code: int = 0) -> list[dict[str, Any]]:
        where = ["--argocd", argo_cd.address, "--repo", repository.address]
        capsys.readouterr()
        ended = run(["plan", *where, "--output", "json", *options])
        told = capsys.readouterr()
        assert ended == code, told.err
        assert temporary(argo_cd) == set()
        plans = json.loads(told.out)
        plans = plans if isinstance(plans, list) else [plans]
        return [target for plan in plans for target in plan["targets"]]

    return plan


def test_every_application_becomes_a_target_those_of_sets_and_of_apps_of_apps_too(
    argo_cd: ArgoCd, repository: Repository, tmp_path: Path
) -> None:
    file = tmp_path / "inventory.yaml"
    where = ["--server", argo_cd.address, "--repo", repository.address, "-o", str(file)]
    assert run(["inventory", "import", "argo-cd", *where]) == 0
    assert run(["inventory", "validate", str(file)]) == 0
    found = load([file]).inventory
    assert [one.name for one in found.deployments] == [
        "apps/parent",
        "chart",
        "kustom/eu",
        "plain",
    ]
    made_by = {one.name: one.metadata.get("madeBy", "") for one in found.resources}
    assert made_by == {
        "child": "parent",
        "config": "",
        "fleet-eu": "fleet",
        "fleet-us": "fleet",
        "parent": "",
        "shop": "",
    }


def test_a_commit_that_changes_nothing_changes_no_target(
    repository: Repository, planned: Planned
) -> None:
    targets = planned("--sha", repository.commit(), "--detailed-exitcode")
    assert {target["resourceName"] for target in targets} == {
        "child",
        "config",
        "fleet-eu",
        "fleet-us",
        "parent",
        "shop",
    }
    assert {target["hasChanges"] for target in targets} == {False}


def test_only_what_a_commit_can_reach_is_planned(repository: Repository, planned: Planned) -> None:
    base = repository.commit()
    repository.write("envs/production.yaml", "replicas: 9\n")
    repository.write("README.md", "read me\n")
    (target,) = planned("--sha", repository.commit(), "--base", base, "--into", "main")
    assert target["resourceName"] == "shop"
    assert target["hasChanges"] is True
    assert "replicas: 9" in json.dumps(target)


def test_where_nothing_can_be_reached_nothing_is_planned(
    repository: Repository, planned: Planned
) -> None:
    base = repository.commit()
    repository.write("README.md", "read me\n")
    assert planned("--sha", repository.commit(), "--base", base) == []


def test_a_base_that_is_not_here_is_told_and_everything_planned(
    repository: Repository, planned: Planned
) -> None:
    assert len(planned("--sha", repository.commit(), "--base", "no-such-branch")) == 6


def test_an_interrupted_plan_leaves_nothing_on_the_server(
    argo_cd: ArgoCd, repository: Repository, data_folder: str
) -> None:
    repository.write("chart/templates/slow.yaml", SLOW)
    foretell = Path(sys.executable).with_name("foretell")
    command = [foretell, "plan", "--argocd", argo_cd.address]
    environ = {"FORETELL_DATA_DIR": data_folder, "FORETELL_CACHE_DIR": data_folder}
    planning = subprocess.Popen(
        [*command, "--repo", repository.address, "--sha", repository.commit()],
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        argo_cd.until(lambda: temporary(argo_cd))
        planning.send_signal(signal.SIGINT)
        assert planning.wait(PATIENCE_SECONDS) != 0
    finally:
        planning.kill()
        planning.wait()
    assert temporary(argo_cd) == set()
