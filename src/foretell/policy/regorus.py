"""The embedded rule engine, in a child with limits: nothing to install, nothing to trust."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, Final, Self

from foretell.domain.plan import JsonObject
from foretell.domain.verdict import Denial, Rule, Verdict, errored
from foretell.kit.process import Limits, ProgramStopped, TimedOut
from foretell.kit.sandbox import ChildDied, Sandbox, TargetFailed
from foretell.policy.answer import Answer, NoAnswer
from foretell.policy.document import document_text
from foretell.policy.outline import Problem
from foretell.policy.refusal import refuse
from foretell.policy.workbench import Looked, could_not_compile

_TARGET: Final = "foretell.policy.regorus_child:answer"
LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=1024**3,
    output_bytes=16 * 1024**2,
    network=False,
)
_MOST_SUSPECTS: Final = 1_000


def is_installed() -> bool:
    """Whether the extra `foretell[rego]` is there."""
    return find_spec("regorus") is not None


class Regorus:
    """The Validator of the embedded engine; up to `size` warm children. `aclose` it in its loop.

    The rules of an invocation are asked in one call. When a limit ends that call they are asked one
    by one, so that only those at fault err; such a rule is asked alone from then on.
    """

    def __init__(self, *, limits: Limits = LIMITS, size: int = 2) -> None:
        self._limits = limits
        self._sandbox = Sandbox(_TARGET, limits, size=size)
        self._suspects: dict[str, None] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._sandbox.aclose()

    async def check(self, rules: Sequence[Rule]) -> None:
        """Raises InvalidRequest with each place of a rule that the engine can't take."""
        refuse([(rule, await self._problems(rule.rego)) for rule in rules])

    async def _problems(self, rego: str) -> Sequence[Problem]:
        return (await self.look(rego)).problems

    async def look(self, rego: str, beside: Sequence[str] = (), *, asked: bool = True) -> Looked:
        """See `Workbench`."""
        request = {"look": rego, "beside": list(beside), "asked": asked}
        try:
            found = await self._sandbox.call(request)
        except (ProgramStopped, TargetFailed) as error:
            return Looked((), {}, (could_not_compile(self._cause(error)),))
        problems = tuple(Problem(line, message) for line, message in found["problems"])
        return Looked(tuple(found["package"]), found["rules"], problems)

    async def ask(self, modules: Sequence[str], path: str) -> Sequence[Any]:
        """See `Workbench`."""
        try:
            found = await self._sandbox.call({"modules": list(modules), "ask": path})
        except (ProgramStopped, TargetFailed) as error:
            raise NoAnswer(self._cause(error)) from error
        if "error" in found:
            raise NoAnswer(found["error"])
        values: list[Any] = found["value"]
        return values

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        """One verdict a rule, in order; what the child could not answer is errored."""
        try:
            text = document_text(document)
        except ValueError as error:
            return errored(rules, f"the document can't be written as JSON: {error}")
        texts = list(dict.fromkeys(rule.rego for rule in rules))
        answers = await self._answers(texts, text)
        return tuple(answers[rule.rego].verdict(rule) for rule in rules)

    async def _answers(self, texts: Sequence[str], document: str) -> dict[str, Answer]:
        together = [text for text in texts if text not in self._suspects]
        alone = [text for text in texts if text in self._suspects]
        try:
            answers = dict(zip(together, await self._call(together, document), strict=True))
        except (ProgramStopped, TargetFailed):
            answers, alone = {}, list(texts)
        found = await asyncio.gather(*(self._ask_alone(text, document) for text in alone))
        return answers | dict(zip(alone, found, strict=True))

    async def _ask_alone(self, text: str, document: str) -> Answer:
        try:
            (found,) = await self._call([text], document)
        except (ProgramStopped, TargetFailed) as error:
            self._suspect(text)
            return Answer(error=self._cause(error))
        return found

    async def _call(self, texts: Sequence[str], document: str) -> list[Answer]:
        if not texts:
            return []
        found = await self._sandbox.call({"document": document, "rules": list(texts)})
        return [_answer(each) for each in found]

    def _suspect(self, text: str) -> None:
        if len(self._suspects) >= _MOST_SUSPECTS:
            del self._suspects[next(iter(self._suspects))]
        self._suspects[text] = None

    def _cause(self, error: ProgramStopped | TargetFailed) -> str:
        match error:
            case TimedOut():
                return f"it took longer than {self._limits.wall.total_seconds():g} s"
            case ChildDied() | TargetFailed():
                return f"the rule engine failed: {error.message}"
            case _:
                return f"it needed more than the rule engine may use: {error.message}"


def _answer(each: Any) -> Answer:
    denials = tuple(Denial(one["message"], one["details"]) for one in each["denials"])
    return Answer(denials, tuple(each["warnings"]), each["error"])
