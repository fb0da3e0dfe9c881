"""Which object is it? Group, kind, namespace and name; the version is content.

A changed group is another object (the old one stays until something deletes it), a changed
version is the same object asked for in another form.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foretell.domain.result import object_title

GroupKind = tuple[str, str]


class Identity(NamedTuple):
    """Orders by group, kind, namespace, name."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def title(self) -> str:
        """What people call the object."""
        return object_title(self.kind, self.namespace, self.name)


CLUSTER_SCOPED: frozenset[GroupKind] = frozenset(
    (group, kind)
    for group, kinds in {
        "": "Namespace Node PersistentVolume ComponentStatus",
        "admissionregistration.k8s.io": "MutatingWebhookConfiguration"
        " ValidatingWebhookConfiguration ValidatingAdmissionPolicy MutatingAdmissionPolicy"
        " ValidatingAdmissionPolicyBinding MutatingAdmissionPolicyBinding",
        "apiextensions.k8s.io": "CustomResourceDefinition",
        "apiregistration.k8s.io": "APIService",
        "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
        "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
        "networking.k8s.io": "IngressClass IPAddress ServiceCIDR",
        "node.k8s.io": "RuntimeClass",
        "policy": "PodSecurityPolicy",
        "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
        "resource.k8s.io": "DeviceClass ResourceSlice",
        "scheduling.k8s.io": "PriorityClass",
        "cert-manager.io": "ClusterIssuer",
        "external-secrets.io": "ClusterSecretStore ClusterExternalSecret",
        "gateway.networking.k8s.io": "GatewayClass",
        "karpenter.sh": "NodePool NodeClaim",
        "kyverno.io": "ClusterPolicy",
        "snapshot.storage.k8s.io": "VolumeSnapshotClass VolumeSnapshotContent",
        "storage.k8s.io": "StorageClass CSIDriver CSINode VolumeAttachment VolumeAttributesClass",
    }.items()
    for kind in kinds.split()
)
"""Kinds without a namespace: those of Kubernetes' own API (`kubectl api-resources
--namespaced=false`) and custom ones that many clusters have; others are learnt from their CRDs."""


def group_of(api_version: str) -> str:
    """`apps` of `apps/v1`; the core group is ""."""
    group, slash, _ = api_version.rpartition("/")
    return group if slash else ""


def scopes(values: Sequence[Mapping[str, Any]]) -> frozenset[GroupKind]:
    """Cluster-scoped kinds that the CustomResourceDefinitions among `values` define."""
    found = set()
    for value in values:
        if value.get("kind") != "CustomResourceDefinition":
            continue
        match value.get("spec"):
            case {"scope": "Cluster", "group": str(group), "names": {"kind": str(kind)}}:
                found.add((group, kind))
            case _:
                pass
    return frozenset(found)
