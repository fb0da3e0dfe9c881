"""The key of a target's `p2:` hashes, and the name it is known by.

An operator's own key makes hashes that other programs with the same key can compute; without one
a key is derived for each target, so that equal changes of two targets can't be told to be equal.
"""

import hashlib
import hmac
from typing import Final

from foretell.domain.context import Side
from foretell.domain.digest import derived_key
from foretell.domain.plan import WorkspaceId
from foretell.formats.tfplan.result import Key

_ID_DIGITS: Final = 16


def plan_key(given: str | None, installation: bytes, workspace: WorkspaceId, side: Side) -> Key:
    """`given`: the text of `planKey`. The id tells keys apart and nothing of the key itself."""
    if given is not None:
        return _named("given", given.encode())
    target = "/".join(
        [str(workspace), *(str(each["id"]) for each in (side.deployment, side.environment))]
    )
    return _named(
        "derived", derived_key(installation, "plan key", target, str(side.resource["id"]))
    )


def _named(how: str, secret: bytes) -> Key:
    name = hmac.digest(secret, b"foretell plan key id", hashlib.sha256).hex()[:_ID_DIGITS]
    return Key(secret, f"{how}-{name}")
