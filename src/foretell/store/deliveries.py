"""Pull requests and their events within one transaction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from foretell.domain.plan import Plan, WorkspaceId
from foretell.formats.pull_request.event import CheckAsked, Event, Moved, PlanAsked
from foretell.ports import Delivery, PullRequestState
from foretell.store.codec import decode, dump
from foretell.store.rows import plan_of
from foretell.store.session import Json, Row, Session


@dataclass(frozen=True, slots=True)
class _Stored:
    """An event in JSON: the one that it is, by its name."""

    moved: Moved | None = None
    plan_asked: PlanAsked | None = None
    check_asked: CheckAsked | None = None


def _stored(event: Event) -> _Stored:
    match event:
        case Moved():
            return _Stored(moved=event)
        case PlanAsked():
            return _Stored(plan_asked=event)
        case CheckAsked():
            return _Stored(check_asked=event)


def _delivery_of(row: Row) -> Delivery:
    id, digest, subject, body, received_at = row
    stored = decode(_Stored, body)
    event = stored.moved or stored.plan_asked or stored.check_asked
    assert event is not None, f"the delivery {id} holds no event"
    return Delivery(id, digest, subject, event, received_at)


class Deliveries(Session):
    """The pull requests' part of a transaction."""

    __slots__ = ()

    async def receive(self, delivery: Delivery) -> bool:
        return await self.hit(
            "receive",
            {
                "id": delivery.id,
                "digest": delivery.digest,
                "subject": delivery.subject,
                "event": Json(dump(_stored(delivery.event))),
                "received_at": delivery.received_at,
            },
        )

    async def hold(self, subject: str) -> bool:
        # Outside of a transaction the lock would be gone before its answer is here.
        await self.transaction()
        return bool(await self.value("hold", {"subject": subject}))

    async def pending(self, subject: str) -> Sequence[Delivery]:
        return [_delivery_of(row) for row in await self.rows("pending", {"subject": subject})]

    async def finish(self, deliveries: Sequence[Delivery]) -> None:
        await self.send("finish", {"ids": [delivery.id for delivery in deliveries]})

    async def forget(self, before: datetime) -> None:
        await self.send("forget_deliveries", {"before": before})
        await self.send("forget_pull_requests", {"before": before})

    async def pull_request_state(self, subject: str) -> PullRequestState | None:
        body = await self.value("pull_request_state", {"subject": subject})
        return decode(PullRequestState, body) if body else None

    async def save_pull_request_state(
        self, subject: str, state: PullRequestState, at: datetime
    ) -> None:
        values = {"subject": subject, "body": Json(dump(state)), "at": at}
        await self.send("save_pull_request_state", values)

    async def items_naming(self, word: str) -> Mapping[WorkspaceId, frozenset[str]]:
        found: dict[WorkspaceId, set[str]] = defaultdict(set)
        for workspace, id in await self.rows("items_naming", {"word": word}):
            found[workspace].add(id)
        return {workspace: frozenset(ids) for workspace, ids in found.items()}

    async def plans_of_pull_request(
        self, owner: str, repo: str, number: int, *, key_prefix: str = ""
    ) -> Sequence[Plan]:
        values = {"owner": owner, "repo": repo, "number": str(number), "key_prefix": key_prefix}
        return [plan_of(row) for row in await self.rows("plans_of_pull_request", values)]

    async def plans_of_commit(self, owner: str, repo: str, sha: str) -> Sequence[Plan]:
        values = {"owner": owner, "repo": repo, "sha": sha}
        return [plan_of(row) for row in await self.rows("plans_of_commit", values)]
