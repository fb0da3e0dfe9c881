"""What a comparison may be told. Nothing is hidden unless a rule says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from foretell.formats.kubernetes.identity import GroupKind, Identity
from foretell.formats.yaml import Limits

COMMON_SECRET_NAMES = (
    "*password*", "*passwd*", "*secret*", "*token*", "*api*key*", "*private*key*", "*credential*",
)  # fmt: skip
"""A start for `mask_names`; not used unless somebody asks for it."""

Rendered = str | bytes | Sequence[tuple[str | bytes, str]]
"""One side: a stream, or several with the name of each (a folder's files), for what is said."""


class Tracking(StrEnum):
    """How Argo CD marks what belongs to an Application (`application.resourceTrackingMethod`)."""

    ANNOTATION = "annotation"
    LABEL = "label"
    ANNOTATION_AND_LABEL = "annotation+label"


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """Differences that are not to count, for the objects that the globs select.

    `pointers` are JSON pointers (RFC 6901) in which `*` stands for any one step; `names` are
    field names at any depth; `edit` returns the object without what it ignores (a jq program in a
    child, say) and must not change its argument.
    """

    pointers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    edit: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    group: str = "*"
    kind: str = "*"
    namespace: str = "*"
    name: str = "*"

    def selects(self, identity: Identity) -> bool:
        """Whether the rule is about this object."""
        globs = (self.group, self.kind, self.namespace, self.name)
        return all(fnmatchcase(part, glob) for part, glob in zip(identity, globs, strict=True))


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """All off by default.

    `current_again` and `proposed_again` are second renders of the same input: what differs between
    two such renders is no change. `live`: the current side was read from a cluster, so status,
    server-owned fields and server defaults are left out. `quantity_paths` names, by (group, kind),
    JSON pointers of custom resources that hold resource quantities. `tracking_names` narrows the
    label method to the given Application names. `mask_names` are globs, any case, for keys of
    ConfigMaps and names of environment variables whose values are to be masked. `current_source`
    and `proposed_source` name a side that is one stream without a name.
    """

    default_namespace: str = ""
    cluster_scoped: frozenset[GroupKind] = frozenset()
    ignore: tuple[IgnoreRule, ...] = ()
    mask_names: tuple[str, ...] = ()
    current_again: Rendered | None = None
    proposed_again: Rendered | None = None
    quantity_paths: Mapping[GroupKind, tuple[str, ...]] = field(default_factory=dict)
    tracking: Tracking = Tracking.ANNOTATION
    tracking_label: str = "app.kubernetes.io/instance"
    tracking_names: frozenset[str] = frozenset()
    live: bool = False
    context: int = 3
    current_source: str = "the current side"
    proposed_source: str = "the proposed side"
    limits: Limits = field(default_factory=Limits)
