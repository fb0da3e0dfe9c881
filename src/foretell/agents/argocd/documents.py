"""What Argo CD answers, as far as plans need it: small typed values, everything else ignored.

Source: `assets/swagger.json` of argoproj/argo-cd. Go leaves out or writes null what is empty; both
are read as the default here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

JsonMap = dict[str, Any]


class Document(BaseModel):
    """A value read from the server's JSON. Unknown fields are ignored: servers differ in age."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {key: value for key, value in data.items() if value is not None}


class Owner(Document):
    """Who made an object: an ApplicationSet, for one."""

    kind: str = ""
    name: str = ""


class Metadata(Document):
    """`v1ObjectMeta`."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[Owner, ...] = ()
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None


class Condition(Document):
    """`v1alpha1ApplicationCondition`; types that end in `Error` say that something is wrong."""

    type: str = ""
    message: str = ""

    @property
    def is_error(self) -> bool:
        """`ComparisonError`, `InvalidSpecError`, `UnknownError`, …"""
        return self.type.endswith("Error")


class Sync(Document):
    """`v1alpha1SyncStatus`: `revision` for one source, `revisions` for several."""

    status: str = ""
    revision: str = ""
    revisions: tuple[str, ...] = ()
    compared_to: JsonMap = {}


class Summary(Document):
    """`v1alpha1ApplicationSummary`."""

    is_app_of_apps: bool = False


class ManagedResource(Document):
    """`v1alpha1ResourceStatus`: an object that the Application renders, as last compared."""

    group: str = ""
    version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""


class Status(Document):
    """`v1alpha1ApplicationStatus`. `source_types` stand in the order of `spec.sources`."""

    sync: Sync = Sync()
    conditions: tuple[Condition, ...] = ()
    source_type: str = ""
    source_types: tuple[str, ...] = ()
    controller_namespace: str = ""
    reconciled_at: datetime | None = None
    summary: Summary = Summary()
    resources: tuple[ManagedResource, ...] = ()


class Application(Document):
    """`v1alpha1Application`. `spec` stays as the server wrote it: any of it may matter."""

    metadata: Metadata = Metadata()
    spec: JsonMap = {}
    status: Status = Status()

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.metadata.name

    @property
    def project(self) -> str:
        """`spec.project`, which is `default` where nobody wrote one."""
        return str(self.spec.get("project") or "default")


class ApplicationSet(Document):
    """`v1alpha1ApplicationSet`."""

    metadata: Metadata = Metadata()
    spec: JsonMap = {}


class Project(Document):
    """`v1alpha1AppProject`."""

    metadata: Metadata = Metadata()
    spec: JsonMap = {}


class Manifests(Document):
    """`repositoryManifestResponse`: each manifest is one object as JSON text.

    `revision` is the commit that was rendered, of the first source where there are several.
    """

    manifests: tuple[str, ...] = Field(default=(), repr=False)
    revision: str = ""
    source_type: str = ""
    namespace: str = ""
    server: str = ""


class Version(Document):
    """`versionVersionMessage`."""

    version: str = Field(default="", alias="Version")


class SourceDetails(Document):
    """`repositoryRepoAppDetailsResponse`: `type` is Helm, Kustomize, Directory or Plugin."""

    type: str = ""
