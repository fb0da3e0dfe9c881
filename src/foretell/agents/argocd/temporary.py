"""The temporary Application of RFC 0004: what it is called, and all that it holds.

Made from an allow-list, never by copying: a finalizer would cascade into the objects of the
original, an owner reference would have an ApplicationSet prune it, automated sync would deploy it.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from foretell.agents.argocd.application import API_VERSION, RENDERED_FROM, Desired, with_sources
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.domain.plan import InvocationId

PLAN_LABEL = "ctrlplane.dev/plan"
CREATED_AT = "ctrlplane.dev/plan-created-at"
ORIGINAL = "ctrlplane.dev/plan-original"
INVOCATION = "ctrlplane.dev/plan-invocation"
SELECTOR = f"{PLAN_LABEL}=true"
SKIP_RECONCILE = "argocd.argoproj.io/skip-reconcile"
"""Since Argo CD 2.7: the controller does not compare the copy with the original's live objects,
so that it warns nobody of shared resources. What it renders is asked of the server anyway."""

LONGEST_NAME = 53
"""Helm's limit for a release, which a source is called after that nobody knew to be Helm's; the 63
of a label's value is met by it too."""
_HASH_DIGITS = 8


def temporary_name(original: str, invocation_id: InvocationId, side: str) -> str:
    """`<original>-plan-<8 hex>`, the original cut so that it fits; the same for every retry."""
    parts = f"{invocation_id}\0{original}\0{side}".encode()
    ending = f"-plan-{hashlib.sha256(parts).hexdigest()[:_HASH_DIGITS]}"
    return original[: LONGEST_NAME - len(ending)].rstrip("-.") + ending


def temporary_application(
    name: str,
    original: Desired,
    *,
    sources: Sequence[JsonMap],
    project: str,
    invocation_id: InvocationId,
    created_at: datetime,
) -> JsonMap:
    """The document to create: nothing of it syncs, and deleting it deletes nothing else."""
    spec = {key: original.spec[key] for key in RENDERED_FROM if key in original.spec}
    metadata: JsonMap = {
        "name": name,
        "labels": {PLAN_LABEL: "true"},
        "annotations": {
            CREATED_AT: created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            ORIGINAL: original.name,
            INVOCATION: invocation_id,
            SKIP_RECONCILE: "true",
        },
    }
    if original.namespace:
        metadata["namespace"] = original.namespace
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": metadata,
        "spec": {**with_sources(spec, list(sources)), "project": project},
    }


def invocation_of(application: Application) -> str:
    """Whose temporary Application it is."""
    return application.metadata.annotations.get(INVOCATION, "")


def age(application: Application, now: datetime) -> timedelta | None:
    """How long ago it was made, by its annotation, else by the server; None: nobody says."""
    metadata = application.metadata
    try:
        created_at = datetime.fromisoformat(metadata.annotations.get(CREATED_AT, ""))
    except ValueError:
        made = metadata.creation_timestamp
        return None if made is None else now - made
    return now - (created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC))
