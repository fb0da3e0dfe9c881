"""Repositories of the fake: commits of folders, each with something that renders objects."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from foretell.formats.yaml import load_documents
from foretell.kit.process import Limits, run

Objects = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RenderInputs:
    """What the renderer is told. `name` is Helm's release, `app_name` the Application's.

    `values` are the source's `valuesObject`, `values` and `parameters`, put together.
    """

    name: str
    app_name: str
    namespace: str
    revision: str
    source: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Directory:
    """Plain manifests."""

    objects: Objects
    type = "Directory"

    async def render(self, inputs: RenderInputs) -> Objects:
        """As they are."""
        return self.objects


@dataclass(frozen=True, slots=True)
class _Made:
    """Rendered by a function, in place of a program."""

    make: Callable[[RenderInputs], Objects]

    async def render(self, inputs: RenderInputs) -> Objects:
        """What the function makes of it."""
        return self.make(inputs)


@dataclass(frozen=True, slots=True)
class Chart(_Made):
    """Helm's: the function sees the release's name, as templates would."""

    type = "Helm"


@dataclass(frozen=True, slots=True)
class Kustomization(_Made):
    """Kustomize's."""

    type = "Kustomize"


@dataclass(frozen=True, slots=True)
class Plugin(_Made):
    """A config management plug-in's: it sees `ARGOCD_APP_NAME`."""

    type = "Plugin"


@dataclass(frozen=True, slots=True)
class HelmFolder:
    """A chart in a folder, rendered by the real program."""

    helm: Path
    folder: Path
    type = "Helm"

    async def render(self, inputs: RenderInputs) -> Objects:
        """Raises ValueError with what helm said."""
        with tempfile.TemporaryDirectory(prefix="foretell-fake-argocd-") as folder:
            values = Path(folder) / "values.json"
            values.write_text(json.dumps(inputs.values))
            argv = [str(self.helm), "template", inputs.name, str(self.folder), "--include-crds"]
            argv += [f"--namespace={inputs.namespace}", f"--values={values}"]
            limits = Limits(timedelta(minutes=1), 1024**3, 20 * 1024**2, network=False)
            done = await run(argv, limits=limits, env={"HOME": folder})
        if done.returncode != 0:
            raise ValueError(done.stderr.decode("utf-8", "replace"))
        documents = load_documents(done.stdout, source="helm")
        return [document.value for document in documents if document.value]


Content = Directory | Chart | Kustomization | Plugin | HelmFolder


class Repository:
    """Branches of commits; a chart repository's versions are branches that never move."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._branches: dict[str, str] = {}
        self._commits: dict[str, Mapping[str, Content]] = {}

    def commit(self, branch: str, content: Mapping[str, Content]) -> str:
        """A new commit on top of the branch, with these folders; returns its full hash."""
        seed = f"{self.url}\0{branch}\0{len(self._commits)}"
        sha = hashlib.sha1(seed.encode(), usedforsecurity=False).hexdigest()
        self._commits[sha] = content
        self._branches[branch] = sha
        return sha

    def release(self, version: str, content: Mapping[str, Content]) -> str:
        """A chart's version: it is its own revision."""
        self._commits[version] = content
        return version

    def resolve(self, revision: str) -> str:
        """The commit that a revision means. Raises ValueError where there is none."""
        wanted = revision or "HEAD"
        if wanted == "HEAD":
            wanted = next(iter(self._branches), "")
        found = self._branches.get(wanted, wanted)
        if found not in self._commits:
            raise ValueError(f"unable to resolve '{revision}' to a commit SHA")
        return found

    def content(self, revision: str, path: str) -> Content:
        """What is in the folder at that commit. Raises ValueError where there is no such folder."""
        commit = self._commits[revision]
        if path not in commit:
            raise ValueError(f"{path}: app path does not exist")
        return commit[path]


def as_values(source: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    """What a Helm source says of values; parameters by top key only, as our tests need."""
    helm = source.get("helm") or {}
    values: dict[str, Any] = {}
    if text := helm.get("values"):
        values |= load_documents(text, source="helm.values")[0].value
    values |= helm.get("valuesObject") or {}
    for parameter in helm.get("parameters") or ():
        values[parameter["name"]] = expanded(str(parameter.get("value", "")), variables)
    return values


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """`$NAME` and `${NAME}` in place, longest name first."""
    for name in sorted(variables, key=len, reverse=True):
        text = text.replace(f"${{{name}}}", variables[name]).replace(f"${name}", variables[name])
    return text
