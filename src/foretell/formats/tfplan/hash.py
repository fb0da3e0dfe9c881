"""The `p2:` name of what a plan does (terraformplan "planHash"), keyed.

Keyed, because a plain hash of a six-digit PIN can be searched; over unredacted values, because a
hash of redacted text does not see a changed secret. Neither time, prior state, unchanged
resources nor their order take part: the same change planned twice has one name.
"""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.effect import effect
from foretell.formats.tfplan.plan import Change, Plan

KEY_BYTES: Final = 32
"""The least length of a key."""

EMPTY_HASH: Final = "p2:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The hash of a plan that does nothing."""


def plan_hash(plan: Plan, key: bytes) -> str:
    """`p2:` and 64 hex digits. `InvalidRequest` for a short key (never shown) and for a plan
    whose values are hidden: there is no unkeyed or partial hash."""
    if len(key) < KEY_BYTES:
        raise InvalidRequest(f"the plan key is shorter than {KEY_BYTES} bytes; make a longer one")
    if plan.redacted or plan.partial_form:
        raise InvalidRequest("a redacted plan has no hash: give the full output of `show -json`")
    lines = sorted(line.encode() for line in _lines(plan, key))
    return "p2:" + hashlib.sha256(b"\n".join(lines)).hexdigest()


def bound(plan: Plan) -> Iterator[Change]:
    """The changes that the hash binds: those that act, and outputs that change."""
    yield from (change for change in plan.changes if change.acts)
    yield from (output for output in plan.outputs if not output.is_no_op)


def _lines(plan: Plan, key: bytes) -> Iterator[str]:
    for change in bound(plan):
        mac = hmac.digest(key, effect(change).encode(), "sha256").hex()
        yield f"{change.address}|{','.join(change.actions)}|{mac}"
