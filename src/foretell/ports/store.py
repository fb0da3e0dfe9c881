"""Rows and jobs in one transaction."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from foretell.domain.context import Deployed
from foretell.domain.override import PlanOverride
from foretell.domain.plan import (
    DeploymentId,
    EnvironmentId,
    InvocationId,
    Plan,
    PlanId,
    ResourceId,
    ResultId,
    WorkspaceId,
)
from foretell.domain.result import (
    Done,
    Invocation,
    KindResult,
    Pending,
    Status,
)
from foretell.domain.rollup import TargetState
from foretell.domain.summary import PlanReport
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Inventory,
    Policy,
)
from foretell.domain.verdict import Verdict
from foretell.ports.budget import Budget
from foretell.ports.memory import ReportTx
from foretell.ports.pull_requests import PullRequestTx
from foretell.ports.queue import Job
from foretell.ports.rows import (
    InventoryItem,
    InventoryKind,
    OverrideRecord,
    PlanBasis,
    PlannedTarget,
    PlanUsage,
    Settled,
    Token,
    Workspace,
)


class PlanTx(Protocol):
    """Plans within one transaction. What is enqueued here commits or vanishes with the rows.

    Lists are in a stated order; a settled invocation cannot be overwritten: the writes that
    settle one return False where somebody was faster.
    """

    async def enqueue(self, jobs: Sequence[Job]) -> None: ...

    async def usage(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, since: datetime
    ) -> PlanUsage:
        """How much is asked for; nobody else in the workspace is told before this block ends."""

    async def plan_by_key(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, key: str
    ) -> tuple[Plan, str] | None:
        """The plan made under an idempotency key, and the digest of the body that made it."""

    async def insert_plan(
        self,
        plan: Plan,
        *,
        idempotency_key: str | None = None,
        body_digest: str = "",
        basis: PlanBasis | None = None,
    ) -> None:
        """`basis`: two revisions of an inventory to compare, instead of what is stored.

        Raises Conflict when the idempotency key is taken.
        """

    async def plan(self, plan_id: PlanId, *, lock: bool = False) -> Plan | None:
        """The plan; `lock` holds its row to the end of the transaction."""

    async def plans_under(self, key: str) -> Sequence[Plan]:
        """The plans with this supersedes key that are still in force, oldest first.

        Holds the key to the end of the transaction: of two requests at once, one sees the other.
        """

    async def stop_plan(self, plan: Plan) -> None:
        """Write a failed plan, wake every open invocation to be abandoned, and have it shown.

        Raises IllegalTransition when the plan is no longer computing.
        """

    async def retire_plan(self, plan_id: PlanId, expires_at: datetime) -> None:
        """Let a finished plan that was superseded expire at `expires_at` if that is sooner."""

    async def basis(self, plan: Plan) -> PlanBasis: ...

    async def insert_targets(
        self, plan: Plan, targets: Sequence[PlannedTarget], at: datetime
    ) -> None:
        """Write targets and anchor rows, and set `fanned_out_at`."""

    async def start(self, invocation_id: InvocationId, at: datetime) -> Invocation | None:
        """The invocation to ask now, its first time of asking set and its attempts counted.

        None when there is nothing to ask: it is gone, settled, or answered and waits for rules.
        As the first statement of its block it is committed at once: asking is never undone.
        """

    async def save_pending(self, invocation_id: InvocationId, pending: Pending) -> bool: ...

    async def save_message(self, invocation_id: InvocationId, message: str) -> bool:
        """Why an open invocation was not answered this time."""

    async def save_done(
        self, invocation: Invocation, done: Done, at: datetime, *, settled: bool
    ) -> bool:
        """One row per kind, the first in the anchor row; `settled` False: rules come first."""

    async def save_settled(
        self, invocation_id: InvocationId, settled: Settled, at: datetime
    ) -> bool: ...

    async def answered(self, invocation_id: InvocationId) -> Invocation | None:
        """The invocation with the results that wait for the rules."""

    async def judged(self, plan_id: PlanId, id: str) -> Invocation | None:
        """An invocation that answered, with its results; `id` is its own or a kind's."""

    async def save_verdicts(
        self, invocation_id: InvocationId, verdicts: Sequence[Verdict], at: datetime
    ) -> bool:
        """The verdicts on the anchor row; the invocation is settled in this commit."""

    async def open_invocations(self, plan_id: PlanId) -> int:
        """How many are not settled, as committed by others by now."""

    async def targets(self, plan_id: PlanId) -> Sequence[TargetState]:
        """Every target with its rows, without the kinds' two texts."""

    async def report(self, plan_id: PlanId) -> PlanReport | None:
        """The plan as everybody sees it, as far as it has come."""

    async def complete_plan(self, plan: Plan, document: bytes) -> bool:
        """Write a completed plan and its ready JSON; False when it was no longer computing."""

    async def overdue(self, now: datetime) -> Sequence[Plan]:
        """The computing plans past their deadline, oldest first."""

    async def wake_open(self, plan_id: PlanId) -> None:
        """Enqueue every open invocation of the plan."""

    async def wake_stalled(self) -> int:
        """Enqueue again what is not settled and has no job; how many that were.

        An invocation to ask (`invoke`) or to judge (`validate`), a plan to fan out or to settle,
        what came in about a pull request.
        """

    async def delete_expired(self, now: datetime) -> int: ...

    async def live_invocations(self) -> frozenset[InvocationId]: ...

    async def agent_specs(self) -> Sequence[AgentSpec]:
        """The job agents of all workspaces, for their sweeps."""

    async def policies(self, workspace_id: WorkspaceId) -> Sequence[Policy]: ...

    async def result(
        self, plan_id: PlanId, result_id: ResultId
    ) -> tuple[Status, KindResult] | None:
        """One kind with its two texts."""

    async def list_plans(
        self, workspace_id: WorkspaceId, deployment_id: DeploymentId, before: str, limit: int
    ) -> Sequence[Plan]:
        """Newest first; `before` is the id of the last plan of the page before, "" for none."""

    async def document(self, plan_id: PlanId) -> bytes | None:
        """The ready JSON of a completed plan."""


class InventoryTx(Protocol):
    """What may be planned. An item's `ref` is its UUID, its slug, its identifier or its name."""

    async def workspaces(self) -> Sequence[Workspace]:
        """All, by slug."""

    async def workspace(self, ref: str) -> Workspace | None: ...

    async def put_workspace(self, workspace: Workspace) -> None: ...

    async def inventory(self, workspace_id: WorkspaceId) -> Inventory:
        """All of it, each part by its ref."""

    async def deployment(self, workspace_id: WorkspaceId, ref: str) -> Deployment | None: ...

    async def put_items(
        self, workspace_id: WorkspaceId, items: Iterable[InventoryItem]
    ) -> None: ...

    async def delete_items(
        self, workspace_id: WorkspaceId, kind: InventoryKind, ids: Sequence[str]
    ) -> None: ...

    async def record_deployed(
        self,
        deployment_id: DeploymentId,
        environment_id: EnvironmentId,
        resource_id: ResourceId,
        deployed: Deployed,
        at: datetime,
    ) -> None: ...


class OverrideTx(Protocol):
    """Who answered for a denial. Nothing here is ever changed or removed with its plan."""

    async def insert_override(self, record: OverrideRecord) -> None: ...

    async def overrides(self, plan_id: PlanId) -> Sequence[PlanOverride]:
        """Those of a plan, oldest first; `targets` and `report` know them already."""

    async def show_overridden(self, plan: Plan, document: bytes) -> bool:
        """Replace the ready JSON of a completed plan, and count its `overrides` up by one."""

    async def override_log(
        self, workspace_id: WorkspaceId, before: str, limit: int
    ) -> Sequence[OverrideRecord]:
        """Newest first; `before` is the id of the last of the page before, "" for none."""


class TokenTx(Protocol):
    """Who may come in."""

    async def insert_token(self, token: Token) -> None: ...

    async def token(self, digest: str) -> Token | None: ...

    async def tokens(self, workspace_id: WorkspaceId | None) -> Sequence[Token]:
        """Newest first; None: those of all workspaces."""

    async def revoke_token(self, token_id: str, at: datetime) -> bool: ...


class InstallationTx(Protocol):
    """What there is one of."""

    async def installation_key_id(self, key_id: str) -> str:
        """The id of the key that all workers share: the first that was given here."""

    async def replace_installation_key_id(self, key_id: str) -> None: ...


class Tx(
    PlanTx, InventoryTx, OverrideTx, TokenTx, PullRequestTx, InstallationTx, ReportTx, Protocol
):
    """One transaction: all of it commits, or none."""


class Store(Protocol):
    """Rows and jobs. Raises Unavailable while the database is away."""

    @property
    def budget(self) -> Budget: ...

    def begin(self) -> AbstractAsyncContextManager[Tx]:
        """Commits at the end of the block, rolls back on an exception."""

    def watch(self, plan_id: PlanId) -> AbstractAsyncContextManager[AsyncIterator[None]]:
        """Wakes whenever the plan or one of its invocations settles, and once at the start."""
