"""A plan as it comes: one server-sent event a settled target, then the summary.

Targets settle in any order, so an event's id can't be a number in a row. It is the set of targets
that were sent so far, as the bits of a hexadecimal number over the plan's targets in their order,
which is fixed from the fan-out on. So any server can go on after any `Last-Event-ID`, and sends
what is missing once.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from foretell.api.services import Services
from foretell.domain.errors import Unavailable
from foretell.domain.plan import Plan, PlanId, PlanStatus
from foretell.domain.summary import PlanReport
from foretell.formats.document import DiffMode, encode, summary_document, target_document

END = "end"
"""The last event's id: who comes back with it has seen all."""
HEARTBEAT_SECONDS = 15
"""Below the idle timeout of the usual load balancers, 60 s."""
RECONNECT_MILLISECONDS = 1000

_LARGEST_ID = 100_000
_HEX = re.compile(r"[0-9a-f]+\Z")
_SHARE = 4
_LONGEST_PAUSE = 1.0
_BEAT = b": still computing\n\n"


def sent_targets(last_event_id: str | None) -> int:
    """The set in a `Last-Event-ID`; what is none of ours is the empty one."""
    if not last_event_id or len(last_event_id) > _LARGEST_ID or not _HEX.match(last_event_id):
        return 0
    return int(last_event_id, 16)


@dataclass(slots=True)
class Stream:
    """One follower: what it was sent, and when it was last sent anything."""

    services: Services
    plan_id: PlanId
    mode: DiffMode
    sent: int
    moved: tuple[object, ...] = ()
    wrote: float = 0.0

    async def events(self) -> AsyncIterator[bytes]:
        """Everything that was not sent, until the plan has ended or is gone."""
        yield f"retry: {RECONNECT_MILLISECONDS}\n\n".encode()
        self.wrote = time.monotonic()
        async with self.services.store.watch(self.plan_id) as wakes:
            async for _ in wakes:
                began = time.monotonic()
                events, ended = await self._news()
                for event in events:
                    yield event
                if ended:
                    return
                # A plan of many targets takes long to read, and moves often: look less often.
                took = time.monotonic() - began
                await asyncio.sleep(min(_SHARE * took, _LONGEST_PAUSE))

    async def _news(self) -> tuple[list[bytes], bool]:
        """What to send now, and whether that is the end."""
        try:
            report, ended = await self._look()
        except Unavailable:
            # The database is away: the next wake looks again.
            report, ended = None, False
        events = self._new_events(report, ended=ended) if report else []
        if not events and not ended and time.monotonic() - self.wrote >= HEARTBEAT_SECONDS:
            events = [_BEAT]
        if events:
            self.wrote = time.monotonic()
        return events, ended

    async def _look(self) -> tuple[PlanReport | None, bool]:
        """The report where something has moved since, and whether the plan has ended."""
        async with self.services.store.begin() as tx:
            plan = await tx.plan(self.plan_id)
            if plan is None:
                return None, True
            moved = (plan.status, plan.fanned_out_at, await tx.open_invocations(plan.id))
            if moved == self.moved:
                return None, False
            report = await tx.report(plan.id)
        self.moved = moved
        return report, report is None or report.status is not PlanStatus.COMPUTING

    def _new_events(self, report: PlanReport, *, ended: bool) -> list[bytes]:
        events = []
        for place, row in enumerate(report.targets):
            if row.settled and not self.sent >> place & 1:
                self.sent |= 1 << place
                document = encode(target_document(row, self.mode))
                events.append(_event("target", f"{self.sent:x}", document))
        if ended:
            events.append(_event("summary", END, _ending(report)))
        return events


def _ending(report: PlanReport) -> bytes:
    return encode(
        {
            "id": report.id,
            "status": report.status.value,
            "reason": report.reason.value if report.reason else None,
            "summary": summary_document(report.summary) if report.summary else None,
        }
    )


def _event(name: str, id: str, data: bytes) -> bytes:
    # JSON has no line break of its own, so it is one `data:` line.
    return b"event: %b\nid: %b\ndata: %b\n\n" % (name.encode(), id.encode(), data)


def follow(services: Services, plan: Plan, mode: DiffMode, last_event_id: str | None) -> Stream:
    """A stream that goes on after `last_event_id`."""
    return Stream(services, plan.id, mode, sent_targets(last_event_id))
