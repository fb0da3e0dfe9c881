"""What is remembered of pull requests and of the events that told of them, and which to plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from foretell.domain.plan import Plan, WorkspaceId
from foretell.formats.pull_request.event import Event
from foretell.formats.pull_request.head import PullRequest


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event as it came in.

    `id` is the sender's name for it, and is not signed: `digest`, of the signed bytes, is what
    tells that an event was replayed under another name. `subject`: what it is about.
    """

    id: str
    digest: str
    subject: str
    event: Event
    received_at: datetime


@dataclass(frozen=True, slots=True)
class PullRequestState:
    """The newest that is known of a pull request, and what was asked for it.

    `before`: the head before this one, where an event told. `planned_sha`: the head that was
    planned without anybody asking. `asked_sha`: the head for which somebody with write access
    asked.
    """

    pull_request: PullRequest
    before: str = ""
    planned_sha: str = ""
    asked_sha: str = ""


class Forks(StrEnum):
    """Whether the head of another repository is planned.

    A plan runs what it plans: charts, modules, providers. `asked`: only the head for which
    somebody with write access asked, by a comment or by one of the labels.
    """

    OFF = "off"
    ASKED = "asked"
    ON = "on"


@dataclass(frozen=True, slots=True)
class PullRequestRules:
    """`labels`: at least one of them is needed. `paths`: at least one changed file matches one.

    Empty: nothing is asked for. A pattern's `*` and `?` stop at "/", its `**` does not.
    """

    drafts: bool = False
    forks: Forks = Forks.OFF
    labels: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class PullRequestTx(Protocol):
    """Pull requests within one transaction."""

    async def receive(self, delivery: Delivery) -> bool:
        """Keep it until it is finished; False where its id or its bytes came in before."""

    async def hold(self, subject: str) -> bool:
        """Be the only one with this subject to the end of the transaction; False: another is."""

    async def pending(self, subject: str) -> Sequence[Delivery]:
        """The deliveries that are not finished, in the order in which they came in."""

    async def finish(self, deliveries: Sequence[Delivery]) -> None:
        """They need nothing more; their ids and digests stay known."""

    async def forget(self, before: datetime) -> None:
        """Remove what came in before that time, and states that were saved before it."""

    async def pull_request_state(self, subject: str) -> PullRequestState | None: ...

    async def save_pull_request_state(
        self, subject: str, state: PullRequestState, at: datetime
    ) -> None: ...

    async def items_naming(self, word: str) -> Mapping[WorkspaceId, frozenset[str]]:
        """The ids of the deployments and job agents that have the word in them, in any case."""

    async def plans_of_pull_request(
        self, owner: str, repo: str, number: int, *, key_prefix: str = ""
    ) -> Sequence[Plan]:
        """Its plans that are in force, oldest first, held to the end of the transaction.

        `key_prefix`: only those whose idempotency key begins so.
        """

    async def plans_of_commit(self, owner: str, repo: str, sha: str) -> Sequence[Plan]:
        """The newest plan of each deployment and scope for a commit, unless it was superseded."""
