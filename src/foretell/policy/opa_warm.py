"""Sets of rules in warm children of the opa program: compiled once, asked for many documents.

A child is `opa run --server` on a socket that only we can reach, with all rules of one set loaded,
each under a package of its own. One call asks them all.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from foretell.kit.process import Limits
from foretell.kit.resident import Died, Resident
from foretell.policy.answer import Answer, NoAnswer, read_answer
from foretell.policy.opa_rename import Places, package_as, renamed
from foretell.policy.outline import Path as Package
from foretell.policy.outline import Problem, answer_query

_ASKED: Final = "foretell_asked"
_STRICT: Final = {"strict-builtin-errors": "true"}
# 40 MB each where the rules are small.
_MOST_WARM: Final = 4


@dataclass(frozen=True, slots=True)
class Loadable:
    """A rule's text that can be renamed."""

    rego: str
    package: Package
    places: Places


class RuleErred(Exception):
    """One rule of a set erred, for a cause of its own."""

    def __init__(self, rule: Loadable, cause: str) -> None:
        super().__init__(cause)
        self.rule, self.cause = rule, cause


class _Set:
    """One child with the rules of a set."""

    def __init__(self, rules: Sequence[Loadable], child: Resident, folder: Path) -> None:
        self._rules, self._child, self._folder = rules, child, folder

    @classmethod
    async def load(
        cls, program: Path, limits: Limits, env: dict[str, str], rules: Sequence[Loadable]
    ) -> "_Set":
        """Raises ProgramStopped where the program does not start with these rules."""
        folder = Path(tempfile.mkdtemp(prefix="foretell-rules-"))
        try:
            for name, text in _files(rules).items():
                folder.joinpath(name).write_text(text, encoding="utf-8")
            socket = folder / "socket"
            flags = ["--addr", f"unix://{socket}", "--log-level", "error", "--disable-telemetry"]
            argv = [str(program), "run", "--server", *flags, *_files(rules)]
            child = await Resident.start(argv, socket=socket, folder=folder, limits=limits, env=env)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return cls(rules, child, folder)

    async def answers(self, document: bytes) -> list[Answer]:
        """One for each rule, in order. Raises as `WarmSets.answers` does."""
        body = b'{"input":' + document + b"}"
        found = await self._child.call("POST", f"v1/data/{_ASKED}/all", body, _STRICT)
        told = found.json()
        if found.status != 200 or "result" not in told:
            raise self._erred(told)
        return [_answer(value) for value in told["result"]]

    def _erred(self, told: Any) -> "RuleErred | Died":
        """At the line of the rule as its author wrote it."""
        for error in told.get("errors", ()):
            place = error.get("location") or {}
            for number, rule in enumerate(self._rules):
                name = _name(number)
                if str(place.get("file", "")).endswith(f"{name}.rego"):
                    message = str(error.get("message", "")).replace(f"data.{name}.", "data.")
                    return RuleErred(rule, str(Problem(place.get("row", 0), message[:500])))
        return Died(f"no rule was answered: {told.get('message', '')}"[:500])

    async def end(self) -> None:
        await self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)


class WarmSets:
    """The children of the sets that were asked last. `aclose` it in its loop."""

    def __init__(self, program: Path, limits: Limits, env: dict[str, str], size: int) -> None:
        self._program, self._limits, self._env = program, limits, env
        self._room = asyncio.Semaphore(size)
        self._idle: list[tuple[tuple[str, ...], _Set]] = []

    async def answers(self, rules: Sequence[Loadable], document: bytes) -> list[Answer]:
        """One for each rule, in order.

        Raises RuleErred for the first that errs: it takes all answers with it. Raises
        ProgramStopped when a limit ended it.
        """
        async with self._room, self._child(rules) as child:
            return await child.answers(document)

    @asynccontextmanager
    async def _child(self, rules: Sequence[Loadable]) -> AsyncIterator[_Set]:
        """One that is idle or new; it goes back only if the call ended in an answer."""
        key = tuple(rule.rego for rule in rules)
        child = self._taken(key) or await _Set.load(self._program, self._limits, self._env, rules)
        try:
            yield child
        except RuleErred:
            await self._keep(key, child)
            raise
        except BaseException:
            await child.end()
            raise
        await self._keep(key, child)

    async def _keep(self, key: tuple[str, ...], child: _Set) -> None:
        self._idle.append((key, child))
        if len(self._idle) > _MOST_WARM:
            await self._idle.pop(0)[1].end()

    def _taken(self, key: tuple[str, ...]) -> _Set | None:
        for place, (known, child) in enumerate(self._idle):
            if known == key:
                del self._idle[place]
                return child
        return None

    async def aclose(self) -> None:
        """Ends the idle children; a busy one ends with us."""
        while self._idle:
            await self._idle.pop()[1].end()


def _name(number: int) -> str:
    return f"rule{number}"


def _files(rules: Sequence[Loadable]) -> dict[str, str]:
    asked = [f"package {_ASKED}"]
    files = {}
    for number, rule in enumerate(rules):
        name = _name(number)
        files[f"{name}.rego"] = renamed(rule.rego, rule.places, name)
        asked.append(f"{name} := {answer_query(package_as(name, rule.package))}")
    asked.append(f"all := [{', '.join(map(_name, range(len(rules))))}]")
    return {**files, "asked.rego": "\n".join(asked)}


def _answer(value: Any) -> Answer:
    try:
        return read_answer(value)
    except NoAnswer as error:
        return Answer(error=str(error))
