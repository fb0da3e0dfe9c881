"""The tests of rules: `test_` rules beside them, and example inputs with what is expected.

Of `NAME.rego` these are `NAME_test.rego` (any package; it sees the rule's and is given `input` by
`with`) and `NAME.CASE.yaml`, a map of `input`, `deny` and `warn`: the messages, in any order.
"""

import posixpath
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foretell.domain.errors import InvalidRequest
from foretell.domain.verdict import Rule, VerdictStatus
from foretell.formats.yaml import load_documents
from foretell.policy.answer import NoAnswer
from foretell.policy.outline import rule_path
from foretell.policy.workbench import Workbench

RULE_ENDING = ".rego"
TEST_ENDING = "_test.rego"
EXAMPLE_ENDINGS = (".yaml", ".yml", ".json")
_KEYS = {"input", "deny", "warn"}


@dataclass(frozen=True, slots=True)
class Result:
    """One test: `cause` is empty where it passed."""

    file: str
    name: str
    cause: str = ""


async def run_suite(engine: Workbench, files: Mapping[str, str]) -> AsyncIterator[Result]:
    """One result for each rule's text, each of its `test_` rules and each of its examples.

    `files` are texts by name. A test or an example without its rule is a failure of its own:
    it tests nothing.
    """
    rules = [name for name in files if name.endswith(RULE_ENDING) and not _is_test(name)]
    for name in sorted(rules):
        async for result in _rule(engine, files, name):
            yield result
    for name in sorted(files):
        if not any(_belongs(name, rule) for rule in rules):
            yield Result(name, "belongs to a rule", f"there is no {_expected_rule(name)}")


def _is_test(name: str) -> bool:
    return name.endswith(TEST_ENDING)


def _belongs(name: str, rule: str) -> bool:
    return name == rule or name in (_test_of(rule),) or _is_example_of(name, rule)


def _test_of(rule: str) -> str:
    return rule.removesuffix(RULE_ENDING) + TEST_ENDING


def _is_example_of(name: str, rule: str) -> bool:
    start = rule.removesuffix(RULE_ENDING) + "."
    return name.startswith(start) and name.endswith(EXAMPLE_ENDINGS)


def _expected_rule(name: str) -> str:
    if _is_test(name):
        return name.removesuffix(TEST_ENDING) + RULE_ENDING
    folder, file = posixpath.split(name)
    return posixpath.join(folder, file.split(".")[0] + RULE_ENDING)


async def _rule(engine: Workbench, files: Mapping[str, str], name: str) -> AsyncIterator[Result]:
    looked = await engine.look(files[name])
    cause = "; ".join(map(str, looked.problems))
    yield Result(name, "can be judged", cause)
    if cause:
        return
    if _test_of(name) in files:
        async for result in _tests(engine, files, name):
            yield result
    for example in sorted(each for each in files if _is_example_of(each, name)):
        yield Result(example, "says what is expected", await _example(engine, files, name, example))


async def _tests(engine: Workbench, files: Mapping[str, str], name: str) -> AsyncIterator[Result]:
    test = _test_of(name)
    looked = await engine.look(files[test], [files[name]], asked=False)
    names = [each for each in looked.rules if each.startswith("test_")]
    if looked.problems or not names:
        cause = "; ".join(map(str, looked.problems)) or "there is no rule `test_…` in it"
        yield Result(test, "can be run", cause)
        return
    for each in names:
        path = rule_path(looked.package, each)
        yield Result(test, each, await _one_test(engine, [files[name], files[test]], path))


async def _one_test(engine: Workbench, modules: list[str], path: str) -> str:
    try:
        found = await engine.ask(modules, path)
    except NoAnswer as error:
        return str(error)
    if not found:
        return "it is undefined: something in it does not hold"
    return "" if found[0] is True else f"it is {found[0]!r:.100}, expected true"


async def _example(engine: Workbench, files: Mapping[str, str], name: str, example: str) -> str:
    try:
        case = _case(files[example], example)
    except InvalidRequest as error:
        return str(error)
    (verdict,) = await engine.evaluate([Rule("", name, files[name])], case["input"])
    if verdict.status is VerdictStatus.ERRORED:
        return verdict.message
    denials = [denial.message for denial in verdict.denials]
    return "; ".join(
        [*_difference("deny", denials, case), *_difference("warn", verdict.warnings, case)]
    )


def _case(text: str, name: str) -> Mapping[str, Any]:
    documents = load_documents(text, source=name)
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or not isinstance(value.get("input"), dict):
        raise InvalidRequest("expected a map with `input`, a map, and `deny`: the messages")
    if unknown := value.keys() - _KEYS:
        raise InvalidRequest(f"unknown key {min(unknown)!r}; known are input, deny and warn")
    return value


def _difference(key: str, said: Iterable[str], case: Mapping[str, Any]) -> list[str]:
    found, expected = sorted(said), sorted(case.get(key) or ())
    if found == expected:
        return []
    return [f"{key} is {found}, expected {expected}"]
