"""A reporter between a real store and the fake GitHub, and plans to show."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from github_wire import SHA, by_app, reach, world

from foretell.domain.context import AgentRef
from foretell.domain.diff import unified_diff
from foretell.domain.errors import RateLimited
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    GithubRef,
    InvocationId,
    Plan,
    PlanReason,
    PlanRequest,
    PlanStatus,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Action, Kind, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import PlanReport, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.kit.clock import RandomIds
from foretell.ports import Store
from foretell.reporters.github.auth import Access, TokenAccess
from foretell.reporters.github.client import Github
from foretell.reporters.github.reporter import GithubReporter, Style
from foretell.store.postgres import open_store
from foretell.testing.budget import FreeBudget
from foretell.testing.clock import ManualClock
from foretell.testing.contracts.store.world import World as Rows
from foretell.testing.contracts.store.world import new_id
from foretell.testing.github import FakeGithub

KEY = b"k" * 32
OTHER_SHA = "b" * 40
DENIED = Verdict("gate", "no-fridays", VerdictStatus.DENIED, denials=(Denial("not today"),))


def target(
    name: str,
    after: str = "image: v2",
    *,
    status: Status = Status.COMPLETED,
    message: str = "",
    verdicts: Sequence[Verdict] = (),
) -> TargetState:
    """One target of production; `after` is its new content, `image: v1` being the old one."""
    results = (_kind(after),) if status is Status.COMPLETED else ()
    invocation = InvocationState(
        id=InvocationId(new_id()),
        agent=AgentRef(AgentId("a"), "argo", "argo-cd"),
        status=status,
        message=message,
        results=results,
        verdicts=tuple(verdicts),
    )
    return TargetState(
        id=TargetId(new_id()),
        environment_id=EnvironmentId("env-production"),
        environment_name="production",
        resource_id=ResourceId(f"res-{name}"),
        resource_name=name,
        resource_identifier=name,
        invocations=(invocation,),
    )


def _kind(after: str) -> KindState:
    before = "image: v1"
    diff = unified_diff(before + "\n", after + "\n")
    changed = before != after
    change = ResourceChange("Deployment", "web", Action.MODIFY, diff=diff.text if changed else "")
    return KindState(
        id=ResultId(new_id()),
        kind=Kind("manifest"),
        status=Status.COMPLETED,
        has_changes=changed,
        diff=diff.text if changed else None,
        additions=int(changed),
        deletions=int(changed),
        resources=(change,) if changed else (),
    )


@dataclass
class Showing:
    """`plan` makes a newer one each time; `show` tells the reporter, which waits as it is told."""

    store: Store
    rows: Rows
    fake: FakeGithub
    github: Github
    style: Style = field(default_factory=lambda: Style(key=KEY))
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def reporter(self) -> GithubReporter:
        return GithubReporter(self.store, self.github, RandomIds(), self.style)

    def plan(self, sha: str = SHA, pr: int | None = 7, **request: str) -> Plan:
        self.clock.advance(timedelta(seconds=1))
        asked = PlanRequest("v2", github=GithubRef("acme", "shop", sha, pr), **request)  # type: ignore[arg-type]
        return self.rows.new_plan(at=self.clock.now(), request=asked)

    def report_of(self, plan: Plan, *targets: TargetState) -> PlanReport:
        """With no targets of a computing plan, nothing is known of them yet."""
        found = roll(targets)
        return PlanReport(
            id=plan.id,
            workspace="team",
            deployment_id=plan.deployment_id,
            deployment_slug="api",
            deployment_name=self.rows.deployment.name,
            tag="v2",
            status=plan.status,
            reason=plan.reason,
            created_at=plan.created_at,
            expires_at=plan.expires_at,
            summary=summarize(found) if targets or plan.status is PlanStatus.COMPLETED else None,
            targets=found,
        )

    async def show(self, plan: Plan, *targets: TargetState) -> None:
        await self.reporter.report(plan, self.report_of(plan, *targets))

    async def show_done(self, plan: Plan, *targets: TargetState) -> Plan:
        """As completed."""
        done = replace(plan, status=PlanStatus.COMPLETED, completed_at=plan.created_at)
        await self.show(done, *targets)
        return done

    async def show_patiently(self, plan: Plan, *targets: TargetState) -> None:
        """As the queue does: again after the time that it is told to wait."""
        while True:
            try:
                await self.show_done(plan, *targets)
                return
            except RateLimited as limited:
                self.fake.clock.advance(limited.retry_after)  # type: ignore[attr-defined]

    @property
    def bodies(self) -> list[str]:
        return [one.body for one in self.fake.comments_of("acme/shop", 7)]

    def conclusions(self, sha: str = SHA) -> dict[str, str | None]:
        return {one.name: one.conclusion for one in self.fake.checks_of("acme/shop", sha)}


def superseded(plan: Plan) -> Plan:
    return plan.fail(PlanReason.SUPERSEDED, plan.created_at)


@asynccontextmanager
async def showing(database: str, *, token: str = "") -> AsyncIterator[Showing]:
    fake = world()
    store = await open_store(database, size=4)
    rows = await Rows(store).write()
    async with reach(fake) as http:
        access: Access = TokenAccess(http, token) if token else by_app(fake, http)
        github = Github(http, access, FreeBudget(), fake.clock)
        yield Showing(store, rows, fake, github)
    await store.close()
