"""Kubernetes manifests: two rendered streams -> the objects that change.

`stream` reads them into objects by `identity` (and `generated` names those without one);
`normalise`, `determinism` and `ignore` put aside what is no change; `pairing` finds renames;
`mask` hides secrets; `changes` shows one object, with `quantity` and `recreate`; `comparison` puts
it together; `answer` makes an agent's answer of it.
"""

from foretell.formats.kubernetes.answer import kind_result, remarks
from foretell.formats.kubernetes.comparison import Comparison, compare
from foretell.formats.kubernetes.identity import Identity
from foretell.formats.kubernetes.mask import mask
from foretell.formats.kubernetes.options import (
    COMMON_SECRET_NAMES,
    CompareOptions,
    IgnoreRule,
    Rendered,
    Tracking,
)
from foretell.formats.kubernetes.stream import Manifest, Stream, read_streams

__all__ = [
    "COMMON_SECRET_NAMES",
    "CompareOptions",
    "Comparison",
    "Identity",
    "IgnoreRule",
    "Manifest",
    "Rendered",
    "Stream",
    "Tracking",
    "compare",
    "kind_result",
    "mask",
    "read_streams",
    "remarks",
]
