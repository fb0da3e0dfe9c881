"""What a rule's text refers to, and what of it is refused before the rule is ever asked.

Each engine's syntax tree is read into an `Outline`; the objections are the same for all of them.
They are what would otherwise be found while a rule runs, or never: a built-in function that is
reached on some inputs only, a name that no input can define, a denial under a name nobody asks.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

Path = tuple[str, ...]

FORBIDDEN: Final = {
    "http.send": "rules have no network",
    "net.lookup_ip_addr": "rules have no network",
    "opa.runtime": "it shows the environment of the server",
}
"""Built-in functions that no rule may name, on any engine, each with the reason."""

# Conftest asks these too; a rule that counts on that would never say anything here.
_NEVER_ASKED: Final = re.compile(r"violation|(deny|warn|violation)_\w+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One objection and its line, counted from 1; 0 is the rule as a whole."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class Reference:
    """A name with what is constant behind it (`input.manifest[_].x` is `input.manifest`).

    `rule` is the rule that it stands in, "" for an import; `called` that it is a function.
    """

    line: int
    path: Path
    rule: str = ""
    called: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """One module. `rules` are the names of its rules and functions with their first line.

    `local` are the names that a rule itself brings, as (rule, name).
    """

    package: Path
    rules: dict[str, int]
    references: Sequence[Reference]
    aliases: Collection[str] = ()
    local: Collection[tuple[str, str]] = field(default=frozenset())


def rule_path(package: Path, name: str) -> str:
    """A rule as a query names it, whatever characters the package has."""
    head, *rest = package
    return "".join([head, *(f"[{_quoted(part)}]" for part in (*rest, name))])


def answer_query(package: Path) -> str:
    """Rego that is `[[deny], [warn]]`, with nothing in a list that is undefined."""
    deny, warn = (rule_path(package, name) for name in ("deny", "warn"))
    return f"[[d | d := {deny}], [w | w := {warn}]]"


def _quoted(part: str) -> str:
    return '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'


def names_beside(outline: Outline, others: Iterable[Outline]) -> frozenset[str]:
    """The rules of the module's package that stand in other modules."""
    same = (other.rules for other in others if other.package == outline.package)
    return frozenset(name for rules in same for name in rules)


def objections(
    outline: Outline,
    others: Collection[Outline] = (),
    built_in: Collection[str] | None = None,
    *,
    asked: bool = True,
) -> list[Problem]:
    """By line. `built_in` are the functions that the engine has, None if it checks that itself.

    `others` are loaded beside the module; `asked` says whether it is a rule that answers.
    """
    known = {"data", *outline.rules, *outline.aliases, *names_beside(outline, others)}
    found = [
        *(_unasked(outline) if asked else ()),
        *_forbidden(outline),
        *_unknown(outline, built_in, known),
        *_elsewhere(outline, {outline.package, *(other.package for other in others)}),
        *_recursive(outline),
    ]
    return sorted(set(found), key=lambda problem: (problem.line, problem.message))


def _unasked(outline: Outline) -> Iterator[Problem]:
    if not {"deny", "warn"} & outline.rules.keys():
        yield Problem(0, "there is no `deny` and no `warn` in it, so it can never say anything")
    for name, line in outline.rules.items():
        if _NEVER_ASKED.fullmatch(name):
            yield Problem(line, f"`{name}` is never asked: only `deny` and `warn` are")


def _forbidden(outline: Outline) -> Iterator[Problem]:
    for reference in outline.references:
        name = ".".join(reference.path)
        if name in FORBIDDEN:
            yield Problem(reference.line, f"{name} is not allowed: {FORBIDDEN[name]}")


def _unknown(
    outline: Outline, built_in: Collection[str] | None, own: Collection[str]
) -> Iterator[Problem]:
    if built_in is None:
        return
    for reference in outline.references:
        name = ".".join(reference.path)
        known = reference.path[0] in own or name in built_in or name in FORBIDDEN
        if reference.called and not known:
            yield Problem(
                reference.line,
                f"this rule engine has no function {name}: rewrite the rule without it, or let the "
                "server use the opa program",
            )


def _elsewhere(outline: Outline, loaded: Collection[Path]) -> Iterator[Problem]:
    for reference in outline.references:
        path = reference.path
        if path[0] == "data" and not any(path[: len(one)] == one for one in loaded):
            yield Problem(
                reference.line,
                f"{'.'.join(path)} is not there: a rule sees `input` and its own package only",
            )


def _recursive(outline: Outline) -> Iterator[Problem]:
    """The engines' own answer to a recursion is anything from an error to a crash."""
    calls: dict[str, set[str]] = {name: set() for name in outline.rules}
    for reference in outline.references:
        called = _own_rule(outline, reference)
        if called and reference.rule in calls:
            calls[reference.rule].add(called)
    for name, line in outline.rules.items():
        if name in _reached(calls, name):
            yield Problem(line, f"`{name}` is recursive")


def _own_rule(outline: Outline, reference: Reference) -> str | None:
    """The rule of this module that is meant, or None."""
    size = len(outline.package)
    path = reference.path
    if path[:size] == outline.package and len(path) > size:
        return path[size] if path[size] in outline.rules else None
    if (reference.rule, path[0]) in outline.local:
        return None
    return path[0] if path[0] in outline.rules else None


def _reached(calls: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [*calls[start]]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += calls[name]
    return reached
