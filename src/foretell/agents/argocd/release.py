"""The name under which a source renders: the original's, whatever the temporary one is called.

Helm's release is called like the Application unless it has a `releaseName`, and Argo CD puts the
Application's name in place of `$ARGOCD_APP_NAME` in the parameters of sources. In a copy under
another name both have to be written down.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foretell.agents.argocd.application import sources_of
from foretell.agents.argocd.documents import Application, JsonMap

HELM, PLUGIN = "Helm", "Plugin"
_EXPLICIT = {"helm": HELM, "kustomize": "Kustomize", "directory": "Directory", "plugin": PLUGIN}
_NO_MANIFESTS = "Ref"


def evident_type(source: Mapping[str, Any]) -> str:
    """The type that a source says itself, "" where only the server knows."""
    if source.get("chart"):
        return HELM
    for field, type in _EXPLICIT.items():
        if source.get(field) is not None:
            return type
    return _NO_MANIFESTS if source.get("ref") and not source.get("path") else ""


def known_type(source: Mapping[str, Any], place: int, original: Application | None) -> str:
    """As `evident_type`, or else as the original's source with the same folder was found to be."""
    if found := evident_type(source):
        return found
    types = _types(original) if original else []
    if original is None or not types:
        return ""
    pairs = list(zip(sources_of(original.spec), types, strict=True))
    for theirs, type in pairs[place : place + 1] + pairs:
        if _folder(theirs) == _folder(source):
            return type
    return ""


def _types(application: Application) -> list[str]:
    """Of each source; nothing where the server did not look at all of them yet."""
    status, count = application.status, len(sources_of(application.spec))
    types = list(status.source_types) or [status.source_type]
    return types if len(types) == count and all(types) else []


def _folder(source: Mapping[str, Any]) -> tuple[Any, ...]:
    return source.get("repoURL"), source.get("path") or ""


@dataclass(frozen=True, slots=True)
class Names:
    """What Argo CD would put in place of these two build variables for the original."""

    application: str
    project: str

    def written(self, text: str) -> str:
        """`text` with both in place."""
        values = {"NAME": self.application, "PROJECT_NAME": self.project}
        return _VARIABLE.sub(lambda match: values[match[1] or match[2]], text)


# Only where Argo CD looks for variables (reposerver/repository, util/kustomize): elsewhere the same
# text is content.
_SUBSTITUTED = (
    "helm.parameters.*.value",
    "helm.fileParameters.*.path",
    "helm.valueFiles.*",
    "kustomize.images.*",
    "kustomize.commonLabels.*",
    "directory.jsonnet.tlas.*.value",
    "directory.jsonnet.extVars.*.value",
)
_ANNOTATIONS = ("kustomize.commonAnnotations.*",)
_VARIABLE = re.compile(
    r"\$(?:ARGOCD_APP_(PROJECT_NAME|NAME)(?![A-Za-z0-9_])|\{ARGOCD_APP_(PROJECT_NAME|NAME)\})"
)


def under_name(
    sources: Sequence[JsonMap], types: Sequence[str], release: str, names: Names
) -> list[JsonMap]:
    """The sources so that they render as the original's, whatever Application they are part of."""
    return [
        _named(_released(source, release) if type == HELM else source, names)
        for source, type in zip(sources, types, strict=True)
    ]


def _released(source: JsonMap, release: str) -> JsonMap:
    helm = source.get("helm") or {}
    if helm.get("releaseName"):
        return source
    return {**source, "helm": {**helm, "releaseName": release}}


def _named(source: JsonMap, names: Names) -> JsonMap:
    annotated = (source.get("kustomize") or {}).get("commonAnnotationsEnvsubst")
    changed: Any = source
    for path in (*_SUBSTITUTED, *(_ANNOTATIONS if annotated else ())):
        changed = _changed(changed, path.split("."), names.written)
    found: JsonMap = changed
    return found


def _changed(value: Any, path: Sequence[str], change: Callable[[str], str]) -> Any:
    """`value` with the text at the path changed; `*` is every item of a list or a map."""
    if not path:
        return change(value) if isinstance(value, str) else value
    head, *rest = path
    if isinstance(value, list) and head == "*":
        return [_changed(item, rest, change) for item in value]
    if isinstance(value, dict):
        hit = value if head == "*" else [head] if head in value else []
        return {**value, **{key: _changed(value[key], rest, change) for key in hit}}
    return value
