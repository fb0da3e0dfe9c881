"""A comment of many large diffs, and a burst of pull requests on the fake GitHub.

The comment's peer is what every report needs anyway: grouping the diffs, and a digest of each. The
texts are made anew for each round, for Python remembers the hash of one that it has seen.

The burst is played in simulated time: plans settle while GitHub takes a write a second, the engine
asks for updates as it does, and one worker shows the plans one after the other. Store, reporter,
client and limits are the real ones; the fake refuses what GitHub would.
"""

import asyncio
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from heapq import heapify, heappop, heappush
from pathlib import Path

import httpx

from bench import Line
from foretell.domain.context import AgentRef
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    GithubRef,
    InvocationId,
    Plan,
    PlanRequest,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Action, Kind, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import PlanReport, summarize
from foretell.engine.progress import first_report, progress_report
from foretell.formats.markdown import COMMENT_LIMIT, comment, group_diffs
from foretell.kit.clock import RandomIds
from foretell.kit.http import Http, Options
from foretell.reporters.github.auth import AppAccess
from foretell.reporters.github.client import Github
from foretell.reporters.github.reporter import GithubReporter, Style
from foretell.settings import Settings
from foretell.testing.clock import ManualClock
from foretell.testing.contracts.store.world import World
from foretell.testing.github import FakeGithub, app_key
from foretell.wiring import open_database

ROUNDS = 5
DIFFS, DIFF_BYTES = 300, 100_000
PULLS, TARGETS = 50, 1_000
SETTLED_IN = timedelta(minutes=3)
"""What one server needs for 50,000 targets, at some 300 a second."""


def run() -> Iterator[Line]:
    """The comment beside its goal in time and beside its peer; the writes beside their goals."""
    ours, peer = _best(_comment), _best(_grouped)
    note = (
        f"{DIFFS} diffs of {DIFF_BYTES / 1000:.0f} kB: comment {1000 * ours:.0f} ms, "
        f"grouping and hashing {1000 * peer:.0f} ms (best of {ROUNDS})"
    )
    yield Line("github.comment", ours / peer, 2.0, note)
    yield Line("github.comment-100-ms", ours / 0.1, 1.0)
    yield from asyncio.run(_burst())


def _best(timed: Callable[[PlanReport], None]) -> float:
    found = []
    for number in range(ROUNDS):
        report = _large_report(number)
        began = time.perf_counter()
        timed(report)
        found.append(time.perf_counter() - began)
    return min(found)


def _comment(report: PlanReport) -> None:
    assert len(comment(report)) <= COMMENT_LIMIT


def _grouped(report: PlanReport) -> None:
    for group in group_diffs(report.targets):
        hashlib.sha256(group.diff.encode()).digest()


def _large_report(seed: int) -> PlanReport:
    line = f"+  key-{seed}: " + "v" * 80 + "\n"
    body = line * (DIFF_BYTES // len(line))
    return _report([_target(n, f"-old {n}\n{body}") for n in range(DIFFS)])


def _target(number: int, diff: str, status: Status = Status.COMPLETED) -> TargetState:
    change = ResourceChange("Deployment", "web", Action.MODIFY, diff=diff)
    kind = KindState(ResultId("r"), Kind("manifest"), status, True, diff=diff, resources=(change,))
    agent = AgentRef(AgentId("a"), "argo", "argo-cd")
    settled = status is not Status.COMPUTING
    asked = InvocationState(InvocationId("i"), agent, status, results=(kind,) if settled else ())
    name = f"cluster-{number:04}"
    return TargetState(
        TargetId(name),
        EnvironmentId("production"),
        "production",
        ResourceId(name),
        name,
        name,
        (asked,),
    )


def _report(targets: list[TargetState], plan: Plan | None = None) -> PlanReport:
    rows = roll(targets)
    made = plan or World.new_plan(World(None), request=PlanRequest("v2"))  # type: ignore[arg-type]
    return PlanReport(
        id=made.id,
        workspace="bench",
        deployment_id=made.deployment_id,
        deployment_slug="api",
        deployment_name="API",
        tag="v2",
        status=made.status,
        created_at=made.created_at,
        expires_at=made.expires_at,
        summary=summarize(rows) if made.fanned_out_at else None,
        targets=rows,
    )


@dataclass
class _Turns:
    """The Budget port in simulated time: who waits for a turn lets that time pass."""

    clock: ManualClock
    free_at: dict[str, float] = field(default_factory=dict)

    async def take(self, name: str, *, per_second: float, burst: int = 1) -> None:
        now, interval = self.clock.now().timestamp(), 1 / per_second
        turn = max(self.free_at.get(name, 0.0), now - (burst - 1) * interval)
        self.free_at[name] = turn + interval
        if turn > now:
            self.clock.advance(timedelta(seconds=turn - now))

    async def hold(self, name: str, wait_for: timedelta) -> None:
        raise AssertionError(f"the limits of {name} were not kept")


async def _burst() -> list[Line]:
    """One report after the other, as soon as it is due; at the end every plan is complete."""
    async with _github() as (fake, reporter, rows):
        clock = fake.clock
        assert isinstance(clock, ManualClock)
        plans = [_plan(rows, clock, number) for number in range(PULLS)]
        due = [(clock.now(), number) for number, plan in enumerate(plans) if first_report(plan)]
        heapify(due)
        began, done = clock.now(), 0
        while due:
            at, number = heappop(due)
            clock.advance(max(at - clock.now(), timedelta(0)))
            share = min((clock.now() - began) / SETTLED_IN, 1.0)
            plan = replace(plans[number], fanned_out_at=clock.now())
            asked_at = clock.now()
            if share >= 1.0:
                plan = plan.complete(clock.now())
                done += 1
            await reporter.report(plan, _report(_targets(number, share), plan))
            if share < 1.0:
                # Something settles all the time, so the next update is asked for at once; that the
                # plan is complete is asked for when it is.
                (job,) = progress_report(plan, asked_at)
                heappush(due, (min(asked_at + job.after, began + SETTLED_IN), number))
        assert done == PULLS
        return _lines(fake, clock.now() - began)


def _lines(fake: FakeGithub, took: timedelta) -> list[Line]:
    comments = [one.writes - 1 for one in fake.comments.values()]
    checks = [one.writes - 1 for one in fake.checks.values()]
    assert len(comments) == len(checks) == PULLS
    assert all(one.conclusion == "neutral" for one in fake.checks.values())
    assert all(f"{TARGETS} of {TARGETS} targets" in one.body for one in fake.comments.values())
    refused = sum(call.status in (403, 429) for call in fake.calls)
    note = (
        f"{PULLS} pull requests of {TARGETS} targets, settled in {SETTLED_IN.seconds} s and shown "
        f"in {took.total_seconds():.0f} s of simulated time; {len(fake.calls)} calls, {refused} "
        "refused; the most writes beyond the final one, beside what is allowed"
    )
    return [
        Line("github.burst.comment", max(comments) / 3, 1.0, note),
        Line("github.burst.check", max(checks) / 2, 1.0),
    ]


def _targets(number: int, share: float) -> list[TargetState]:
    """The first of them have settled; a diff for each ten, as where clusters are alike."""
    settled = int(share * TARGETS)
    return [
        _target(n, f"-a {number}\n+b {n // 10}\n")
        if n < settled
        else _target(n, "", Status.COMPUTING)
        for n in range(TARGETS)
    ]


def _plan(rows: World, clock: ManualClock, number: int) -> Plan:
    github = GithubRef("acme", "shop", f"{number:040x}", number + 1)
    return rows.new_plan(at=clock.now(), request=PlanRequest("v2", github=github))


@asynccontextmanager
async def _github() -> AsyncIterator[tuple[FakeGithub, GithubReporter, World]]:
    fake = FakeGithub()
    fake.add_repository("acme/shop")
    fake.add_app(7, "foretell", app_key(), owners=["acme"])
    for number in range(PULLS):
        fake.add_pull("acme/shop", number + 1, f"{number:040x}")
    assert isinstance(fake.clock, ManualClock)
    with tempfile.TemporaryDirectory(prefix="foretell-bench-") as folder:
        async with (
            open_database(Settings(data_dir=Path(folder))) as (_, store),
            Http("https://api.github.com", Options(transport=_wire(fake))) as http,
        ):
            access = AppAccess(http, "7", app_key, fake.clock)
            github = Github(http, access, _Turns(fake.clock), fake.clock)
            rows = await World(store).write()
            yield fake, GithubReporter(store, github, RandomIds(), Style(key=b"k" * 32)), rows


def _wire(fake: FakeGithub) -> httpx.MockTransport:
    async def answered(request: httpx.Request) -> httpx.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = request.url.query.decode()
        found = await fake.answer(
            request.method, request.url.path, query, headers, await request.aread()
        )
        return httpx.Response(found.status, headers=found.headers, content=found.content)

    return httpx.MockTransport(answered)
