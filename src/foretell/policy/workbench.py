"""What the author of a rule needs of an engine, beside what a server needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from foretell.policy.outline import Path, Problem
from foretell.ports import Validator


@dataclass(frozen=True, slots=True)
class Looked:
    """A module before it is asked: no package and no rules where it is no Rego."""

    package: Path
    rules: Mapping[str, int]
    problems: tuple[Problem, ...]


class Workbench(Validator, Protocol):
    """A rule engine that also takes modules together, as `foretell policy test` does."""

    async def look(self, rego: str, beside: Sequence[str] = (), *, asked: bool = True) -> Looked:
        """Outline and problems of one module; it sees those `beside` it.

        `asked` false: it is no rule but a test of one, and needs no `deny`.
        """

    async def ask(self, modules: Sequence[str], path: str) -> Sequence[Any]:
        """The value of the rule at `path`, in a list that is empty where it is undefined.

        Raises NoAnswer with the engine's cause, or the limit that ended it.
        """


def could_not_compile(cause: str) -> Problem:
    """The problem of a module on which the engine itself ended."""
    return Problem(0, f"it could not be compiled: {cause}")
