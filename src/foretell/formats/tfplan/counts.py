"""How much a plan changes: every change in exactly one of the first buckets.

Source: terraform JSON plan `change.actions`; a replacement counts under `replace` only, moves,
imports and forgets besides (terraformplan "Action counting").
"""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Final

from foretell.formats.tfplan.plan import FORGET_AND_CREATE, Change, Plan

_BUCKET: Final = {("create",): "create", ("update",): "update", ("delete",): "delete"}


@dataclass(frozen=True, slots=True)
class Counts:
    """`unknown` counts changes whose actions this version does not know; they may do anything."""

    create: int = 0
    update: int = 0
    replace: int = 0
    delete: int = 0
    import_: int = 0
    move: int = 0
    forget: int = 0
    read: int = 0
    outputs: int = 0
    deferred: int = 0
    actions: int = 0
    unknown: int = 0

    def as_json(self) -> dict[str, int]:
        """By the names of the interface (`import`)."""
        return {name.rstrip("_"): value for name, value in asdict(self).items()}

    @property
    def changes(self) -> int:
        """Everything that an apply would do; reads and deferred changes are not."""
        return sum(self.as_json().values()) - self.read - self.deferred

    @property
    def add(self) -> int:
        """The program's own "to add": a replacement adds one and destroys one."""
        return self.create + self.replace

    @property
    def destroy(self) -> int:
        """The program's own "to destroy"."""
        return self.delete + self.replace


def count(plan: Plan) -> Counts:
    """The counts of a whole plan."""
    found: Counter[str] = Counter()
    for change in plan.changes:
        found.update(_buckets(change))
    for output in plan.outputs:
        if not output.is_no_op:
            found["outputs"] += 1
            found["unknown"] += not output.is_known
    return Counts(
        **found,
        deferred=len(plan.deferred) + len(plan.deferred_invocations),
        actions=len(plan.invocations),
    )


def _buckets(change: Change) -> list[str]:
    beside = [
        *(["move"] if change.is_moved else []),
        *(["import_"] if change.is_imported else []),
        *(["forget"] if "forget" in change.actions else []),
    ]
    return [*_bucket(change), *beside]


def _bucket(change: Change) -> list[str]:
    if not change.is_known:
        return ["unknown"]
    if change.actions == ("read",) or change.is_ephemeral:
        return ["read"]
    if change.mode == "data":
        return []  # it has no object that could be made, changed or destroyed
    if change.is_replace:
        return ["replace"]
    if change.actions in FORGET_AND_CREATE:
        return ["create"]
    return [_BUCKET[change.actions]] if change.actions in _BUCKET else []
