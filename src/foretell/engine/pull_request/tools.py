"""What the step stands on."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from foretell.domain.plan import DeploymentId, Plan, PlanRequest, WorkspaceId
from foretell.ports import Clock, Forge, PullRequestRules, Selectors, Store

Submits = Callable[[WorkspaceId, DeploymentId, PlanRequest, str], Awaitable[Plan]]
"""`engine.submit` with all but the request and its idempotency key: steps don't know each other."""


@dataclass(frozen=True, slots=True)
class Tools:
    """`forge` None: nobody can be asked, so that nothing is planned for which one has to be.

    `retention`: how long a plan stays once its pull request is closed. A head is planned when no
    other came for `quiet_for`, or the first that waits is `quiet_at_most` old: of a burst of
    pushes it is the last one that somebody wants to see.
    """

    store: Store
    forge: Forge | None
    selectors: Selectors
    clock: Clock
    submits: Submits
    rules: PullRequestRules
    retention: timedelta = timedelta(hours=1)
    quiet_for: timedelta = timedelta(seconds=2)
    quiet_at_most: timedelta = timedelta(seconds=10)
