"""Who asks, and what a role includes."""

from dataclasses import dataclass

from foretell.domain.errors import Forbidden, NotFound
from foretell.domain.plan import WorkspaceId
from foretell.ports import Role, Workspace

_RANK = (Role.VIEWER, Role.PLANNER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class Caller:
    """A token that was shown and is in force. `workspace_id` None: the instance's own.

    `is_pipeline`: an identity provider vouches for a pipeline, and for nobody in particular.
    """

    token_id: str
    name: str
    role: Role
    workspace_id: WorkspaceId | None
    is_pipeline: bool = False


def includes(role: Role, needed: Role) -> bool:
    """Whether `role` may do what `needed` may: each role includes the one before."""
    return _RANK.index(role) >= _RANK.index(needed)


def check_role(caller: Caller, needed: Role) -> None:
    """Raises Forbidden that names both roles."""
    if not includes(caller.role, needed):
        raise Forbidden(f"this needs the role {needed}; the token has the role {caller.role}")


def check_workspace(caller: Caller, workspace: Workspace | None, ref: str) -> Workspace:
    """The workspace; raises NotFound alike for one that is not there and one of others."""
    hidden = caller.workspace_id is not None and (
        workspace is None or workspace.id != caller.workspace_id
    )
    if workspace is None or hidden:
        raise NotFound(f"there is no workspace {ref!r}")
    return workspace
