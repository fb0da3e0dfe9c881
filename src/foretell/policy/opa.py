"""The opa program as rule engine: one child with limits for each question.

Open Policy Agent 1.0 or newer. A question takes some 40 ms to ask, most of it the program's start,
so a server that judges much is better off with the embedded engine.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from foretell.domain.plan import JsonObject
from foretell.domain.verdict import Rule, Verdict, errored
from foretell.kit.process import Limits, ProgramStopped, TimedOut, run
from foretell.policy.answer import Answer, NoAnswer, read_answer
from foretell.policy.document import document_text
from foretell.policy.opa_tree import read_tree
from foretell.policy.outline import FORBIDDEN, Outline, Problem, answer_query, objections
from foretell.policy.refusal import refuse
from foretell.policy.workbench import Looked, could_not_compile

LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=1024**3,
    output_bytes=32 * 1024**2,
    network=False,
    grace=timedelta(),
)
# Go collects in time instead of being killed, and leaves the machine to others.
_ENVIRONMENT: Final = {"GOMEMLIMIT": "768MiB", "GOMAXPROCS": "2", "HOME": "/nonexistent"}
_MOST_KNOWN: Final = 1_000
_RULE_FILE: Final = "rule.rego"
_CAPABILITIES_FILE: Final = "capabilities.json"


class _Failed(Exception):
    """The program said what is wrong."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


class Opa:
    """The Validator of `program`, with at most `size` children at once."""

    def __init__(self, program: Path, *, limits: Limits = LIMITS, size: int = 2) -> None:
        self._program, self._limits = program, limits
        self._room = asyncio.Semaphore(size)
        self._capabilities = ""
        self._known: dict[str, Looked] = {}

    async def check(self, rules: Sequence[Rule]) -> None:
        """Raises InvalidRequest with each place of a rule that the program can't take."""
        refuse([(rule, await self._problems(rule.rego)) for rule in rules])

    async def _problems(self, rego: str) -> Sequence[Problem]:
        return (await self.look(rego)).problems

    async def look(self, rego: str, beside: Sequence[str] = (), *, asked: bool = True) -> Looked:
        """See `Workbench`."""
        try:
            return await self._look_anew(rego, beside, asked=asked)
        except ProgramStopped as error:
            return Looked((), {}, (could_not_compile(self._cause(error)),))

    async def ask(self, modules: Sequence[str], path: str) -> Sequence[Any]:
        """See `Workbench`."""
        files = _named(modules)
        loaded = [part for name in files for part in ("--data", name)]
        try:
            printed = await self._run(["eval", "--strict-builtin-errors", *loaded, path], files)
        except _Failed as error:
            raise NoAnswer(str(error)[:1_500]) from error
        except ProgramStopped as error:
            raise NoAnswer(self._cause(error)) from error
        return [one["expressions"][0]["value"] for one in printed.get("result", ())]

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        """One verdict a rule, in order; what the program could not answer is errored."""
        try:
            text = document_text(document).encode()
        except ValueError as error:
            return errored(rules, f"the document can't be written as JSON: {error}")
        answers = await asyncio.gather(*(self._ask(rule.rego, text) for rule in rules))
        return tuple(answer.verdict(rule) for rule, answer in zip(rules, answers, strict=True))

    async def _ask(self, rego: str, document: bytes) -> Answer:
        try:
            looked = await self._look_once(rego)
            if looked.problems:
                return Answer(error="; ".join(map(str, looked.problems[:5])))
            asked = ["eval", "--strict-builtin-errors", "--stdin-input", "--data", _RULE_FILE]
            printed = await self._run(
                [*asked, answer_query(looked.package)], {_RULE_FILE: rego}, document
            )
            return read_answer(printed["result"][0]["expressions"][0]["value"])
        except (NoAnswer, _Failed) as error:
            return Answer(error=str(error)[:1_500])
        except ProgramStopped as error:
            return Answer(error=self._cause(error))

    async def _look_once(self, rego: str) -> Looked:
        """What speaks against a rule, found once for each text; a limit's end is not kept."""
        if rego not in self._known:
            looked = await self._look_anew(rego, (), asked=True)
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[rego] = looked
        return self._known[rego]

    async def _look_anew(self, rego: str, beside: Sequence[str], *, asked: bool) -> Looked:
        files = {_RULE_FILE: rego, **_named(beside)}
        try:
            outline = await self._outline(rego)
            others = [await self._outline(text) for text in beside]
        except _Failed as error:
            return Looked((), {}, error.problems)
        found = objections(outline, others, asked=asked)
        try:
            await self._run(["check", *files], files)
        except _Failed as error:
            found += error.problems
        return Looked(outline.package, outline.rules, tuple(found))

    async def _outline(self, rego: str) -> Outline:
        parse = ["parse", "--json-include", "locations,-comments", _RULE_FILE]
        return read_tree(await self._run(parse, {_RULE_FILE: rego}))

    async def _run(
        self, arguments: Sequence[str], files: Mapping[str, str], stdin: bytes = b""
    ) -> Any:
        """The JSON that the program prints. Raises _Failed with what it says, or ProgramStopped."""
        async with self._room, self._folder(files) as folder:
            limited = ["--capabilities", _CAPABILITIES_FILE] if arguments[0] != "parse" else []
            command, *rest = arguments
            done = await run(
                [str(self._program), command, "--format", "json", *limited, *rest],
                limits=self._limits,
                cwd=folder,
                env=_ENVIRONMENT,
                stdin=stdin,
            )
        printed = _json(done.stdout) or _json(done.stderr) or {}
        if done.returncode != 0 or printed.get("errors"):
            raise _Failed(_problems(printed, done.stderr.decode(errors="replace")))
        return printed

    @asynccontextmanager
    async def _folder(self, files: Mapping[str, str]) -> AsyncIterator[Path]:
        capabilities = await self._allowed()
        with tempfile.TemporaryDirectory(prefix="foretell-rule-") as name:
            folder = Path(name)
            for file, text in {**files, _CAPABILITIES_FILE: capabilities}.items():
                folder.joinpath(file).write_text(text, encoding="utf-8")
            yield folder

    async def _allowed(self) -> str:
        """What the program can do, less what no rule may do: it does not even know those names."""
        if not self._capabilities:
            done = await run(
                [str(self._program), "capabilities", "--current"],
                limits=self._limits,
                env=_ENVIRONMENT,
            )
            known = _json(done.stdout)
            if not known:
                raise ProgramStopped(f"{self._program.name} does not tell its capabilities")
            known["builtins"] = [one for one in known["builtins"] if one["name"] not in FORBIDDEN]
            self._capabilities = json.dumps({**known, "allow_net": []})
        return self._capabilities

    def _cause(self, error: ProgramStopped) -> str:
        if isinstance(error, TimedOut):
            return f"it took longer than {self._limits.wall.total_seconds():g} s"
        return f"the rule engine was stopped: {error.message}"


def _named(modules: Sequence[str]) -> dict[str, str]:
    return {f"{number}.rego": text for number, text in enumerate(modules)}


def _json(printed: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(printed)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _problems(printed: Mapping[str, Any], complaint: str) -> list[Problem]:
    found = [
        Problem(one.get("location", {}).get("row", 0), str(one.get("message", ""))[:500])
        for one in printed.get("errors", ())
    ]
    return found or [Problem(0, " ".join(complaint.split())[:500] or "the program failed")]
