"""What was shown where, within one transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from foretell.domain.plan import Plan, PlanId
from foretell.ports.memory import ShownCheck, Thread, Told, Turn
from foretell.store.session import Json, Row, Session

KEPT_FOR = timedelta(days=90)
"""How long after its last plan a pull request is remembered: longer than any plan is kept."""


class Reports(Session):
    """The reports' part of a transaction."""

    __slots__ = ()

    async def take_turn(
        self, thread: Thread, plan: Plan, holder: str, hold_for: timedelta
    ) -> Turn | None:
        await self.send("forget_threads", {"kept_for": KEPT_FOR})
        await self.send("forget_checks", {"kept_for": KEPT_FOR})
        values = {**_identity(thread), **_plan(plan), "commit": thread.commit}
        row = await self.first("find_thread", values)
        assert row is not None, "it was there, or was made"
        if not await self.hit("hold_thread", _held(thread, holder, hold_for)):
            return None
        newest, comment_id, digest, commit, before, has_neighbours = row
        told = Told(commit, json.loads(before)) if commit else None
        return Turn(newest == plan.id, comment_id, digest, told, has_neighbours)

    async def keep_turn(
        self, thread: Thread, plan_id: PlanId, holder: str, hold_for: timedelta
    ) -> bool:
        newest = await self.value("hold_thread", _held(thread, holder, hold_for))
        return bool(newest == plan_id)

    async def end_turn(self, thread: Thread, holder: str) -> None:
        await self.send("release_thread", {**_identity(thread), "holder": holder})

    async def save_comment(self, thread: Thread, comment_id: int, digest: str) -> None:
        values = {**_identity(thread), "comment_id": comment_id, "digest": digest}
        await self.send("save_comment", values)

    async def save_told(self, thread: Thread, told: Told) -> None:
        digests = Json(json.dumps(dict(told.digests)).encode())
        values = {**_identity(thread), "commit": told.commit, "told": digests}
        await self.send("save_told", values)

    async def claim_check(self, thread: Thread, plan: Plan, external_id: str) -> ShownCheck | None:
        values = {
            **_identity(thread),
            **_plan(plan),
            "commit": thread.commit,
            "external_id": external_id,
        }
        row = await self.first("claim_check", values)
        return _check(row) if row else None

    async def save_check(self, thread: Thread, check: ShownCheck) -> None:
        await self.send("save_check", {**_identity(thread), **asdict(check)})

    async def outdated_checks(
        self, thread: Thread, plan: Plan, *, own: bool
    ) -> Sequence[ShownCheck]:
        values = {**_identity(thread), **_plan(plan), "commit": thread.commit, "own": own}
        return [_check(row) for row in await self.rows("outdated_checks", values)]


def _identity(thread: Thread) -> Mapping[str, Any]:
    return {
        "deployment_id": thread.deployment_id,
        "owner": thread.owner.lower(),
        "repo": thread.repo.lower(),
        "pr_number": thread.pr_number or 0,
        "at_commit": "" if thread.pr_number else thread.commit,
    }


def _held(thread: Thread, holder: str, hold_for: timedelta) -> Mapping[str, Any]:
    return {**_identity(thread), "holder": holder, "hold_for": hold_for}


def _plan(plan: Plan) -> Mapping[str, Any]:
    return {"plan_id": plan.id, "plan_created_at": plan.created_at}


def _check(row: Row) -> ShownCheck:
    external_id, commit, name, check_id, digest, is_open = row
    return ShownCheck(external_id, commit, name, check_id, digest, is_open)
