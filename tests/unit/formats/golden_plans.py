"""The plans whose comments and checks are kept as files: one of each thing that people meet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from foretell.domain.context import AgentRef
from foretell.domain.diff import unified_diff
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    InvocationId,
    PlanId,
    PlanReason,
    PlanStatus,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import KEPT, Action, Kind, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import PlanReport, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.formats.markdown import About, since, target_digests
from foretell.testing.reports import HOSTILE

ARGO = AgentRef(AgentId("argo"), "argo-production", "argo-cd")
CLOUD = AgentRef(AgentId("cloud"), "cloud", "terraform-cloud")
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
WEB = "containers:\n- name: {}\n  image: {}:v1.2.3\n  ports:\n  - containerPort: 8080\n"


@dataclass(frozen=True)
class Scenario:
    """A plan to show, and what is known beside it."""

    targets: Sequence[TargetState] = ()
    status: PlanStatus = PlanStatus.COMPLETED
    reason: PlanReason | None = None
    message: str = ""
    about: About = field(default_factory=About)
    has_summary: bool = True
    name: str = "API Service"
    tag: str = "pr-123-abc123"

    def report(self) -> PlanReport:
        targets = roll(self.targets)
        return PlanReport(
            id=PlanId("plan"),
            workspace="team",
            deployment_id="deployment",
            deployment_slug="api",
            deployment_name=self.name,
            tag=self.tag,
            status=self.status,
            reason=self.reason,
            message=self.message,
            created_at=NOW,
            expires_at=NOW,
            summary=summarize(targets) if self.has_summary else None,
            targets=targets,
        )


def target(environment: str, name: str, *invocations: InvocationState) -> TargetState:
    return TargetState(
        id=TargetId(f"{environment}-{name}"),
        environment_id=EnvironmentId(environment),
        environment_name=environment,
        resource_id=ResourceId(name),
        resource_name=name,
        resource_identifier=name,
        invocations=invocations,
    )


def answered(
    *results: KindState,
    agent: AgentRef = ARGO,
    status: Status = Status.COMPLETED,
    message: str = "",
    verdicts: Sequence[Verdict] = (),
) -> InvocationState:
    return InvocationState(
        id=InvocationId("i"),
        agent=agent,
        status=status,
        message=message,
        results=results,
        verdicts=tuple(verdicts),
    )


def kind(name: str, *changes: ResourceChange, suppressed: int = 0) -> KindState:
    diff = "".join(one.diff for one in changes)
    return KindState(
        id=ResultId("r"),
        kind=Kind(name),
        status=Status.COMPLETED,
        has_changes=bool(changes),
        diff=diff or None,
        additions=sum(one.additions for one in changes),
        deletions=sum(one.deletions for one in changes),
        resources=changes,
        suppressed=suppressed,
    )


def change(
    action: Action,
    title: str,
    before: str,
    after: str,
    *tags: str,
) -> ResourceChange:
    """`title` is `Kind/namespace/name`."""
    what, namespace, name = title.split("/")
    found = unified_diff(before, after)
    return ResourceChange(
        kind=what,
        namespace=namespace,
        name=name,
        action=action,
        diff=found.text,
        additions=found.additions,
        deletions=found.deletions,
        tags=tags,
    )


def image(name: str, tag: str) -> ResourceChange:
    before = WEB.format(name, name)
    title = f"Deployment/payments/{name}"
    return change(Action.MODIFY, title, before, before.replace("v1.2.3", tag))


def removed(title: str, *tags: str) -> ResourceChange:
    return change(Action.DELETE, title, WEB.format("x", "x"), "", *tags)


UNCHANGED = answered(kind("manifest"))
CHANGED = answered(kind("manifest", image("payment-api", "v1.2.4")))


def rfc() -> Scenario:
    """RFC 0004's own example."""
    return Scenario(
        [
            target("production", "us-east-1-cluster", CHANGED),
            target("production", "eu-west-1-cluster", UNCHANGED),
            target("production", "ap-south-1-cluster", UNCHANGED),
            target("staging", "staging-cluster", CHANGED),
        ]
    )


def one_target() -> Scenario:
    return Scenario([target("production", "eu", CHANGED)], about=About("1a2b3c4d5e6f"))


def no_changes() -> Scenario:
    return Scenario([target("production", f"c{n}", UNCHANGED) for n in range(3)])


def nothing_selected() -> Scenario:
    return Scenario(about=About(scope="environment.name == 'qa'"))


def computing() -> Scenario:
    waiting = answered(status=Status.COMPUTING)
    targets = [target("production", "eu", CHANGED), target("production", "us", waiting)]
    return Scenario(targets, status=PlanStatus.COMPUTING)


def begun() -> Scenario:
    return Scenario(status=PlanStatus.COMPUTING, has_summary=False, about=About("1a2b3c4d5e6f"))


def failed() -> Scenario:
    return Scenario(
        status=PlanStatus.FAILED,
        reason=PlanReason.INTERNAL,
        message="resourceSelector: no such key: cluster",
        has_summary=False,
    )


def two_kinds() -> Scenario:
    resource = change(
        Action.MODIFY,
        "Application/argocd/payments",
        "targetRevision: main\n",
        "targetRevision: release\n",
    )
    both = answered(kind("manifest", image("payment-api", "v1.2.4")), kind("cr", resource))
    return Scenario([target("production", "eu", both), target("production", "us", CHANGED)])


def two_agents() -> Scenario:
    text = "  # aws_sqs_queue.orders will be updated in-place\n  ~ delay_seconds = 0 -> 30\n"
    plan = KindState(
        id=ResultId("r"),
        kind=Kind("plan"),
        status=Status.COMPLETED,
        has_changes=True,
        diff=text,
        additions=1,
        deletions=1,
    )
    agents = (CHANGED, answered(plan, agent=CLOUD))
    return Scenario([target("production", "eu", *agents)])


def errors() -> Scenario:
    refused = answered(status=Status.ERRORED, message="helm template: no such chart: payments")
    late = answered(status=Status.ERRORED, message="no answer in 10 minutes (render 9m 58s)")
    return Scenario(
        [
            target("production", "eu", refused),
            target("production", "us", refused),
            target("production", "ap", CHANGED),
            target("staging", "eu", late),
        ]
    )


def violations() -> Scenario:
    no = Verdict(
        "gate",
        "no-fridays",
        VerdictStatus.DENIED,
        denials=(Denial("deploys to production stop on Fridays"),),
    )
    advice = Verdict(
        "style",
        "owner-label",
        VerdictStatus.DENIED,
        mandatory=False,
        denials=(Denial("Deployment payment-api has no label owner"),),
        warnings=("labels will be mandatory from June on",),
    )
    broken = Verdict("gate", "limits", VerdictStatus.ERRORED, message="took longer than 5 s")
    judged = [
        answered(kind("manifest", image("payment-api", "v1.2.4")), verdicts=rules)
        for rules in ([no, advice], [no], [broken], [])
    ]
    names = ("eu", "us", "ap", "sa")
    return Scenario(
        [target("production", name, one) for name, one in zip(names, judged, strict=True)]
    )


def unsupported() -> Scenario:
    nobody = answered(
        agent=AgentRef(AgentId(""), "", ""),
        status=Status.UNSUPPORTED,
        message="no job agent matches",
    )
    actions = answered(
        agent=AgentRef(AgentId("gha"), "actions", "github-actions"),
        status=Status.UNSUPPORTED,
        message="github-actions cannot plan",
    )
    return Scenario([target("production", "eu", nobody), target("production", "us", actions)])


def destructive() -> Scenario:
    replaced = change(
        Action.REPLACE, "StatefulSet/payments/ledger", "serviceName: a\n", "serviceName: b\n"
    )
    found = answered(
        kind(
            "manifest",
            image("payment-api", "v1.2.4"),
            removed("PersistentVolumeClaim/payments/ledger-data"),
            replaced,
            removed("Namespace//payments", KEPT),
        )
    )
    return Scenario([target("production", "eu", found), target("production", "us", CHANGED)])


def everything_deleted() -> Scenario:
    names = ("api", "worker", "web", "cron", "proxy")
    gone = answered(kind("manifest", *(removed(f"Deployment/payments/{name}") for name in names)))
    return Scenario([target("production", name, gone) for name in ("eu", "us")])


def hostile() -> Scenario:
    everything = "\n".join(HOSTILE)
    found = change(Action.MODIFY, "ConfigMap/payments/x", "a\n", f"{everything}\n")
    odd = ResourceChange(
        kind="Kind`|</td>",
        name="closes #12 and GH-12",
        action=Action.DELETE,
        namespace="@org/team",
        diff=f"-{everything}\n",
        deletions=1,
        tags=("</summary><script>alert(1)</script>", "hook: ```"),
    )
    no = Verdict(
        "p",
        "@rule <!-- foretell",
        VerdictStatus.DENIED,
        denials=(Denial(f"closes #1, fixes acme/shop#2 {everything}"),),
    )
    failing = answered(
        status=Status.ERRORED, message=f"![x](http://evil.example/i.png) {everything}"
    )
    return Scenario(
        [
            target("@everyone", "# heading", answered(kind("```", found, odd), verdicts=[no])),
            target("<b>prod</b>", "| a | b |", failing),
        ],
        name="<script>alert('x')</script>",
        tag="www.evil.example",
        about=About(scope="resource.name == '@here' || true"),
    )


def next_push() -> Scenario:
    before = roll(
        [target("production", name, CHANGED) for name in ("eu", "gone", "us")]
        + [target("staging", "eu", UNCHANGED)]
    )
    newer = answered(kind("manifest", image("payment-api", "v1.3.0")))
    now = [
        target("production", "eu", newer),
        target("production", "new", newer),
        target("production", "us", CHANGED),
        target("staging", "eu", UNCHANGED),
    ]
    found = since("9f8e7d6c5b4a", target_digests(before), target_digests(roll(now)))
    return Scenario(now, about=About("1a2b3c4d5e6f", since=found))


def huge_diff() -> Scenario:
    lines = "".join(f"rule-{n}: allow\n" for n in range(100_000))
    large = change(Action.ADD, "ConfigMap/payments/rules", "", lines)
    return Scenario(
        [target("production", "eu", answered(kind("manifest", large, image("web", "v2"))))]
    )


def eight_hundred() -> Scenario:
    """Most of them alike, a few that are not, and one that must not be lost."""
    regions = ("eu", "us", "ap")
    targets = [
        target(
            regions[n % 3],
            f"cluster-whose-name-is-longer-than-it-has-to-be-{n:04}",
            CHANGED if n % 4 else UNCHANGED,
        )
        for n in range(790)
    ]
    refused = answered(status=Status.ERRORED, message="the repo-server did not answer")
    targets += [target("zz-last", f"broken-{n}", refused) for n in range(9)]
    lost = answered(kind("manifest", removed("Namespace//payments")))
    return Scenario([*targets, target("zz-last", "z", lost)])


def distinct_hundred() -> Scenario:
    return Scenario(
        [
            target(
                "production",
                f"c{n:03}",
                answered(kind("manifest", image(f"app-{n:03}", "v2" * 300))),
            )
            for n in range(100)
        ]
    )


SCENARIOS: Mapping[str, Callable[[], Scenario]] = {
    make.__name__: make
    for make in (
        rfc,
        one_target,
        no_changes,
        nothing_selected,
        begun,
        computing,
        failed,
        two_kinds,
        two_agents,
        errors,
        violations,
        unsupported,
        destructive,
        everything_deleted,
        hostile,
        next_push,
        huge_diff,
        eight_hundred,
        distinct_hundred,
    )
}
