"""The Reporter port: a plan's comment and checks, brought to what the plan is now.

Twice is once, and late is never: ids are remembered, one plan writes in a thread at a time, the
newest has the comment, and nothing is written for a head that has moved.
"""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TypeVar

import structlog

from foretell.domain.digest import digest
from foretell.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound, RateLimited
from foretell.domain.plan import Plan, PlanReason, PlanRequest, PlanStatus
from foretell.domain.summary import PlanReport
from foretell.formats.markdown import (
    COMMENT_LIMIT,
    About,
    Check,
    comment,
    plan_check,
    since,
    target_check,
    target_digests,
)
from foretell.ports import Ids, Store
from foretell.ports.memory import ShownCheck, Thread, Told, Turn
from foretell.reporters.github.checks import CANCELLED, CheckRuns, CheckWriter, Statuses
from foretell.reporters.github.client import Github
from foretell.reporters.github.comment import CommentWriter, marker
from foretell.reporters.github.head import Head, find_head
from foretell.reporters.github.naming import external_id, name_for_all, names

HELD_FOR = timedelta(minutes=3)
"""A turn ends by itself after this: longer than any one call takes, with its waits and retries."""
_BUSY = timedelta(seconds=5)
_FINAL = (InvalidRequest, NotFound, Forbidden, Conflict)
"""Asking again gives the same answer: said in the log, and the rest goes on."""
_log = structlog.get_logger()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Style:
    """What an installation may choose: the first word of checks' names, and how many targets of a
    plan have a check each; with more there is one for all. `key` signs the comments' markers."""

    prefix: str = "foretell"
    checks_limit: int = 20
    key: bytes = field(default=b"", repr=False)


class GithubReporter:
    """Shows plans that name a commit on GitHub; the others are nobody's."""

    def __init__(self, store: Store, github: Github, ids: Ids, style: Style) -> None:
        self._store = store
        self._github = github
        self._ids = ids
        self._style = style

    async def report(self, plan: Plan, report: PlanReport) -> None:
        """Raises Unavailable, or RateLimited with the time to wait: then it has to be told again.

        What GitHub refuses for good is logged: a plan is complete all the same.
        """
        ref = plan.request.github
        if ref is None:
            return
        with structlog.contextvars.bound_contextvars(plan=plan.id):
            head = await _or_refused(find_head(self._github, ref), "head")
            if head is not None:
                await self._show(plan, report, head)

    async def _show(self, plan: Plan, report: PlanReport, head: Head) -> None:
        repository = head.repository
        thread = Thread(
            plan.deployment_id, repository.owner, repository.name, head.pr_number, head.commit
        )
        async with self._turn(thread, plan) as (turn, holder):
            writing = _Writing(self._store, self._github, self._style, plan, head, thread, holder)
            superseded = plan.reason is PlanReason.SUPERSEDED
            if superseded or head.has_moved:
                await writing.close(own=True)
                return
            await writing.close(own=False)
            if head.pr_number is not None and turn.is_newest:
                await writing.comment(report, turn, head.pr_number)
            await writing.checks(report, turn)

    @asynccontextmanager
    async def _turn(self, thread: Thread, plan: Plan) -> AsyncIterator[tuple[Turn, str]]:
        holder = self._ids.new()
        async with self._store.begin() as tx:
            turn = await tx.take_turn(thread, plan, holder, HELD_FOR)
        if turn is None:
            raise RateLimited("another plan of this pull request is being shown", _BUSY)
        try:
            yield turn, holder
        finally:
            async with self._store.begin() as tx:
                await tx.end_turn(thread, holder)


@dataclass(frozen=True, slots=True)
class _Writing:
    """One plan that is being shown in a thread, while it is its turn."""

    store: Store
    github: Github
    style: Style
    plan: Plan
    head: Head
    thread: Thread
    holder: str

    async def comment(self, report: PlanReport, turn: Turn, pr_number: int) -> None:
        """The one comment of this deployment and pull request."""
        done = report.status is PlanStatus.COMPLETED
        told = Told(self.thread.commit, target_digests(report.targets)) if done else None
        line = marker(self.thread, self.style.key)
        about = About(self.thread.commit, _scope(self.plan.request))
        if told is not None and turn.before is not None:
            about = replace(
                about, since=since(turn.before.commit, turn.before.digests, told.digests)
            )

        def body(limit: int) -> str:
            return f"{line}\n{comment(report, limit - len(line) - 1, about)}"

        wanted = digest("comment1", body(COMMENT_LIMIT))
        unchanged = report.status is PlanStatus.COMPUTING and wanted == turn.comment_digest
        if unchanged or not await self._still_newest():
            return
        writer = CommentWriter(self.github, self.head.repository, pr_number, line)
        comment_id = await _or_refused(writer.write(turn.comment_id, body), "comment")
        async with self.store.begin() as tx:
            if comment_id is not None:
                await tx.save_comment(self.thread, comment_id, wanted)
            if told is not None:
                await tx.save_told(self.thread, told)

    async def checks(self, report: PlanReport, turn: Turn) -> None:
        """One a target, or one for all; none before the targets are known."""
        if report.summary is None and report.status is PlanStatus.COMPUTING:
            return
        for id, name, check in self._wanted(report, turn):
            async with self.store.begin() as tx:
                shown = await tx.claim_check(self.thread, self.plan, id)
                await tx.keep_turn(self.thread, self.plan.id, self.holder, HELD_FOR)
                if shown is not None and not shown.name:
                    # From here on somebody who finds no id has to look for it.
                    await tx.save_check(self.thread, replace(shown, name=name))
            if shown is not None:
                await self._write(shown, name, check)

    async def close(self, *, own: bool) -> None:
        """End as cancelled what a plan left open that is shown no more."""
        async with self.store.begin() as tx:
            outdated = await tx.outdated_checks(self.thread, self.plan, own=own)
        for shown in outdated:
            await self._write(shown, shown.name, CANCELLED)

    async def _write(self, shown: ShownCheck, name: str, check: Check) -> None:
        written = await _or_refused(self._writer().write(shown, name, check), f"check {name}")
        if written is not None and written != shown:
            async with self.store.begin() as tx:
                await tx.save_check(self.thread, written)

    def _writer(self) -> CheckWriter:
        kind = CheckRuns if self.github.can_check else Statuses
        return kind(self.github, self.head.repository)

    def _wanted(self, report: PlanReport, turn: Turn) -> list[tuple[str, str, Check]]:
        request, prefix = self.plan.request, self.style.prefix
        if not 0 < len(report.targets) <= self.style.checks_limit:
            name = name_for_all(prefix, report, request)
            return [(external_id(report, None, request), name, plan_check(report))]
        named = names(prefix, report, with_deployment=turn.has_neighbours)
        return [
            (external_id(report, row, request), name, target_check(report, row))
            for name, row in named
        ]

    async def _still_newest(self) -> bool:
        async with self.store.begin() as tx:
            return await tx.keep_turn(self.thread, self.plan.id, self.holder, HELD_FOR)


async def _or_refused(attempt: Awaitable[T], what: str) -> T | None:
    """None where GitHub refuses for good."""
    try:
        return await attempt
    except _FINAL as error:
        _log.warning("report.refused", what=what, error=error.message)
        return None


def _scope(request: PlanRequest) -> str:
    selectors = (request.environment_selector, request.resource_selector)
    return " and ".join(text for text in selectors if text)
