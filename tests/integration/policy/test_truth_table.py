"""A denial or an error is never lost, whatever else there is: the whole table, and its traps."""

from itertools import product
from typing import Any

import orjson
import pytest
from gate import KINDS, Gate, policy

from foretell.domain.summary import Conclusion, PlanReport, conclude, exit_code
from foretell.domain.target import PolicyRule
from foretell.formats.document import report_document
from foretell.formats.markdown import comment

RULE = """package main

said := input.proposed_version.config.says[input.resource.identifier]

deny contains sprintf("%s may not", [input.resource.name]) if said == "violates"

deny contains "never" if {
	said == "errs"
	said + 1 == 2
}
"""

CHANGES = {"changed": True, "unchanged": False, "unknown": None}
SAYS = ("passes", "violates", "errs")
OTHERS = {"a-first": ("changed", "passes"), "z-last": ("unchanged", "passes")}


def _config(cases: dict[str, tuple[str, str]], kinds: int) -> dict[str, Any]:
    """With many kinds only the last has what the case says; the others change nothing."""
    quiet = dict.fromkeys(KINDS[: kinds - 1], False)
    return {
        "kinds": {
            name: {**quiet, KINDS[kinds - 1]: CHANGES[changes]}
            for name, (changes, _) in cases.items()
        },
        "says": {name: said for name, (_, said) in cases.items()},
    }


def _expected(cases: dict[str, tuple[str, str]], *, mandatory: bool) -> tuple[int, int, Conclusion]:
    """Exit code, with --detailed-exitcode, and the check's conclusion; said once more, by hand."""
    said = {one for _, one in cases.values()}
    if "errs" in said:
        return 1, 1, Conclusion.FAILURE
    if "violates" in said and mandatory:
        return 3, 3, Conclusion.FAILURE
    if {changes for changes, _ in cases.values()} <= {"unchanged"}:
        return 0, 0, Conclusion.SUCCESS
    return 0, 2, Conclusion.NEUTRAL


def _shown(report: PlanReport) -> tuple[int, int, Conclusion]:
    status, summary = report.status, report.summary
    return (
        exit_code(status, summary),
        exit_code(status, summary, detailed=True),
        conclude(status, report.reason, summary),
    )


@pytest.mark.parametrize("mandatory", [True, False], ids=["mandatory", "advisory"])
async def test_what_a_rule_says_reaches_document_check_exit_code_and_comment(
    gate: Gate, mandatory: bool, subtests: pytest.Subtests
) -> None:
    rule = PolicyRule("nocase", RULE, mandatory=mandatory)
    await gate.write(["a-first", "case", "z-last"], policy("guard", rule))
    for changes, said, targets, kinds in product(CHANGES, SAYS, (1, 3), (1, 3)):
        with subtests.test(f"{changes}, {said}, {targets} targets, {kinds} kinds"):
            cases = {"case": (changes, said)} | (OTHERS if targets > 1 else {})
            only = 'resource.identifier == "case"' if targets == 1 else ""
            report = await gate.plan(_config(cases, kinds), resources=only)
            assert _shown(report) == _expected(cases, mandatory=mandatory)
            _is_told(report, said, mandatory=mandatory)


def _is_told(report: PlanReport, said: str, *, mandatory: bool) -> None:
    document = orjson.loads(orjson.dumps(report_document(report)))
    (target,) = (one for one in document["targets"] if one["resourceName"] == "case")
    ((verdict,),) = [agent["validations"] for agent in target["agents"]]
    statuses = {"passes": "passed", "violates": "denied", "errs": "errored"}
    assert (verdict["policy"], verdict["rule"]) == ("guard", "nocase")
    assert (verdict["status"], verdict["mandatory"]) == (statuses[said], mandatory)
    text = comment(report)
    match said:
        case "violates":
            assert [one["message"] for one in verdict["denials"]] == ["case may not"]
            assert "**nocase** on production / case: case may not" in text
        case "errs":
            assert "line 9" in verdict["message"]
            assert "**nocase** on production / case: line 9" in text
        case _:
            assert "nocase" not in text
    assert document["summary"]["violations"] == (said == "violates")
    assert document["summary"]["validationErrors"] == (said == "errs")


async def test_one_rule_that_errs_takes_no_other_answer_with_it(gate: Gate) -> None:
    """Nine rules after it would be silent where one error drops the results of all."""
    errs = PolicyRule("a-errs", "package main\ndeny contains 1 + input.agent_type")
    says = PolicyRule("b-says", 'package main\ndeny contains "no"')
    loops = PolicyRule(
        "c-crashes", 'package main\nf(x) := f(x)\ndeny contains "x" if f(input) == 1'
    )
    more = PolicyRule("d-says", 'package main\ndeny contains "no"', mandatory=False)
    await gate.write(["case"], policy("guard", errs, says, loops, more))
    report = await gate.plan(_config({"case": ("changed", "passes")}, 1))
    verdicts = report.targets[0].verdicts
    assert [(one.rule, one.status.value) for one in verdicts] == [
        ("a-errs", "errored"),
        ("b-says", "denied"),
        ("c-crashes", "errored"),
        ("d-says", "denied"),
    ]
    assert _shown(report) == (1, 1, Conclusion.FAILURE)


async def test_a_rule_that_no_longer_compiles_is_an_error_and_not_a_pass(gate: Gate) -> None:
    """It was saved by another version of the engine, or past it."""
    broken = PolicyRule("broken", 'package main\ndeny contains "x" if {')
    await gate.write(["case"], policy("guard", broken))
    report = await gate.plan(_config({"case": ("unchanged", "passes")}, 1))
    assert [one.status.value for one in report.targets[0].verdicts] == ["errored"]
    assert _shown(report) == (1, 1, Conclusion.FAILURE)


async def test_a_rule_addresses_fields_of_every_kind(gate: Gate) -> None:
    """The sides are parsed, not text."""
    rego = """package main
deny contains msg if {
	some kind in ["manifest", "cr"]
	some object in input[kind].proposed
	object.kind == "B"
	input[kind].current[0].kind == "A"
	input[kind].has_changes
	msg := sprintf("%s becomes %s for %s", [kind, object.kind, input.environment.name])
}"""
    await gate.write(["case"], policy("guard", PolicyRule("r", rego)))
    report = await gate.plan({"kinds": {"case": {"manifest": True, "cr": True}}})
    (verdict,) = report.targets[0].verdicts
    assert [one.message for one in verdict.denials] == [
        "cr becomes B for production",
        "manifest becomes B for production",
    ]


async def test_no_rule_that_applies_is_no_rules_and_not_passed(gate: Gate) -> None:
    rule = PolicyRule("r", 'package main\ndeny contains "no"')
    await gate.write(["case"], policy("guard", rule, selector='environment.name == "staging"'))
    report = await gate.plan(_config({"case": ("unchanged", "passes")}, 1))
    assert report.targets[0].verdicts == ()
    assert _shown(report) == (0, 0, Conclusion.SUCCESS)


async def test_verdicts_stand_on_the_anchor_row_one_for_each_rule(gate: Gate) -> None:
    rules = [PolicyRule(name, f'package {name}\ndeny contains "no"') for name in ("a", "b")]
    await gate.write(["case"], policy("guard", *rules))
    await gate.plan(_config({"case": ("changed", "passes")}, 3))
    found = await gate.rows(
        "SELECT part.id = part.invocation_id, verdict.policy, verdict.rule, verdict.status "
        "FROM deployment_plan_target_result_validation AS verdict "
        "JOIN deployment_plan_target_result AS part ON part.id = verdict.result_id "
        "ORDER BY verdict.position"
    )
    assert found == [(True, "guard", "a", "denied"), (True, "guard", "b", "denied")]
