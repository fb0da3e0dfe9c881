"""A plan's log: what it is good for, and what never leaves it."""

import json
from typing import Any

import pytest

from foretell.agents.terraform_cloud.answer import Secrets, from_log
from foretell.agents.terraform_cloud.log import parse_log
from foretell.agents.terraform_cloud.run import PlanView
from foretell.domain.digest import Key
from foretell.domain.result import Action

SECRETS = Secrets(frozenset({"S3cr3t-Value-42"}), Key(b"k" * 32))


def lines(*events: dict[str, Any]) -> bytes:
    return b"\x02" + b"\n".join(json.dumps(event).encode() for event in events) + b"\n\x03"


def planned(action: str, address: str = "x.a") -> dict[str, Any]:
    resource = {"addr": address, "resource_type": "x"}
    return {"type": "planned_change", "change": {"resource": resource, "action": action}}


def test_remove_means_forget_in_a_change_and_destroy_in_the_summary() -> None:
    log = parse_log(lines(planned("remove"), {"type": "change_summary", "changes": {"remove": 2}}))
    result = from_log(log, PlanView("plan-1"), SECRETS).result
    (change,) = result.resources
    assert (change.action, change.tags) == (Action.NO_OP, ("remove",))
    assert "will be forgotten" in change.after
    assert log.summary == {"remove": 2}


def test_a_change_in_the_log_is_a_change_whatever_the_plan_says() -> None:
    log = parse_log(lines(planned("update")))
    assert from_log(log, PlanView("p", has_changes=None), SECRETS).result.has_changes is True


@pytest.mark.parametrize("says", [None, False, True])
def test_without_a_change_in_the_log_the_server_decides_and_nobody_guesses(
    says: bool | None,
) -> None:
    log = parse_log(lines({"type": "change_summary", "changes": {"add": 0}}))
    assert from_log(log, PlanView("p", has_changes=says), SECRETS).result.has_changes is says


def test_n18_counts_that_are_not_there_are_not_zero() -> None:
    assert from_log(parse_log(b""), PlanView("p"), SECRETS).result.has_changes is None
    assert from_log(
        parse_log(b""), PlanView("p", counts=(("create", 2),)), SECRETS
    ).result.has_changes


def test_an_output_alone_is_a_change() -> None:
    outputs = {"a": {"action": "update"}, "b": {"action": "noop"}, "c": {}}
    log = parse_log(lines({"type": "outputs", "outputs": outputs}))
    assert log.outputs == 1
    assert from_log(log, PlanView("p"), SECRETS).result.has_changes is True


def test_a_read_and_a_no_op_are_no_changes() -> None:
    assert parse_log(lines(planned("read"), planned("noop"))).changes == ()


def test_addresses_are_scrubbed() -> None:
    log = parse_log(lines(planned("create", 'x.a["S3cr3t-Value-42"]')))
    assert "S3cr3t" not in repr(from_log(log, PlanView("p"), SECRETS))


def test_plain_lines_between_the_events_do_no_harm() -> None:
    content = b"Terraform v1\n" + lines(planned("delete")) + b"{broken\n[1]\n"
    assert [each.action for each in parse_log(content).changes] == ["delete"]


def test_of_plain_text_only_the_end_is_kept_without_colours() -> None:
    log = parse_log(b"\x02" + b"x" * 9000 + b"\n\x1b[31mError:\x1b[0m no value for x\n\x03")
    assert log.structured is False
    assert log.reason.endswith("Error: no value for x")
    assert len(log.reason) < 2100


def test_a_diagnostic_is_told_without_its_snippet() -> None:
    found = {"severity": "error", "summary": "Bad", "detail": "why", "snippet": {"code": "pw"}}
    warning = {"severity": "warning", "summary": "Hm"}
    events = [{"type": "diagnostic", "diagnostic": each} for each in (warning, found)]
    assert parse_log(lines(*events)).reason == "Bad: why"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "planned_change"},
        {"type": "planned_change", "change": {"action": 1, "resource": {}}},
        {"type": "planned_change", "change": {"action": "create", "resource": None}},
        {"type": "change_summary", "changes": [1]},
        {"type": "outputs", "outputs": {"a": 1}},
        {"type": "diagnostic", "diagnostic": None},
        {"type": 7},
    ],
)
def test_an_event_that_is_none_is_left_out(event: dict[str, Any]) -> None:
    log = parse_log(lines(event))
    assert (log.changes, log.errors, log.outputs) == ((), (), 0)
