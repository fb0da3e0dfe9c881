"""A plan of the program -> the kind `plan`, and what a person should know beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.domain.result import KindResult
from foretell.formats.redact.redactor import Rules
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.result import PlanResult, to_result
from foretell.formats.tfplan.verdict import Run, Word
from foretell.kit.terraform.run import Planned


@dataclass(frozen=True, slots=True)
class Answer:
    """Fit to be stored and shown: nothing in it is secret."""

    result: KindResult
    message: str


def answer(planned: Planned, key: Key, secrets: Sequence[str]) -> Answer:
    """Raises AgentRejected for what the program printed and can't be read, and for a plan that
    is a part of one because it failed."""
    try:
        made = to_result(
            parse(planned.shown),
            key=key,
            rules=Rules(secrets=tuple(secrets)),
            run=Run(exit_code=planned.exit_code),
        )
    except InvalidRequest as error:
        raise AgentRejected(f"the plan can't be read: {error}") from error
    if made.verdict.word is Word.ERRORED:
        raise AgentRejected("the plan failed, and what there is of it is a part: run it again")
    return Answer(made.result, "; ".join(_told(made)))


def _told(made: PlanResult) -> Iterator[str]:
    verdict = made.verdict
    if verdict.incomplete_because:
        yield f"the plan is incomplete: {', '.join(verdict.incomplete_because)}"
    if verdict.word is Word.NEEDS_ATTENTION:
        yield "the plan holds actions that are not known here, or does not prove that it has none"
    if verdict.drift_count:
        yield f"{verdict.drift_count} objects were changed outside of the configuration"
    yield from verdict.notes
