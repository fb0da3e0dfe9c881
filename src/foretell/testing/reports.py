"""Whole plan reports from a seed: what any agent, rule or inventory may bring, hostile texts too.

Plain random choices, not strategies of a property-testing library: a report has hundreds of
choices, and drawing each by itself takes longer than the law that is tried on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeVar
from uuid import UUID

from foretell.domain.context import AgentRef
from foretell.domain.override import Override, OverrideTerms
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
from foretell.domain.result import KEPT, Action, Kind, Phase, ResourceChange, Status
from foretell.domain.rollup import InvocationState, KindState, TargetState, roll
from foretell.domain.summary import PlanReport, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus

HOSTILE = (
    "`",
    "```\n</details>",
    "@everyone",
    "<img src=x onerror=alert(1)>",
    "a|b\\|c",
    "one\ntwo\r\n\nthree",
    "\x00\x1b[31m\x07",
    "\u202egnp.exe",
    "</details><details>",
    "<!-- ",
    "[x](javascript:alert(1))",
    "https://evil.example",
    "www.evil.example",
    "#1",
    "\\",
    "No changes",
    "\ud800",
    "😀 é \u2028",
    "~~~",
    "$x$",
    '"; drop',
    "   ",
)
"""Texts that want out of the place that they are shown in."""

WORDS = ("production", "eu-west-1", "api_gateway", "web", "10.0.0.1", "it's", "*bold*", "x")
T = TypeVar("T")


class Anything:
    """Values of every kind that a report has; the same seed makes the same ones."""

    def __init__(self, seed: int, names: Sequence[str] = ()) -> None:
        self._random = Random(seed)
        self._names = names

    def some(self, make: Callable[[], T], most: int) -> tuple[T, ...]:
        return tuple(make() for _ in range(self._random.randint(0, most)))

    def one(self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)

    def flag(self) -> bool | None:
        return self.one((True, False, None))

    def count(self) -> int:
        return self._random.choice((0, 1, 2, 1000, 2**40))

    def word(self) -> str:
        return self.one(WORDS)

    def text(self) -> str:
        return " ".join(self.some(lambda: self.one((*WORDS, *HOSTILE)), 3))

    def name(self) -> str:
        return self.one(self._names) if self._names else self.text() or "nameless"

    def uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def json(self, depth: int = 2) -> Any:
        plain = (None, True, False, 7, -(2**70), 0.1, 1e22, self.text())
        kind = self._random.randint(0, 3) if depth else 0
        match kind:
            case 2:
                return list(self.some(lambda: self.json(depth - 1), 2))
            case 3:
                return self.object(depth - 1)
            case _:
                return self.one(plain)

    def object(self, depth: int = 1) -> dict[str, Any]:
        return {self.text(): self.json(depth) for _ in range(self._random.randint(0, 2))}

    def moment(self) -> datetime:
        start = datetime(2026, 1, 1, tzinfo=UTC)
        return start + timedelta(microseconds=self._random.getrandbits(50))

    def diff(self) -> str | None:
        lines = self.some(self.text, self.one((0, 1, 5, 40)))
        return self.one((None, "\n".join(lines), "\n".join(lines) + "\n"))

    def change(self) -> ResourceChange:
        return ResourceChange(
            kind=self.name(),
            name=self.name(),
            action=self.one(tuple(Action)),
            namespace=self.text(),
            api_version=self.word(),
            diff=self.diff() or "",
            additions=self.count(),
            deletions=self.count(),
            tags=self.some(lambda: self.one((KEPT, "reordered", self.text())), 2),
            result_kind=self.word(),
        )

    def kind(self) -> KindState:
        return KindState(
            id=ResultId(self.uuid()),
            kind=Kind(self.word()),
            status=self.one((Status.COMPLETED, Status.COMPLETED, *Status)),
            has_changes=self.flag(),
            content_hash=self.word(),
            plan_key_id=self.one(("", "key")),
            diff=self.diff(),
            additions=self.count(),
            deletions=self.count(),
            resources=self.some(self.change, 6),
            suppressed=self.one((0, 0, 3)),
        )

    def verdict(self) -> Verdict:
        return Verdict(
            policy=self.name(),
            rule=self.name(),
            status=self.one(tuple(VerdictStatus)),
            mandatory=self.one((True, False)),
            denials=self.some(lambda: Denial(self.text(), self.object()), 2),
            warnings=self.some(self.text, 2),
            message=self.text(),
            terms=self.one((OverrideTerms(), OverrideTerms(self.word(), 2))),
            overrides=self.some(lambda: Override(self.word(), self.text(), self.moment()), 3),
        )

    def invocation(self) -> InvocationState:
        return InvocationState(
            id=InvocationId(self.uuid()),
            agent=AgentRef(AgentId(self.word()), self.name(), self.word()),
            status=self.one((Status.COMPLETED, Status.COMPLETED, *Status)),
            reason=self.one(("", "timeout", "rejected")),
            message=self.text(),
            phases=self.some(lambda: Phase(self.word(), self._random.random() * 1e4), 2),
            results=self.some(self.kind, 3),
            verdicts=self.some(self.verdict, 2),
        )

    def target(self) -> TargetState:
        return TargetState(
            id=TargetId(self.uuid()),
            environment_id=EnvironmentId(self.uuid()),
            environment_name=self.name(),
            resource_id=ResourceId(self.uuid()),
            resource_name=self.name(),
            resource_identifier=self.name(),
            invocations=self.some(self.invocation, 3),
            change=self.one(("", "", "new", "removed")),
        )

    def targets(self, most: int = 6) -> tuple[TargetState, ...]:
        """Of one plan: no two are the same environment and resource."""
        found = self.some(self.target, most)
        unique = {(one.environment_name, one.resource_identifier): one for one in found}
        return tuple(unique.values())

    def report(self, most: int = 6) -> PlanReport:
        """As a store reads one: targets rolled up, and the summary of exactly those."""
        targets = roll(self.targets(most))
        status = self.one(tuple(PlanStatus))
        shown = PlanReport(
            id=PlanId(self.uuid()),
            workspace=self.word(),
            deployment_id=self.uuid(),
            deployment_slug=self.word(),
            deployment_name=self.name(),
            tag=self.name(),
            status=status,
            created_at=self.moment(),
            expires_at=self.moment(),
            completed_at=self.one((None, self.moment())),
            summary=summarize(targets) if targets or self.flag() else None,
            targets=targets,
        )
        if status is not PlanStatus.FAILED:
            return shown
        return replace(shown, reason=self.one(tuple(PlanReason)))
