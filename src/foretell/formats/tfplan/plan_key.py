"""The key of a target's `p2:` hashes, and the name it is known by.

An operator's own key makes hashes that other programs with the same key can compute; without one
a key is derived for each target, so that equal changes of two targets can't be told to be equal.
"""

from foretell.domain.context import DispatchContext
from foretell.domain.digest import Key, named_key, purpose_key


def plan_key(given: str | None, installation: bytes, context: DispatchContext) -> Key:
    """`given`: the text of `planKey`. Raises InvalidRequest where that is under 32 bytes."""
    if given is not None:
        return named_key(given.encode())
    side = context.side
    target = [str(part["id"]) for part in (side.deployment, side.environment, side.resource)]
    return purpose_key(installation, "plan key", str(context.workspace_id), *target)
