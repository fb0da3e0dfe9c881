"""What a rule's `deny` and `warn` hold -> a verdict. The same for every engine.

Conftest's convention: a set (or list) of strings, or of objects with a string `msg` and anything
beside it. Everything else is an error of the rule, because guessing would lose a denial.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from foretell.domain.verdict import Denial, Rule, Verdict, VerdictStatus

MOST_DENIALS: Final = 1_000
"""Of one rule about one invocation; what says more has not found a reason but a pattern."""
MESSAGE_CHARACTERS: Final = 10_000
DETAIL_BYTES: Final = 10_000


class NoAnswer(Exception):
    """What the rule gave is not what a rule gives, or too much of it: the verdict is an error."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule said, or with `error` why it said nothing."""

    denials: tuple[Denial, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = ""

    def verdict(self, rule: Rule) -> Verdict:
        """As the verdict of `rule`: passed only without a denial and without an error."""
        status = VerdictStatus.DENIED if self.denials else VerdictStatus.PASSED
        if self.error:
            status = VerdictStatus.ERRORED
        return Verdict(
            policy=rule.policy,
            rule=rule.name,
            status=status,
            mandatory=rule.mandatory,
            denials=self.denials,
            warnings=self.warnings,
            message=self.error,
            terms=rule.terms,
        )


def read_answer(value: Any) -> Answer:
    """From `[[deny], [warn]]`, each list empty where the rule is undefined. Raises NoAnswer."""
    deny, warn = value
    return Answer(
        denials=tuple(_denials("deny", deny)),
        warnings=tuple(denial.message for denial in _denials("warn", warn)),
    )


def _denials(name: str, defined: list[Any]) -> list[Denial]:
    """In an order that does not depend on the engine's."""
    if not defined:
        return []
    (given,) = defined
    if not isinstance(given, list):
        raise NoAnswer(
            f"`{name}` is {_kind(given)}, expected a set: write `{name} contains msg if {{ … }}`"
        )
    if len(given) > MOST_DENIALS:
        raise NoAnswer(
            f"`{name}` has {len(given):,} entries, at most {MOST_DENIALS:,} are taken: "
            f"say it once for many things. One of them: {_shortened(given[0])}"
        )
    return sorted(_each(name, given), key=lambda one: (one.message, json.dumps(one.details)))


def _each(name: str, given: list[Any]) -> Iterator[Denial]:
    for entry in given:
        match entry:
            case str():
                yield Denial(_bounded(name, entry))
            case {"msg": str() as message}:
                details = {key: value for key, value in entry.items() if key != "msg"}
                yield Denial(_bounded(name, message), _small(name, details))
            case _:
                raise NoAnswer(
                    f"`{name}` holds {_kind(entry)}, expected a string or an object with a "
                    f"string `msg`: {_shortened(entry)}"
                )


def _bounded(name: str, message: str) -> str:
    if len(message) > MESSAGE_CHARACTERS:
        raise NoAnswer(
            f"`{name}` holds a message of {len(message):,} characters, at most "
            f"{MESSAGE_CHARACTERS:,} are taken: {_shortened(message)}"
        )
    return message


def _small(name: str, details: Mapping[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(details))
    if size > DETAIL_BYTES:
        raise NoAnswer(
            f"`{name}` holds an object of {size:,} bytes beside its `msg`, at most "
            f"{DETAIL_BYTES:,} are taken"
        )
    return dict(details)


def _shortened(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object" if "msg" not in value else "an object whose `msg` is no string"
