"""The Application that a template makes, and what of an Application decides what it renders."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from foretell.agents.argocd.config import NAME
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.formats.argo_inventory.repository import same_repository
from foretell.formats.yaml import load_documents

API_VERSION = "argoproj.io/v1alpha1"
RENDERED_FROM = ("destination", "ignoreDifferences", "project", "source", "sources")
"""Of `spec`; nothing else of it decides what is rendered."""


@dataclass(frozen=True, slots=True)
class Desired:
    """A wanted Application. `namespace` "" is the server's own."""

    name: str
    namespace: str
    spec: JsonMap = field(repr=False)
    document: JsonMap = field(repr=False)

    @property
    def project(self) -> str:
        """Its AppProject."""
        return str(self.spec.get("project") or "default")


def read_template(template: Any) -> Desired:
    """The Application in a rendered `template`. Raises AgentRejected that names the field."""
    document = _document(template)
    kind, version = document.get("kind"), str(document.get("apiVersion"))
    if kind != "Application" or not version.startswith("argoproj.io/"):
        raise _wrong("", f"expected kind Application of {API_VERSION}, found {kind} of {version}")
    metadata, spec = document.get("metadata"), document.get("spec")
    if not isinstance(metadata, Mapping):
        raise _wrong("metadata", "expected a map")
    name = metadata.get("name")
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise _wrong("metadata.name", "expected at most 253 of a-z, 0-9, '-' and '.'")
    if not isinstance(spec, Mapping):
        raise _wrong("spec", "expected a map")
    return Desired(name, str(metadata.get("namespace") or ""), _checked(dict(spec)), document)


def is_multi(spec: Mapping[str, Any]) -> bool:
    """Whether `sources` counts; Argo CD then does not look at `source`."""
    return bool(spec.get("sources"))


def sources_of(spec: Mapping[str, Any]) -> list[JsonMap]:
    """The sources that are rendered, in their order. Raises AgentRejected where there is none."""
    if is_multi(spec):
        return list(spec["sources"])
    if not spec.get("source"):
        hydrated = " but a sourceHydrator, which is not planned" if "sourceHydrator" in spec else ""
        raise AgentRejected(f"the Application has no source{hydrated}")
    return [spec["source"]]


def with_sources(spec: JsonMap, sources: list[JsonMap]) -> JsonMap:
    """`spec` with others in place of its sources, as many as it has."""
    return {**spec, "sources": sources} if is_multi(spec) else {**spec, "source": sources[0]}


def at_commit(wanted: Desired, repository: str, commit: str) -> Desired:
    """What renders at `commit` what is in `repository`; the document stays as it is asked for."""
    sources = [
        {**source, "targetRevision": commit}
        if "chart" not in source and same_repository(repository, source["repoURL"])
        else source
        for source in sources_of(wanted.spec)
    ]
    return replace(wanted, spec=with_sources(wanted.spec, sources))


def synced_revisions(application: Application) -> list[str] | None:
    """The revision of each source that was last synced, where that is what is wanted now.

    None where the Application is not synced, or where its sources were edited since.
    """
    sync, spec = application.status.sync, application.spec
    sources = sources_of(spec)
    found = list(sync.revisions) if is_multi(spec) else [sync.revision]
    if sync.status != "Synced" or len(found) != len(sources) or not all(found):
        return None
    return None if _is_edited(sync.compared_to, spec) else found


def _is_edited(compared: JsonMap, spec: JsonMap) -> bool:
    """An old server does not say what it compared with."""
    key = "sources" if is_multi(spec) else "source"
    return key in compared and compared[key] != spec[key]


def _document(template: Any) -> JsonMap:
    if isinstance(template, Mapping):
        return dict(template)
    try:
        documents = load_documents(str(template), source="template")
    except InvalidRequest as error:
        raise _wrong("", str(error)) from error
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise _wrong("", "expected one Application")
    value: JsonMap = documents[0].value
    return value


def _checked(spec: JsonMap) -> JsonMap:
    if not isinstance(spec.get("destination"), Mapping):
        raise _wrong("spec.destination", "expected a map")
    sources = spec.get("sources") or ([spec["source"]] if spec.get("source") else [])
    if not sources or not isinstance(sources, list):
        hydrated = " (sourceHydrator is not planned)" if "sourceHydrator" in spec else ""
        raise _wrong("spec", f"expected source, or a list of sources{hydrated}")
    for place, source in enumerate(sources, 1):
        if not isinstance(source, Mapping) or not isinstance(source.get("repoURL"), str):
            raise _wrong("spec", f"source #{place} has no repoURL")
    return spec


def _wrong(place: str, problem: str) -> AgentRejected:
    return AgentRejected(
        f"the template makes no Application: {f'{place}: ' if place else ''}{problem}"
    )


def is_same_but_for_revisions(one: JsonMap, other: JsonMap) -> bool:
    """Whether both render the same, each at its own revision."""
    return bool(_without_revisions(one) == _without_revisions(other))


def _without_revisions(spec: JsonMap) -> Any:
    kept = {key: spec[key] for key in RENDERED_FROM if key in spec}
    sources = [
        {key: value for key, value in source.items() if key != "targetRevision"}
        for source in sources_of(spec)
    ]
    return normalised({**with_sources(kept, sources), "project": spec.get("project") or "default"})


_KEEP_FALSE = frozenset({"enabled"})
"""A pointer in Go's types: false is not the same as nothing."""
_CONTENT = frozenset({"valuesObject"})


def normalised(value: Any) -> Any:
    """As the server writes it back: Go leaves out of its types what is empty, zero or false."""
    if isinstance(value, Mapping):
        items = {key: item if key in _CONTENT else normalised(item) for key, item in value.items()}
        return {
            key: item for key, item in items.items() if key in _KEEP_FALSE or not _is_nothing(item)
        }
    return [normalised(item) for item in value] if isinstance(value, list) else value


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or value == "" or value == []
