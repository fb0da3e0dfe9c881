"""An agent, a rule engine and a reporter that do as a test says, and remember what was asked."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta

from foretell.domain.context import DispatchContext
from foretell.domain.plan import InvocationId, JsonObject, Plan
from foretell.domain.result import Done, Kind, KindResult, Leftovers, Outcome
from foretell.domain.summary import PlanReport
from foretell.domain.verdict import Rule, Verdict, VerdictStatus
from foretell.ports import Agent

Answer = Callable[[DispatchContext, JsonObject | None], Awaitable[Outcome]]
Line = Outcome | Exception | Answer
"""What an agent says when asked once more: an outcome, a fault, or what a call comes to."""


def a_result(kind: str = "plan", *, has_changes: bool | None = True, text: str = "b") -> KindResult:
    """One kind's answer, with a line that changes unless it says that none does."""
    current = text if has_changes is False else "a"
    diff = None if has_changes is False else f"-{current}\n+{text}\n"
    return KindResult(Kind(kind), current, text, has_changes, f"plan1:{text}", diff=diff)


UNCHANGED = Done((a_result(has_changes=False),))
CHANGED = Done((a_result(),))


class ScriptedAgent(Agent):
    """Says the lines of its script in order, to each invocation by itself; the last one for ever.

    `asked` has (invocation, state) of every call of `plan`, `abandoned` those of `abandon`,
    `swept` the arguments of `sweep`. `on_abandon` and `on_sweep` are what those raise.
    """

    def __init__(
        self,
        *script: Line,
        type: str = "scripted",
        timeout: timedelta = timedelta(minutes=10),
        leftovers: Leftovers | None = None,
    ) -> None:
        self.type = type
        self.timeout = timeout
        self.script = list(script or (CHANGED,))
        self.asked: list[tuple[InvocationId, JsonObject | None]] = []
        self.contexts: list[DispatchContext] = []
        self.abandoned: list[tuple[InvocationId, JsonObject | None]] = []
        self.swept: list[tuple[JsonObject, timedelta, frozenset[InvocationId]]] = []
        self.on_abandon: Exception | None = None
        self.on_sweep: Exception | None = None
        self._leftovers = leftovers or Leftovers()
        self._calls: Counter[InvocationId] = Counter()

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """The next line of the script for this invocation."""
        self.asked.append((context.invocation_id, state))
        self.contexts.append(context)
        place = self._calls[context.invocation_id]
        self._calls[context.invocation_id] += 1
        line = self.script[min(place, len(self.script) - 1)]
        if isinstance(line, Exception):
            raise line
        return await line(context, state) if callable(line) else line

    async def abandon(self, context: DispatchContext, state: JsonObject | None) -> None:
        """Noted."""
        self.abandoned.append((context.invocation_id, state))
        if self.on_abandon is not None:
            raise self.on_abandon

    async def sweep(
        self, config: JsonObject, older_than: timedelta, live: frozenset[InvocationId]
    ) -> Leftovers:
        """Noted."""
        self.swept.append((config, older_than, live))
        if self.on_sweep is not None:
            raise self.on_sweep
        return self._leftovers


class FakeAgents:
    """The given agents, as installed; `broken` are entry points that could not be loaded."""

    def __init__(self, *agents: Agent, broken: Mapping[str, str] | None = None) -> None:
        self._agents = {agent.type: agent for agent in agents}
        self._broken = dict(broken or {})

    def find(self, type: str) -> Agent | None:
        """The agent of that type, None where there is none."""
        return self._agents.get(type)

    def types(self) -> Sequence[str]:
        """In order."""
        return sorted(self._agents)

    def problems(self) -> Mapping[str, str]:
        """Those given as broken."""
        return self._broken


class ScriptedValidator:
    """Answers each rule as `answers` says by its name, else that it passed.

    `faults` are raised first, one a call. `documents` has what was judged.
    """

    def __init__(self, answers: Mapping[str, Verdict] | None = None, *faults: Exception) -> None:
        self._answers = dict(answers or {})
        self._faults = list(faults)
        self.documents: list[JsonObject] = []

    async def check(self, rules: Sequence[Rule]) -> None:
        """Takes any rule."""

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        """The scripted verdicts, in the rules' order."""
        self.documents.append(document)
        if self._faults:
            raise self._faults.pop(0)
        return [self._answers.get(rule.name) or _passed(rule) for rule in rules]


def _passed(rule: Rule) -> Verdict:
    return Verdict(rule.policy, rule.name, VerdictStatus.PASSED, rule.mandatory)


class RecordingReporter:
    """Remembers what it was told; `faults` are raised first, one a call."""

    def __init__(self, *faults: Exception) -> None:
        self._faults = list(faults)
        self.told: list[tuple[Plan, PlanReport]] = []

    async def report(self, plan: Plan, report: PlanReport) -> None:
        """Noted, or refused."""
        if self._faults:
            raise self._faults.pop(0)
        self.told.append((plan, report))
