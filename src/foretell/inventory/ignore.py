"""Ignore rules as people write them: a YAML list -> the rules of a comparison.

Each entry says what is not to count (`pointers`, `names`, `jq`) and for which objects (`group`,
`kind`, `namespace`, `name`, as globs; all by default). docs/howto/diff.md shows them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.result import object_title
from foretell.formats.kubernetes import IgnoreRule
from foretell.formats.kubernetes.path import MISSING, replaced
from foretell.formats.yaml import load_documents
from foretell.inventory.load.source import LIMITS as FILE_LIMITS
from foretell.inventory.load.source import SourceFile
from foretell.inventory.wording import complaints
from foretell.kit.process import Limits, ProgramStopped
from foretell.kit.sandbox import Sandbox, TargetFailed

_TARGET: Final = "foretell.inventory.jq_child:selected"
_WHAT: Final = ("pointers", "names", "jq")
LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=512 * 1024**2,
    output_bytes=8 * 1024**2,
    network=False,
)
"""For one jq expression on one object; the largest object that an API server takes is 3 MB."""


class IgnorePart(BaseModel):
    """One entry of the list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    pointers: list[str] = Field(default=[])
    names: list[str] = Field(default=[])
    jq: list[str] = Field(default=[])
    group: str = "*"
    kind: str = "*"
    namespace: str = "*"
    name: str = "*"


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
            problems += [*_empty(source, at, part), *_pointers(source, at, part)]
            problems += [problem async for problem in self._wrong_jq(source, at, part)]
        if problems:
            places = "one place" if len(problems) == 1 else f"{len(problems)} places"
            raise InvalidRequest(f"the ignore rules are wrong in {places}", problems)
        return tuple(rule for at, part in parts for rule in self._rules(source, at, part))

    async def _wrong_jq(self, source: SourceFile, at: int, part: IgnorePart) -> Any:
        for index, expression in enumerate(part.jq):
            try:
                await self._sandbox.call({"expression": expression})
            except TargetFailed as error:
                yield source.problem((at, "jq", index), f"no jq path expression: {error.message}")

    def _rules(self, source: SourceFile, at: int, part: IgnorePart) -> list[IgnoreRule]:
        scope = IgnoreRule(
            group=part.group, kind=part.kind, namespace=part.namespace, name=part.name
        )
        found = []
        if part.pointers or part.names:
            fields = replace(scope, pointers=tuple(part.pointers), names=tuple(part.names))
            found.append(fields)
        for index, expression in enumerate(part.jq):
            problem = source.problem((at, "jq", index), "")
            edit = self._edit(f"{problem.where}: {problem.field}", expression)
            found.append(replace(scope, edit=edit))
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
            [source.problem((), f"expected a list of rules, each with some of {_listed()}")],
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


def _listed() -> str:
    return ", ".join(_WHAT)


def _empty(source: SourceFile, at: int, part: IgnorePart) -> list[Problem]:
    if part.pointers or part.names or part.jq:
        return []
    return [source.problem((at,), f"ignores nothing; expected at least one of {_listed()}")]


def _pointers(source: SourceFile, at: int, part: IgnorePart) -> list[Problem]:
    return [
        source.problem(
            (at, "pointers", index),
            "expected a JSON pointer to a field, such as /spec/replicas or /data/*",
        )
        for index, pointer in enumerate(part.pointers)
        if not pointer.startswith("/") or pointer == "/"
    ]
