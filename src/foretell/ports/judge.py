"""Which targets and rules match, what the rules say, and who is told."""

from collections.abc import Sequence
from typing import Protocol

from foretell.domain.plan import (
    JsonObject,
    Plan,
)
from foretell.domain.summary import PlanReport
from foretell.domain.target import (
    Matches,
)
from foretell.domain.verdict import Rule, Verdict


class Selectors(Protocol):
    """The selectors' language."""

    def check(self, text: str) -> None:
        """Raises InvalidRequest for a selector that can't be taken: it says where and why."""

    def matches(self, *, absent: bool = False) -> Matches:
        """A matcher that compiles each text once; it raises as `check` does.

        `absent` is its answer where that depends on a key which the scope has not.
        """


class Validator(Protocol):
    """A rule engine. Every rule answers or raises; the order is that of the rules."""

    async def check(self, rules: Sequence[Rule]) -> None:
        """Raises InvalidRequest with file, line and cause where a rule can't be evaluated here."""

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        """One verdict a rule; a rule that errs, is too slow or too large is `errored`."""


class Reporter(Protocol):
    """Somebody who shows a plan elsewhere. Twice is once; "nobody asked" is a no-op."""

    async def report(self, plan: Plan, report: PlanReport) -> None: ...
