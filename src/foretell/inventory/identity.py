"""The same inventory has the same ids, however often and wherever it is applied."""

from uuid import UUID, uuid5

from foretell.domain.plan import WorkspaceId

_NAMESPACE = UUID("5b2f6d5e-0f5c-5c0e-9a55-3c1f0d1b7a41")


def item_id(workspace: str, kind: str, ref: str) -> str:
    """The id of the `kind` called `ref`; `kind` is a word of `InventoryKind`, which has no "/"."""
    return str(uuid5(_NAMESPACE, f"{workspace}/{kind}/{ref}"))


def workspace_id(slug: str) -> WorkspaceId:
    """The id of the workspace that a file names."""
    return WorkspaceId(str(uuid5(_NAMESPACE, slug)))
