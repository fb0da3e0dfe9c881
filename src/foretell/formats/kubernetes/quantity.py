"""`0.5` and `500m`, `1Gi` and `1024Mi`: equal where Kubernetes reads a resource quantity.

Source: `k8s.io/apimachinery/pkg/api/resource/quantity.go`, and the API reference for the fields
that have this type. Anywhere else `0.5` and `500m` are text, and differ.
"""

import re
from decimal import Decimal
from typing import Any

from foretell.formats.kubernetes.identity import GroupKind
from foretell.formats.kubernetes.path import Path, get, pointer_paths, replaced

_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40}))"
    r"(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]{1,3}))?"
)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

_BUILT_IN = frozenset({"", "apps", "batch", "autoscaling", "policy", "node.k8s.io"})
_POD_SPECS = (
    "/spec",
    "/spec/template/spec",
    "/spec/jobTemplate/spec/template/spec",
    "/template/spec",
)
_IN_POD_SPEC = (
    "/containers/*/resources/*/*",
    "/initContainers/*/resources/*/*",
    "/ephemeralContainers/*/resources/*/*",
    "/resources/*/*",
    "/overhead/*",
    "/volumes/*/emptyDir/sizeLimit",
    "/volumes/*/ephemeral/volumeClaimTemplate/spec/resources/*/*",
    "/containers/*/env/*/valueFrom/resourceFieldRef/divisor",
)
_ELSEWHERE: dict[GroupKind, tuple[str, ...]] = {
    ("", "PersistentVolume"): ("/spec/capacity/*",),
    ("", "ResourceQuota"): ("/spec/hard/*",),
    ("", "LimitRange"): ("/spec/limits/*/*/*",),
    ("apps", "StatefulSet"): ("/spec/volumeClaimTemplates/*/spec/resources/*/*",),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        "/spec/metrics/*/*/target/value",
        "/spec/metrics/*/*/target/averageValue",
        "/spec/metrics/*/*/targetValue",  # v2beta1
        "/spec/metrics/*/*/targetAverageValue",
    ),
    ("node.k8s.io", "RuntimeClass"): ("/overhead/podFixed/*",),
}
_POD_POINTERS = tuple(spec + field for spec in _POD_SPECS for field in _IN_POD_SPEC)


def amount(value: Any) -> Decimal | None:
    """The number a quantity stands for; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, binary, decimal, exponent = match.groups()
    if binary:
        return Decimal(number) * Decimal(1024) ** _BINARY[binary]
    return Decimal(number).scaleb(_DECIMAL[decimal] if decimal else int(exponent or 0))


def equalised(before: Any, after: Any, kind: GroupKind, custom: tuple[str, ...] = ()) -> Any:
    """`after` with every quantity written as `before` has it, where they are equal."""
    changes: dict[Path, Any] = {}
    for pointer in (*_pointers(kind), *custom):
        for path in pointer_paths(after, pointer):
            one, other = get(before, path), get(after, path)
            if type(one) is not type(other) or one != other:
                number = amount(one)
                if number is not None and number == amount(other):
                    changes[path] = one
    return replaced(after, changes) if changes else after


def _pointers(kind: GroupKind) -> tuple[str, ...]:
    return (*_POD_POINTERS, *_ELSEWHERE.get(kind, ())) if kind[0] in _BUILT_IN else ()
