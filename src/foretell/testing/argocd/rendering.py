"""Sources of an Application -> objects, marked and masked as Argo CD does."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from foretell.testing.argocd.repository import RenderInputs, Repository, as_values

MASK = "++++++++"
"""What Argo CD's API answers for every value of a Secret where it has nothing to compare with."""
TRACKING_ID = "argocd.argoproj.io/tracking-id"
INSTANCE_LABEL = "app.kubernetes.io/instance"


def type_of(source: Mapping[str, Any], repositories: Mapping[str, Repository]) -> str:
    """As `argocd app get` says: by what the source says, else by what is in the folder."""
    if source.get("chart"):
        return "Helm"
    for field in ("helm", "kustomize", "directory", "plugin"):
        if source.get(field) is not None:
            return field.capitalize()
    repository = _repository(source, repositories)
    revision = repository.resolve(source.get("targetRevision", ""))
    return repository.content(revision, source.get("path", "")).type


def commits_of(
    sources: Sequence[Mapping[str, Any]], repositories: Mapping[str, Repository]
) -> list[str]:
    """The commit that each source means now. Raises ValueError where there is none."""
    return [
        _repository(source, repositories).resolve(source.get("targetRevision", ""))
        for source in sources
    ]


async def rendered(
    application: Mapping[str, Any],
    sources: Sequence[Mapping[str, Any]],
    repositories: Mapping[str, Repository],
    *,
    by_label: bool = False,
) -> list[str]:
    """The objects of all sources, each at the commit it names, as JSON texts.

    Raises ValueError for what Argo CD could not render.
    """
    texts = []
    for source in sources:
        commit = source["targetRevision"]
        if source.get("ref") and not (source.get("path") or source.get("chart")):
            continue
        repository = _repository(source, repositories)
        content = repository.content(commit, source.get("chart") or source.get("path", ""))
        for thing in await content.render(_inputs(application, source, commit)):
            marked = _marked(copy.deepcopy(dict(thing)), application, by_label=by_label)
            texts.append(json.dumps(_masked(marked)))
    return texts


def _repository(source: Mapping[str, Any], repositories: Mapping[str, Repository]) -> Repository:
    url = source.get("repoURL", "")
    if url not in repositories:
        raise ValueError(f"repository {url} not found")
    return repositories[url]


def _inputs(application: Mapping[str, Any], source: Mapping[str, Any], commit: str) -> RenderInputs:
    name, spec = application["metadata"]["name"], application["spec"]
    variables = {"ARGOCD_APP_NAME": name, "ARGOCD_APP_PROJECT_NAME": spec["project"]}
    return RenderInputs(
        name=(source.get("helm") or {}).get("releaseName") or name,
        app_name=name,
        namespace=spec["destination"].get("namespace", ""),
        revision=commit,
        source=source,
        values=as_values(source, variables),
    )


def _marked(thing: dict[str, Any], application: Mapping[str, Any], *, by_label: bool) -> Any:
    metadata = thing.setdefault("metadata", {})
    name = application["metadata"]["name"]
    namespace = metadata.get("namespace") or application["spec"]["destination"].get("namespace", "")
    if by_label:
        metadata.setdefault("labels", {})[INSTANCE_LABEL] = name
    else:
        group = thing["apiVersion"].rpartition("/")[0]
        mark = f"{name}:{group}/{thing['kind']}:{namespace}/{metadata.get('name', '')}"
        metadata.setdefault("annotations", {})[TRACKING_ID] = mark
    return thing


def _masked(thing: dict[str, Any]) -> dict[str, Any]:
    if thing.get("kind") != "Secret" or thing.get("apiVersion") != "v1":
        return thing
    keys = {**(thing.get("data") or {}), **(thing.pop("stringData", None) or {})}
    return {**thing, "data": dict.fromkeys(keys, MASK)} if keys else thing
