"""The opa program as rule engine: Open Policy Agent 1.0 or newer, in children with limits.

The rules of an invocation are asked together in a warm child (`opa_warm`). A rule that ended such
a child, or that can't be loaded beside others, is asked in a child of its own each time: some
40 ms, most of it the program's start.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from foretell.domain.plan import JsonObject
from foretell.domain.verdict import Rule, Verdict, errored
from foretell.kit.process import Limits, ProgramStopped, TimedOut, run
from foretell.policy.answer import Answer, NoAnswer, read_answer
from foretell.policy.document import document_text
from foretell.policy.opa_rename import Places, places_to_rename
from foretell.policy.opa_tree import read_tree
from foretell.policy.opa_warm import Loadable, RuleErred, WarmSets
from foretell.policy.outline import FORBIDDEN, Outline, Problem, answer_query, objections
from foretell.policy.refusal import refuse
from foretell.policy.workbench import Looked, could_not_compile

T = TypeVar("T")

LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=1024**3,
    output_bytes=32 * 1024**2,
    network=False,
    grace=timedelta(),
    file_bytes=0,
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


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A rule's text, looked at; no places where it can't be loaded beside others."""

    outline: Outline
    places: Places | None


class Opa:
    """The Validator of `program`, with at most `size` children at work. `aclose` it in its loop."""

    def __init__(self, program: Path, *, limits: Limits = LIMITS, size: int = 2) -> None:
        self._program, self._limits = program, limits
        self._room = asyncio.Semaphore(size)
        self._capabilities = ""
        self._known: dict[str, Looked] = {}
        self._trees: dict[str, _Parsed] = {}
        self._asked: dict[str, None] = {}
        self._suspects: dict[str, None] = {}
        self._warm = WarmSets(program, limits, _ENVIRONMENT, size)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._warm.aclose()

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
        answers = await self._answers(list(dict.fromkeys(rule.rego for rule in rules)), text)
        return tuple(answers[rule.rego].verdict(rule) for rule in rules)

    async def _answers(self, texts: Sequence[str], document: bytes) -> dict[str, Answer]:
        """Together in a warm child where that is possible, the others each in one of their own."""
        looked = await asyncio.gather(*map(self._loadable, texts))
        warm = [rule for rule in looked if rule]
        answers: dict[str, Answer] = {}
        while warm and self._is_worth(warm):
            try:
                found = await self._warm.answers(warm, document)
            except RuleErred as error:
                # It takes the answers of the others with it: from now on it is asked alone.
                _keep(self._suspects, error.rule.rego, None)
                answers[error.rule.rego] = Answer(error=error.cause)
                warm.remove(error.rule)
            except ProgramStopped:
                break
            else:
                answers |= dict(zip((rule.rego for rule in warm), found, strict=True))
                break
        alone = [text for text in texts if text not in answers]
        told = await asyncio.gather(*(self._ask(text, document) for text in alone))
        return answers | dict(zip(alone, told, strict=True))

    def _is_worth(self, rules: Sequence[Loadable]) -> bool:
        """One rule is asked sooner than a child is started, the first time."""
        (first, *more) = (rule.rego for rule in rules)
        if more or first in self._asked:
            return True
        _keep(self._asked, first, None)
        return False

    async def _loadable(self, rego: str) -> Loadable | None:
        """None for a rule that has to be asked alone: it ended a child, or can't be renamed."""
        if rego in self._suspects:
            return None
        try:
            parsed = await self._parsed(rego)
        except (_Failed, ProgramStopped):
            return None
        if parsed.places is None or objections(parsed.outline):
            return None
        return Loadable(rego, parsed.outline.package, parsed.places)

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
            _keep(self._suspects, rego, None)
            return Answer(error=self._cause(error))

    async def _look_once(self, rego: str) -> Looked:
        """What speaks against a rule, found once for each text; a limit's end is not kept."""
        if rego not in self._known:
            _keep(self._known, rego, await self._look_anew(rego, (), asked=True))
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
        return (await self._parsed(rego)).outline

    async def _parsed(self, rego: str) -> _Parsed:
        """Once for each text. Raises _Failed for what is no Rego, and ProgramStopped."""
        if rego not in self._trees:
            parse = ["parse", "--json-include", "locations,-comments", _RULE_FILE]
            tree = await self._run(parse, {_RULE_FILE: rego})
            _keep(self._trees, rego, _Parsed(read_tree(tree), places_to_rename(tree, rego)))
        return self._trees[rego]

    async def _run(
        self, arguments: Sequence[str], files: Mapping[str, str], stdin: bytes = b""
    ) -> Any:
        """The JSON that the program prints. Raises _Failed with what it says, or ProgramStopped."""
        command, *rest = arguments
        limited: list[str] = []
        if command != "parse":
            limited = ["--capabilities", _CAPABILITIES_FILE]
            files = {**files, _CAPABILITIES_FILE: await self._allowed()}
        async with self._room, _folder(files) as folder:
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


@asynccontextmanager
async def _folder(files: Mapping[str, str]) -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="foretell-rule-") as name:
        folder = Path(name)
        for file, text in files.items():
            folder.joinpath(file).write_text(text, encoding="utf-8")
        yield folder


def _keep(kept: dict[str, T], key: str, value: T) -> None:
    """The oldest makes room."""
    if len(kept) >= _MOST_KNOWN:
        del kept[next(iter(kept))]
    kept[key] = value


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
