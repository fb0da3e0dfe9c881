"""What a finished run comes to, as the result that every report and rule reads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from foretell.agents.terraform_cloud.log import PlanLog
from foretell.agents.terraform_cloud.run import PlanView
from foretell.domain.digest import Key
from foretell.domain.result import Action, KindResult, ResourceChange
from foretell.formats.redact.redactor import Redactor, Rules
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.result import PLAN_KIND, to_result
from foretell.formats.tfplan.verdict import UNKNOWN_RUN, Run, Verdict, Word

_ACTIONS: Final = {
    "create": Action.ADD,
    "update": Action.MODIFY,
    "delete": Action.DELETE,
    "replace": Action.REPLACE,
}
_WORDS: Final = {
    "create": "will be created",
    "update": "will be updated",
    "delete": "will be destroyed",
    "replace": "will be replaced",
    "remove": "will be forgotten",
    "move": "will be moved",
    "import": "will be imported",
}
LOG_NOTE: Final = "only addresses and counts are known, from the run's log"


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be shown, and the key that names a plan without showing it."""

    known: frozenset[str] = field(repr=False)
    key: Key = field(repr=False)

    def rules(self) -> Rules:
        return Rules(secrets=tuple(sorted(self.known)))

    def text(self, text: str) -> str:
        """`text` without what is known to be secret."""
        return Redactor(self.rules(), ()).text(text)


@dataclass(frozen=True, slots=True)
class Answer:
    """Fit to be stored and shown. `failure`: there is a result, and it is one of a failed plan."""

    result: KindResult
    notes: tuple[str, ...] = ()
    failure: str = ""


def from_plan(plan: Plan, view: PlanView, secrets: Secrets) -> Answer:
    """The result of the plan as JSON; what its redacted form can't prove the server says."""
    run = UNKNOWN_RUN
    if plan.partial_form and view.has_changes is not None:
        run = Run(exit_code=2 if view.has_changes else 0)
    made = to_result(plan, key=secrets.key, rules=secrets.rules(), run=run)
    errored = made.verdict.word is Word.ERRORED
    failure = "the plan failed, and what there is of it is a part" if errored else ""
    return Answer(made.result, tuple(_notes(made.verdict)), failure)


def _notes(verdict: Verdict) -> Iterator[str]:
    if verdict.incomplete_because:
        yield f"the plan is incomplete: {', '.join(verdict.incomplete_because)}"
    if verdict.word is Word.NEEDS_ATTENTION:
        yield "the plan holds actions that are not known here, or does not prove that it has none"
    if verdict.drift_count:
        yield f"{verdict.drift_count} objects were changed outside of the configuration"
    yield from verdict.notes


def from_log(log: PlanLog, view: PlanView, secrets: Secrets) -> Answer:
    """What changes, without values: a log may hold secrets that nothing marks."""
    resources = tuple(_resources(log, secrets))
    text = "".join(change.after for change in resources)
    result = KindResult(
        kind=PLAN_KIND,
        current="",
        proposed=text,
        has_changes=_has_changes(log, view),
        diff="".join(change.diff for change in resources) or None,
        additions=len(resources),
        resources=resources,
    )
    counts = ", ".join(f"{number} to {word}" for word, number in view.counts)
    return Answer(result, tuple(filter(None, (LOG_NOTE, counts))))


def _has_changes(log: PlanLog, view: PlanView) -> bool | None:
    """True as soon as anything says so; False only when the server itself does."""
    if log.changes or log.outputs or any(number for _, number in view.counts):
        return True
    return view.has_changes


def _resources(log: PlanLog, secrets: Secrets) -> Iterator[ResourceChange]:
    for change in log.changes:
        address = secrets.text(change.address)
        line = f"# {address} {_WORDS.get(change.action, change.action)}\n"
        yield ResourceChange(
            kind=change.type,
            name=address,
            action=_ACTIONS.get(change.action, Action.NO_OP),
            after=line,
            diff=f"+{line}",
            additions=1,
            tags=() if change.action in _ACTIONS else (change.action,),
            result_kind=PLAN_KIND,
        )
