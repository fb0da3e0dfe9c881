"""What was shown where: ids that GitHub gave, and whose turn it is to write.

Kept apart from the plans, which expire: a comment outlives every plan that wrote it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from foretell.domain.plan import DeploymentId, Plan, PlanId


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a deployment's plans are shown: a pull request, or a commit that has none.

    Names of owner and repository are equal in any case. `commit` is the head that the plan is
    for; of a pull request's thread it is no part of the identity.
    """

    deployment_id: DeploymentId
    owner: str
    repo: str
    pr_number: int | None
    commit: str


@dataclass(frozen=True, slots=True)
class Told:
    """What the last completed plan of a commit came to, a digest for each target's name."""

    commit: str
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """What is known where a plan may now be shown.

    `is_newest` False: a newer plan has been here, and the comment is its. `before` is what was
    told for the last commit that is not this one. `has_neighbours`: plans of other deployments
    are shown in the same repository.
    """

    is_newest: bool
    comment_id: int | None = None
    comment_digest: str = ""
    before: Told | None = None
    has_neighbours: bool = False


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check run or commit status: `check_id` None until GitHub gave one (a status has none).

    `digest` is of what was written last, "" for nothing yet; `is_open`: it has not ended.
    """

    external_id: str
    commit: str
    name: str = ""
    check_id: int | None = None
    digest: str = ""
    is_open: bool = False


class ReportTx(Protocol):
    """The memory of reports within one transaction.

    One writer a thread at a time, by a lease that ends by itself; the newest plan that ever asked
    for a turn is the one that may write the comment.
    """

    async def take_turn(
        self, thread: Thread, plan: Plan, holder: str, hold_for: timedelta
    ) -> Turn | None:
        """None while somebody else writes; the plan is the newest from now on all the same."""

    async def keep_turn(
        self, thread: Thread, plan_id: PlanId, holder: str, hold_for: timedelta
    ) -> bool:
        """Whether the turn is still the holder's and the plan still the newest; holds it on."""

    async def end_turn(self, thread: Thread, holder: str) -> None: ...

    async def save_comment(self, thread: Thread, comment_id: int, digest: str) -> None: ...

    async def save_told(self, thread: Thread, told: Told) -> None:
        """Once for each commit, `before` becomes what was told for the other one before."""

    async def claim_check(self, thread: Thread, plan: Plan, external_id: str) -> ShownCheck | None:
        """The check of the thread's commit, new or known; None where a newer plan has it."""

    async def save_check(self, thread: Thread, check: ShownCheck) -> None: ...

    async def outdated_checks(
        self, thread: Thread, plan: Plan, *, own: bool
    ) -> Sequence[ShownCheck]:
        """The open checks of this plan (`own`), or of older ones for other commits of the thread,
        by name."""
