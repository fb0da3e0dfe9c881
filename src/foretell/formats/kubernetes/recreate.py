"""Fields that an update cannot change: the object must be deleted and made anew.

Source: the update validation of Kubernetes 1.34, `pkg/apis/<group>/validation/validation.go`
(`ValidateDeploymentUpdate`, `ValidateStatefulSetUpdate`, `ValidateServiceUpdate`, …), also told in
the API reference as "immutable" or "cannot be updated".
"""

from typing import Any

from foretell.formats.kubernetes.identity import GroupKind

_PVC = "accessModes selector storageClassName volumeMode volumeName dataSource dataSourceRef"

_IMMUTABLE: dict[GroupKind, tuple[str, ...]] = {
    ("apps", "Deployment"): ("spec.selector",),
    ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "ReplicaSet"): ("spec.selector",),
    ("apps", "StatefulSet"): (
        "spec.selector",
        "spec.serviceName",
        "spec.volumeClaimTemplates",
        "spec.podManagementPolicy",
    ),
    ("batch", "Job"): (
        "spec.template",
        "spec.selector",
        "spec.completions",
        "spec.completionMode",
        "spec.manualSelector",
        "spec.podFailurePolicy",
        "spec.backoffLimitPerIndex",
        "spec.successPolicy",
        "spec.managedBy",
    ),
    ("", "PersistentVolumeClaim"): tuple(f"spec.{name}" for name in _PVC.split()),
    ("", "PersistentVolume"): (
        "spec.volumeMode",
        "spec.csi",
        "spec.nfs",
        "spec.hostPath",
        "spec.local",
        "spec.iscsi",
        "spec.fc",
    ),
    ("", "Secret"): ("type",),
    ("storage.k8s.io", "StorageClass"): (
        "provisioner",
        "parameters",
        "reclaimPolicy",
        "volumeBindingMode",
    ),
    ("storage.k8s.io", "CSIDriver"): ("spec.attachRequired", "spec.volumeLifecycleModes"),
    ("rbac.authorization.k8s.io", "RoleBinding"): ("roleRef",),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ("roleRef",),
    ("scheduling.k8s.io", "PriorityClass"): ("value", "preemptionPolicy"),
    ("networking.k8s.io", "IngressClass"): ("spec.controller",),
    ("node.k8s.io", "RuntimeClass"): ("handler",),
    ("discovery.k8s.io", "EndpointSlice"): ("addressType",),
    ("certificates.k8s.io", "CertificateSigningRequest"): ("spec",),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        "spec.scope",
        "spec.group",
        "spec.names.kind",
        "spec.names.plural",
    ),
}
_ONCE_GIVEN: dict[GroupKind, tuple[str, ...]] = {
    ("", "Service"): ("spec.clusterIP", "spec.clusterIPs"),
}
"""Left out, the server keeps what it has; given, it must be what the server has."""
_MUTABLE_POD_FIELDS = ("activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds")


def recreated_by(kind: GroupKind, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The changed fields (dotted) for which the object must be recreated."""
    fields = [
        field
        for field in _IMMUTABLE.get(kind, ())
        if _at(before, field) != _at(after, field) and not _is_default(before, after, field)
    ]
    fields += [
        field
        for field in _ONCE_GIVEN.get(kind, ())
        if _at(after, field) not in (None, "", _at(before, field)) and not _is_external(before)
    ]
    return fields + _locked(kind, before, after) + _pod(kind, before, after)


def _at(value: Any, field: str) -> Any:
    for step in field.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


_DEFAULTS = {
    "spec.podManagementPolicy": "OrderedReady",
    "spec.completionMode": "NonIndexed",
    "spec.volumeMode": "Filesystem",
    "spec.completions": 1,
    "type": "Opaque",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
    "preemptionPolicy": "PreemptLowerPriority",
    "spec.attachRequired": True,
}


def _is_default(before: dict[str, Any], after: dict[str, Any], field: str) -> bool:
    """Writing out, or no longer writing out, what the server fills in changes nothing."""
    given = [value for value in (_at(before, field), _at(after, field)) if value is not None]
    return len(given) == 1 and given[0] == _DEFAULTS.get(field)


def _is_external(before: dict[str, Any]) -> bool:
    return bool(_at(before, "spec.type") == "ExternalName")


def _locked(kind: GroupKind, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """`immutable: true` on a ConfigMap or Secret cannot be taken back."""
    if kind not in (("", "ConfigMap"), ("", "Secret")) or before.get("immutable") is not True:
        return []
    fields = ("data", "binaryData", "immutable")
    return [field for field in fields if before.get(field) != after.get(field)]


def _pod(kind: GroupKind, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    if kind != ("", "Pod"):
        return []
    return ["spec"] if _fixed_spec(before) != _fixed_spec(after) else []


def _fixed_spec(pod: dict[str, Any]) -> Any:
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return spec
    fixed = {key: item for key, item in spec.items() if key not in _MUTABLE_POD_FIELDS}
    for field in ("containers", "initContainers"):
        items = fixed.get(field)
        if isinstance(items, list):
            fixed[field] = [
                {key: part for key, part in item.items() if key != "image"}
                if isinstance(item, dict)
                else item
                for item in items
            ]
    return fixed
