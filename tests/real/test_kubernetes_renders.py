"""The chart that `helm create` makes, with what makes charts hard: random values, hashes, hooks."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from foretell.domain.result import Action
from foretell.formats.kubernetes import CompareOptions, compare

EXTRA = """\
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "shop.fullname" . }}
  annotations: {"helm.sh/resource-policy": keep}
stringData:
  random: {{ randAlphaNum 12 | quote }}
  given: {{ .Values.given | default "s3cr3t" | quote }}
---
# a document of comments only
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-{{ .Values.given | default "one" | sha256sum | trunc 10 }}
data:
  given: {{ .Values.given | default "one" | quote }}
  script: |
    #!/bin/sh
    exec shop
"""

Render = Callable[..., str]


@pytest.fixture(params=["helm3", "helm4"])
def render(
    request: pytest.FixtureRequest, real_program: Callable[[str], Path], tmp_path: Path
) -> Render:
    helm = str(real_program(request.param))

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [helm, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    run("create", "shop")
    (tmp_path / "shop" / "templates" / "extra.yaml").write_text(EXTRA)
    return lambda *values: run("template", "web", "shop", *(f"--set={value}" for value in values))


def test_a_chart_against_itself_changes_nothing(render: Render) -> None:
    result = compare(render(), render(), CompareOptions(current_again=render()))
    assert result.has_changes is False
    assert result.warnings == ("1 field differs on each render",)


def test_another_chart_version_changes_what_it_changes(render: Render) -> None:
    values = ("given=hunter2", "replicaCount=3")
    options = CompareOptions(current_again=render(), proposed_again=render(*values))
    result = compare(render(), render(*values), options)
    shown = {(one.kind, one.action): one.tags for one in result.changes}
    assert shown.keys() == {
        ("ConfigMap", Action.ADD),
        ("ConfigMap", Action.DELETE),
        ("Deployment", Action.MODIFY),
        ("Secret", Action.MODIFY),
    }
    assert shown["ConfigMap", Action.ADD][0].startswith("renamed from shop-")
    assert shown["Secret", Action.MODIFY] == ("non-deterministic: data.random",)
    secret = next(one for one in result.changes if one.kind == "Secret")
    assert not [text for text in ("s3cr3t", "hunter2") if text in repr(secret)]


def test_a_chart_taken_away_keeps_what_it_says(render: Render) -> None:
    result = compare(render(), "")
    assert (result.kept, result.deletes_everything) == (1, True)
    hooks = [one.name for one in result.changes if one.tags == ("hook: test",)]
    assert hooks == ["web-shop-test-connection"]
