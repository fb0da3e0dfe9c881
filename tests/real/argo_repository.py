"""A git repository of what Argo CD renders: a plain folder, a chart, kustomize, apps."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from argo_server import IN_CLUSTER

GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test")

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{color: {color}}}\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name | trunc 53 | trimSuffix "-" }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:{{ .Values.tag }}"}]}
"""
SLOW = "{{ range until 4000 }}{{ range until 4000 }}{{ end }}{{ end }}\n"
"""A template of a chart that takes seconds."""
FILES: Mapping[str, str] = {
    "plain/config.yaml": CONFIG.format(name="plain", color="blue"),
    "chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "chart/values.yaml": "replicas: 1\ntag: v1\n",
    "chart/templates/deployment.yaml": DEPLOYMENT,
    "kustom/base/config.yaml": CONFIG.format(name="kustom", color="blue"),
    "kustom/base/kustomization.yaml": "resources: [config.yaml]\n",
    "kustom/eu/kustomization.yaml": "resources: [../base]\nnamePrefix: eu-\n",
    "envs/production.yaml": "replicas: 3\n",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder under git; `address` is what Argo CD clones."""

    folder: Path

    @property
    def address(self) -> str:
        return f"file://{self.folder}"

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def commit(self) -> str:
        """The sha of everything that is in the folder now."""
        for command in (("add", "--all"), ("commit", "--quiet", "--allow-empty", "-m", "next")):
            subprocess.run([*GIT, *command], cwd=self.folder, check=True, capture_output=True)
        told = subprocess.run(
            [*GIT, "rev-parse", "HEAD"], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return told.stdout.strip()

    def source(self, path: str, **more: Any) -> dict[str, Any]:
        return {"repoURL": self.address, "path": path, "targetRevision": "main", **more}

    def chart_with_values(self) -> list[dict[str, Any]]:
        """Two sources: the chart, with values of the other one."""
        helm = {"valueFiles": ["$values/envs/production.yaml"]}
        values = {"repoURL": self.address, "targetRevision": "main", "ref": "values"}
        return [self.source("chart", helm=helm), values]


def a_repository(folder: Path) -> Repository:
    """A new repository with `FILES`, committed on the branch main."""
    folder.mkdir()
    subprocess.run([*GIT, "init", "--quiet", "-b", "main"], cwd=folder, check=True)
    repository = Repository(folder)
    for name, content in FILES.items():
        repository.write(name, content)
    repository.commit()
    return repository


def application(name: str, *sources: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    """An Application of the default project, of one source or of several."""
    what = {"source": sources[0]} if len(sources) == 1 else {"sources": list(sources)}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "project": "default",
            "destination": {"server": IN_CLUSTER, "namespace": "default"},
            **what,
            **spec,
        },
    }


def app_of_apps(repository: Repository, name: str, *children: Mapping[str, Any]) -> dict[str, Any]:
    """An Application that makes the `children`, which are written as files of the repository."""
    for child in children:
        file = f"apps/{name}/{child['metadata']['name']}.yaml"
        repository.write(file, yaml.safe_dump(dict(child)))
    repository.commit()
    return application(name, repository.source(f"apps/{name}"), syncPolicy={"automated": {}})


def application_set(name: str, source: Mapping[str, Any], *regions: str) -> dict[str, Any]:
    """One Application `NAME-REGION` for each region, with the region as its Helm value `tag`."""
    made = application(f"{name}-{{{{.region}}}}", source)
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "goTemplate": True,
            "generators": [{"list": {"elements": [{"region": region} for region in regions]}}],
            "template": {"metadata": {"name": made["metadata"]["name"]}, "spec": made["spec"]},
        },
    }


def project(name: str, repository: Repository) -> dict[str, Any]:
    """An AppProject that permits everything of `repository`, into any cluster."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "AppProject",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {
            "sourceRepos": [repository.address],
            "destinations": [{"server": "*", "namespace": "*"}],
        },
    }
