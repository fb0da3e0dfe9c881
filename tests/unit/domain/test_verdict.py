"""What rules see and say: a gate that could not be asked is not passed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.domain.context import AgentRef, DispatchContext, Side, Version
from foretell.domain.override import Override, OverrideTerms
from foretell.domain.plan import AgentId, InvocationId, PlanId, PlanStatus, TargetId, WorkspaceId
from foretell.domain.result import Invocation, Kind, KindResult, kinds_problem
from foretell.domain.target import Policy, PolicyRule
from foretell.domain.verdict import (
    RESERVED,
    Denial,
    KindDocument,
    Rule,
    Verdict,
    VerdictStatus,
    errored,
    rule_input,
    rules_for,
    selector_scope,
)

SIDE = Side(
    version=Version("v2", config={"a": 1}),
    agent_config={"token": "canary"},
    variables={"secret": "canary"},
    deployment={"id": "d", "name": "Web"},
    environment={"id": "e", "name": "production"},
    resource={"id": "r", "identifier": "eu-1"},
)
CONTEXT = DispatchContext(
    InvocationId("i"),
    PlanId("p"),
    WorkspaceId("w"),
    AgentRef(AgentId("a"), "agent", "scripted"),
    proposed=SIDE,
    current=replace(SIDE, version=Version("v1")),
)
ADMIN = OverrideTerms("admin")
KIM = Override("kim", "planned", datetime(2026, 1, 1, tzinfo=UTC))
DOCUMENT = KindDocument({"a": 1}, {"a": 2}, True, ({"kind": "Deployment"},))


def test_rules_see_a_key_per_kind_beside_the_reserved_ones() -> None:
    seen = rule_input(CONTEXT, {"manifest": DOCUMENT})
    assert seen.keys() == {"manifest", *RESERVED}
    assert seen["manifest"] == {
        "current": {"a": 1},
        "proposed": {"a": 2},
        "has_changes": True,
        "changes": [{"kind": "Deployment"}],
    }
    assert seen["agent_type"] == "scripted"
    assert seen["environment"]["name"] == "production"
    assert (seen["proposed_version"]["tag"], seen["current_version"]["tag"]) == ("v2", "v1")


def test_rules_see_unknown_as_unknown() -> None:
    seen = rule_input(CONTEXT, {"plan": replace(DOCUMENT, has_changes=None)})
    assert seen["plan"]["has_changes"] is None


def test_a_side_that_is_not_there_is_null_and_not_absent() -> None:
    new = rule_input(replace(CONTEXT, current=None), {})
    removed = rule_input(replace(CONTEXT, proposed=None), {})
    assert (new["current_version"], removed["proposed_version"]) == (None, None)
    assert removed["resource"] == SIDE.resource


def test_neither_config_nor_variables_reach_a_rule() -> None:
    assert "canary" not in repr(rule_input(CONTEXT, {"manifest": DOCUMENT}))


@given(st.dictionaries(st.sampled_from([*RESERVED, "plan"]), st.just(DOCUMENT)))
def test_no_kind_can_stand_in_for_a_reserved_key(kinds: dict[str, KindDocument]) -> None:
    seen = rule_input(CONTEXT, kinds)
    assert {key: seen[key] for key in RESERVED} == rule_input(CONTEXT, {})


def a_result(kind: str) -> KindResult:
    return KindResult(Kind(kind), "", "", False)


@given(st.lists(st.sampled_from(["", "manifest", "plan", *sorted(RESERVED)]), max_size=4))
def test_kinds_are_non_empty_unique_and_none_is_reserved(kinds: list[str]) -> None:
    fine = bool(kinds) and len(set(kinds)) == len(kinds) and not {"", *RESERVED} & set(kinds)
    assert (kinds_problem([a_result(kind) for kind in kinds], RESERVED) is None) is fine


@pytest.mark.parametrize(
    ("verdict", "blocks"),
    [
        (Verdict("p", "r", VerdictStatus.PASSED), False),
        (Verdict("p", "r", VerdictStatus.DENIED), True),
        (Verdict("p", "r", VerdictStatus.DENIED, mandatory=False), False),
        (Verdict("p", "r", VerdictStatus.DENIED, terms=ADMIN, overrides=(KIM,)), False),
        (Verdict("p", "r", VerdictStatus.ERRORED), True),
        (Verdict("p", "r", VerdictStatus.ERRORED, mandatory=False), True),
        (Verdict("p", "r", VerdictStatus.ERRORED, terms=ADMIN, overrides=(KIM,)), True),
    ],
)
def test_what_blocks_is_a_mandatory_denial_and_any_error(verdict: Verdict, blocks: bool) -> None:
    assert verdict.blocks is blocks
    assert replace(verdict, denials=(Denial("no"),)).blocks is blocks


def test_a_gate_that_could_not_be_asked_answers_every_rule_with_an_error() -> None:
    rules = [Rule("p", "a", "…"), Rule("p", "b", "…", mandatory=False)]
    verdicts = errored(rules, "away")
    assert [(one.rule, one.status, one.message) for one in verdicts] == [
        ("a", VerdictStatus.ERRORED, "away"),
        ("b", VerdictStatus.ERRORED, "away"),
    ]


def test_the_rules_that_apply_come_by_policy_and_name() -> None:
    def matches(text: str, scope: Any) -> bool:
        return not text or (scope["environment"]["name"] == text and "jobAgent" in scope)

    policies = [
        Policy("2", "b", "production", (PolicyRule("z", "…"), PolicyRule("a", "…"))),
        Policy("1", "a", "", (PolicyRule("m", "…", mandatory=False),)),
        Policy("3", "c", "staging", (PolicyRule("x", "…"),)),
    ]
    found = rules_for(policies, selector_scope(CONTEXT), matches)
    assert [(rule.policy, rule.name, rule.mandatory) for rule in found] == [
        ("a", "m", False),
        ("b", "a", True),
        ("b", "z", True),
    ]
    assert rules_for(reversed(policies), selector_scope(CONTEXT), matches) == found


def test_the_deadline_counts_from_the_first_time_of_asking_and_ends_with_the_plan() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    minute = timedelta(minutes=1)
    asked = Invocation(
        InvocationId("i"),
        PlanId("p"),
        TargetId("t"),
        CONTEXT,
        timeout=10 * minute,
        plan_status=PlanStatus.COMPUTING,
    )
    assert asked.deadline_at(now) == now + 10 * minute
    assert replace(asked, started_at=now - minute).deadline_at(now) == now + 9 * minute
    assert replace(asked, plan_deadline_at=now + minute).deadline_at(now) == now + minute
