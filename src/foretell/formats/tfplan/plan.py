"""A parsed plan. No `repr` here shows a value: whatever is logged by accident stays harmless."""

from dataclasses import dataclass
from typing import Any, Final

Json = Any

NO_OP: Final = ("no-op",)
REPLACE: Final = frozenset({("delete", "create"), ("create", "delete")})
FORGET_AND_CREATE: Final = frozenset({("create", "forget"), ("forget", "create")})
"""A new object while the old one lives on: Terraform and OpenTofu write the pair differently."""
ONE_STEP: Final = frozenset({("create",), ("update",), ("delete",), ("read",), ("forget",)})
_EPHEMERAL_STEPS: Final = frozenset({("open",), ("renew",), ("close",)})


@dataclass(frozen=True, slots=True, repr=False)
class Change:
    """One entry of `resource_changes` or `resource_drift`, or one output (`mode` "output")."""

    address: str
    actions: tuple[str, ...]
    mode: str = "managed"
    type: str = ""
    name: str = ""
    before: Json = None
    after: Json = None
    after_unknown: Json = None
    before_sensitive: Json = None
    after_sensitive: Json = None
    deposed: str = ""
    previous_address: str = ""
    importing: Json = None
    replace_paths: tuple[tuple[Json, ...], ...] = ()
    reason: str = ""

    def __repr__(self) -> str:
        return f"Change({self.type or self.mode}, {'+'.join(self.actions)})"

    @property
    def is_no_op(self) -> bool:
        return not self.actions or self.actions == NO_OP

    @property
    def is_replace(self) -> bool:
        return self.actions in REPLACE

    @property
    def is_known(self) -> bool:
        """Whether this version of ours knows what the actions mean."""
        known = {NO_OP} | ONE_STEP | REPLACE | FORGET_AND_CREATE
        return self.actions in known or self.is_ephemeral

    @property
    def is_ephemeral(self) -> bool:
        return self.mode == "ephemeral" and self.actions in _EPHEMERAL_STEPS

    @property
    def is_moved(self) -> bool:
        return bool(self.previous_address)

    @property
    def is_imported(self) -> bool:
        return self.importing is not None

    @property
    def is_destructive(self) -> bool:
        """Ends the life of a real object; a data source has none."""
        return self.mode != "data" and "delete" in self.actions

    @property
    def acts(self) -> bool:
        """Whether applying it does anything: also a mere move or import."""
        return not self.is_no_op or self.is_moved or self.is_imported


@dataclass(frozen=True, slots=True, repr=False)
class Deferred:
    """A change that Terraform put off to a later plan; `reason` is a word of its own."""

    reason: str
    change: Change


@dataclass(frozen=True, slots=True, repr=False)
class Invocation:
    """A provider action that the apply would invoke (Terraform 1.14)."""

    address: str
    type: str
    effect: Json
    """The whole entry: an action has no before and after to compare."""


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """One failing or erring `check`, condition or validation."""

    address: str
    status: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """`applyable`, `complete` and `errored` are None where the program does not say (OpenTofu,
    older Terraform): absent is not false. `partial_form` is the redacted form of Terraform Cloud,
    which proves less and cannot be hashed."""

    format_version: str
    program_version: str
    changes: tuple[Change, ...]
    outputs: tuple[Change, ...]
    drift: tuple[Change, ...]
    deferred: tuple[Deferred, ...]
    deferred_invocations: tuple[Invocation, ...]
    invocations: tuple[Invocation, ...]
    checks: tuple[Check, ...]
    applyable: bool | None
    complete: bool | None
    errored: bool | None
    document: dict[str, Json]
    partial_form: bool = False
    redacted: bool = False

    def __repr__(self) -> str:
        return f"Plan(format {self.format_version}, {len(self.changes)} changes)"
