"""The fake Argo CD with the real helm behind it: what a chart makes of the name it is given."""

import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from foretell.agents.argocd.agent import ArgoCdAgent
from foretell.domain.result import KindResult
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.argocd import ADMIN, FakeArgoCD, HelmFolder, an_application
from foretell.testing.contracts.agent import ask

URL = "https://git.example.test/shop.git"
HELPERS = """\
{{- define "cut" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "cut" . }}
  labels: {app.kubernetes.io/instance: {{ .Release.Name }}}
data: {color: {{ .Values.color | quote }}, namespace: {{ .Release.Namespace }}}
"""


def a_chart(folder: Path, color: str) -> Path:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 1.0.0\n")
    (folder / "values.yaml").write_text(f"color: {color}\n")
    (folder / "templates" / "_helpers.tpl").write_text(HELPERS)
    (folder / "templates" / "config.yaml").write_text(CONFIG_MAP)
    return folder


async def planned(helm: Path, folder: Path, name: str, *colors: str) -> KindResult:
    argocd = FakeArgoCD({"token": ADMIN})
    for branch, color in zip(("main", "head"), colors, strict=True):
        shutil.rmtree(folder / branch, ignore_errors=True)
        content = HelmFolder(helm, a_chart(folder / branch, color))
        argocd.repository(URL).commit(branch, {"chart": content})
    source = {"repoURL": URL, "path": "chart", "targetRevision": "main"}
    await argocd.deploy(an_application(name, source))
    template = an_application(name, {**source, "targetRevision": "head"})
    async with agent_tools(environ={"TOKEN": "token"}) as tools:
        agent = ArgoCdAgent(tools, transport=httpx.ASGITransport(app=argocd.app))
        config = {"serverUrl": "http://argo.test", "apiKey": {"env": "TOKEN"}, "template": template}
        side = a_side(config, tag="head")
        done, _ = await ask(agent, a_context("argo-cd", current=None, proposed=side))
        await agent.close()
    return done.results[0]


@pytest.mark.parametrize("length", [3, 39, 48, 53])
async def test_a_chart_that_did_not_change_has_no_change(
    real_program: Callable[[str], Path], tmp_path: Path, length: int
) -> None:
    result = await planned(real_program("helm3"), tmp_path, "a" * length, "blue", "blue")
    assert result.has_changes is False
    assert "a" * length in result.proposed


async def test_a_value_that_changed_is_all_that_shows(
    real_program: Callable[[str], Path], tmp_path: Path
) -> None:
    result = await planned(real_program("helm3"), tmp_path, "web", "blue", "red")
    (change,) = result.resources
    assert (change.additions, change.deletions) == (1, 1)
    assert "+  color: red" in change.diff
