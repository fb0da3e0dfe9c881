"""What an inventory and the choice of targets need of an Application.

Source: `v1alpha1Application` in `assets/swagger.json` of argoproj/argo-cd.
"""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foretell.domain.plan import JsonObject
from foretell.formats.argo_inventory.repository import same_repository

PLAN_LABEL = "ctrlplane.dev/plan"
"""Of temporary Applications, which nobody plans (RFC 0004, "ArgoCD")."""
GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_OURS_TO_DROP = ("kubectl.kubernetes.io/last-applied-configuration", "argocd.argoproj.io/refresh")


@dataclass(frozen=True, slots=True)
class Source:
    """One source of an Application; `fields` are those of its `v1alpha1ApplicationSource`."""

    fields: JsonObject
    is_here: bool
    """Whether it is read from the repository that is asked about."""

    @property
    def path(self) -> str:
        """Its folder, "" for the root of the repository."""
        return clean(str(self.fields.get("path") or ""))

    @property
    def renders(self) -> bool:
        """A source that is only a `ref` gives others its files and renders nothing."""
        return bool(self.fields.get("path") or self.fields.get("chart"))

    @property
    def ref(self) -> str:
        """What value files of other sources call it: `$ref/…`."""
        return str(self.fields.get("ref") or "")

    @property
    def revision(self) -> str:
        """The branch, tag or commit it follows; "HEAD" is the default branch."""
        return str(self.fields.get("targetRevision") or "HEAD")

    def part(self, name: str) -> JsonObject:
        """`helm`, `kustomize`, `directory` or `plugin`; empty where it has none."""
        found = self.fields.get(name)
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Application:
    """An Application of a server, as far as an inventory needs it."""

    name: str
    namespace: str
    spec: JsonObject
    sources: tuple[Source, ...]
    types: tuple[str, ...] = ()
    """What the server took each source for (`Helm`, `Plugin`, …), as far as it said."""
    labels: JsonObject = field(default_factory=dict)
    annotations: JsonObject = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    made_by: str = ""
    """The ApplicationSet that owns it, or the Application that it is tracked by; "" for none."""

    @property
    def project(self) -> str:
        """Its AppProject."""
        return str(self.spec.get("project") or "default")

    @property
    def here(self) -> tuple[Source, ...]:
        """Its sources in the repository that is asked about."""
        return tuple(source for source in self.sources if source.is_here)

    @property
    def path(self) -> str:
        """What it is filed under: the first folder of the repository that it renders.

        One that takes only values from there is filed under the folder of its first value file.
        """
        for source in self.here:
            if source.fields.get("path"):
                return source.path or "."
        return next((posixpath.dirname(each) or "." for each in self._values_here()), ".")

    def _values_here(self) -> list[str]:
        refs = {f"${source.ref}/": source for source in self.here if source.ref}
        return [
            clean(text.removeprefix(prefix))
            for source in self.sources
            for text in map(str, source.part("helm").get("valueFiles") or ())
            for prefix in refs
            if text.startswith(prefix)
        ]


def read_application(
    metadata: JsonObject, spec: JsonObject, repository: str, types: tuple[str, ...] = ()
) -> Application | None:
    """The Application if a source of it is in `repository`; None if not, or if it is temporary.

    `metadata`, `spec` and `types` (`status.sourceTypes`, or the one `status.sourceType`) are those
    of the server's answer; what is no text or map counts as absent.
    """
    labels, annotations = _texts(metadata.get("labels")), _texts(metadata.get("annotations"))
    if PLAN_LABEL in labels:
        return None
    sources = tuple(
        Source(each, same_repository(repository, str(each.get("repoURL") or "")))
        for each in _sources(spec)
    )
    if not any(source.is_here for source in sources):
        return None
    return Application(
        name=str(metadata.get("name") or ""),
        namespace=str(metadata.get("namespace") or ""),
        spec=spec,
        sources=sources,
        types=types,
        labels=labels,
        annotations={k: v for k, v in annotations.items() if k not in _OURS_TO_DROP},
        finalizers=tuple(map(str, metadata.get("finalizers") or ())),
        made_by=_owner(metadata, annotations),
    )


def _sources(spec: JsonObject) -> list[JsonObject]:
    """`sources` wins over `source`, as in Argo CD; a hydrated one is read where it is dry."""
    several = spec.get("sources")
    if isinstance(several, list) and several:
        return [each for each in several if isinstance(each, Mapping)]
    hydrator = spec.get("sourceHydrator")
    one = hydrator.get("drySource") if isinstance(hydrator, Mapping) else spec.get("source")
    return [one] if isinstance(one, Mapping) else []


def _owner(metadata: JsonObject, annotations: JsonObject) -> str:
    for owner in metadata.get("ownerReferences") or ():
        if isinstance(owner, Mapping) and owner.get("kind") == "ApplicationSet":
            return str(owner.get("name") or "")
    return str(annotations.get("argocd.argoproj.io/tracking-id") or "").partition(":")[0]


def _texts(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, Mapping) else {}


def clean(path: str) -> str:
    """A path from the repository's root, "" for the root; what leads out of it stays so (`..`)."""
    plain = posixpath.normpath(path.strip().lstrip("/") or ".")
    return "" if plain == "." else plain
