"""Ignore rules as people write them: a YAML list -> the rules of a comparison.

Each entry says what is not to count (`pointers`, `names`, `jq`) and for which objects (`group`,
`kind`, `namespace`, `name`, as globs; all by default). docs/howto/diff.md shows them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, Self

import yaml
from pydantic import ValidationError

from foretell.domain.errors import AgentRejected, InvalidRequest, Problem
from foretell.domain.result import object_title
from foretell.domain.target import CompareSettings, IgnoreEntry
from foretell.formats.kubernetes import CompareOptions, IgnoreRule
from foretell.formats.kubernetes.path import MISSING, replaced
from foretell.formats.yaml import load_documents
from foretell.inventory.ignore_part import WHAT, IgnorePart
from foretell.inventory.load.source import LIMITS as FILE_LIMITS
from foretell.inventory.load.source import SourceFile
from foretell.inventory.wording import complaints
from foretell.kit.process import Limits, ProgramStopped
from foretell.kit.sandbox import Sandbox, TargetFailed

_TARGET: Final = "foretell.inventory.jq_child:selected"
Place = Callable[[int, int], str]
"""(number of the rule, number of its jq expression) -> where that stands, for people."""

LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=512 * 1024**2,
    output_bytes=8 * 1024**2,
    network=False,
)
"""For one jq expression on one object; the largest object that an API server takes is 3 MB."""


class IgnoreRules:
    """The rules of one file, and the child that runs their jq; `aclose` it in the same loop.

    `warnings`: after a comparison, which expressions led nowhere in how many objects.
    """

    def __init__(self, *, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._sandbox = Sandbox(_TARGET, limits)
        self._missed: dict[str, list[str]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._sandbox.aclose()

    @property
    def warnings(self) -> list[str]:
        """One line for each jq expression that could not be applied to an object it was for."""
        return [
            f"{where}: this jq selects nothing in {len(titles)} of its objects, {titles[0]} is one"
            for where, titles in self._missed.items()
        ]

    async def read(self, name: str, text: str) -> tuple[IgnoreRule, ...]:
        """The rules that `text` holds; `name` is its file's.

        Raises InvalidRequest whose `problems` name file, line and field. A rule with jq must be
        used in another thread than this loop's: it waits for the child.
        """
        source = _source(name, text)
        parts, problems = _parts(source)
        for at, part in parts:
            problems += [source.problem((at, *path), said) for path, said in part.complaints()]
            problems += [
                source.problem((at, "jq", index), said)
                async for index, said in self._wrong_jq(part.entry())
            ]
        _raise(problems)

        def place(at: int, index: int) -> str:
            found = source.problem((at, "jq", index), "")
            return f"{found.where}: {found.field}"

        return tuple(rule for at, part in parts for rule in self._rules(place, at, part.entry()))

    async def of(self, entries: Sequence[IgnoreEntry]) -> tuple[IgnoreRule, ...]:
        """The rules of an inventory, which is named by the place in `plan.ignore`.

        Raises InvalidRequest for jq that is none, as nothing else of them is checked only now.
        A rule with jq must be used in another thread than this loop's.
        """
        problems = [
            Problem("the inventory", _place(at, index), said)
            for at, entry in enumerate(entries)
            async for index, said in self._wrong_jq(entry)
        ]
        _raise(problems)
        return tuple(
            rule for at, entry in enumerate(entries) for rule in self._rules(_place, at, entry)
        )

    async def _wrong_jq(self, entry: IgnoreEntry) -> AsyncIterator[tuple[int, str]]:
        for index, expression in enumerate(entry.jq):
            try:
                await self._sandbox.call({"expression": expression})
            except TargetFailed as error:
                yield index, f"no jq path expression: {error.message}"

    def _rules(self, place: Place, at: int, entry: IgnoreEntry) -> list[IgnoreRule]:
        scope = IgnoreRule(
            group=entry.group, kind=entry.kind, namespace=entry.namespace, name=entry.name
        )
        found = []
        if entry.pointers or entry.names:
            found.append(replace(scope, pointers=entry.pointers, names=entry.names))
        for index, expression in enumerate(entry.jq):
            found.append(replace(scope, edit=self._edit(place(at, index), expression)))
        return found

    def _edit(self, where: str, expression: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        loop = asyncio.get_running_loop()

        def edit(value: dict[str, Any]) -> dict[str, Any]:
            asked = self._selected(where, expression, value)
            paths = asyncio.run_coroutine_threadsafe(asked, loop).result()
            edited: dict[str, Any] = replaced(value, {tuple(path): MISSING for path in paths})
            return edited

        return edit

    async def _selected(
        self, where: str, expression: str, value: dict[str, Any]
    ) -> list[list[str | int]]:
        try:
            paths: list[list[str | int]] = await self._sandbox.call(
                {"expression": expression, "value": value}
            )
        except TargetFailed:
            titles = self._missed.setdefault(where, [])
            if _title(value) not in titles:
                titles.append(_title(value))
            return []
        except ProgramStopped as error:
            wall = self._limits.wall.total_seconds()
            raise InvalidRequest(
                f"{where}: this jq was stopped by a limit on {_title(value)}: at most {wall:g} s "
                f"and {self._limits.memory_bytes:,} bytes of memory; look for an endless loop"
            ) from error
        return paths


@asynccontextmanager
async def told_options(
    settings: CompareSettings,
) -> AsyncIterator[tuple[CompareOptions, IgnoreRules]]:
    """The options of a comparison that an inventory asks for, and the rules for their warnings.

    Compare in another thread than this loop's, inside of the block. Raises AgentRejected for jq
    that is none.
    """
    async with IgnoreRules() as rules:
        try:
            ignore = await rules.of(settings.ignore)
        except InvalidRequest as error:
            raise AgentRejected(str(error)) from error
        yield CompareOptions(ignore=ignore, mask_names=settings.mask_names), rules


def _title(value: dict[str, Any]) -> str:
    metadata = value.get("metadata") or {}
    parts = (value.get("kind"), metadata.get("namespace"), metadata.get("name"))
    return object_title(*(str(part or "") for part in parts))


def _source(name: str, text: str) -> SourceFile:
    documents = load_documents(text, source=name, limits=FILE_LIMITS)
    value = documents[0].value if documents else []
    try:
        root = next(yaml.compose_all(text, Loader=yaml.CSafeLoader), None)
    except yaml.YAMLError:
        root = None  # JSON that is no YAML: then every line is the first
    return SourceFile(name, value, root)


def _parts(source: SourceFile) -> tuple[list[tuple[int, IgnorePart]], list[Problem]]:
    if not isinstance(source.value, list):
        raise InvalidRequest(
            "the ignore rules are wrong in one place",
            [source.problem((), f"expected a list of rules, each with some of {', '.join(WHAT)}")],
        )
    parts: list[tuple[int, IgnorePart]] = []
    problems: list[Problem] = []
    for at, value in enumerate(source.value):
        try:
            parts.append((at, IgnorePart.model_validate(value)))
        except ValidationError as error:
            found = complaints(error, IgnorePart)
            problems += [source.problem((at, *one.path), one.message) for one in found]
    return parts, problems


def _place(at: int, index: int) -> str:
    return f"plan.ignore[{at}].jq[{index}]"


def _raise(problems: Sequence[Problem]) -> None:
    if problems:
        places = "one place" if len(problems) == 1 else f"{len(problems)} places"
        raise InvalidRequest(f"the ignore rules are wrong in {places}", problems)
