"""The plan as JSON: what it leaves out nobody sees, what it says comes back."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretell.domain.context import AgentRef
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import AgentId, InvocationId
from foretell.domain.result import Status
from foretell.domain.rollup import InvocationState, roll
from foretell.domain.summary import PlanReport, summarize
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.formats.document import DiffMode, encode, encode_report, read_report, report_document
from foretell.testing.reports import Anything

seeds = st.integers(0, 2**32)


def read_back(report: PlanReport) -> PlanReport:
    return read_report(json.loads(encode_report(report)))


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_a_document_that_was_read_is_written_the_same(seed: int) -> None:
    report = Anything(seed).report()
    assert encode_report(read_back(report)) == encode_report(report)


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_what_is_read_shows_the_same_counts_and_flags(seed: int) -> None:
    report = Anything(seed).report()
    there = read_back(report)
    assert there.summary == report.summary
    assert [row.has_changes for row in there.targets] == [row.has_changes for row in report.targets]
    assert [row.status for row in there.targets] == [row.status for row in report.targets]
    if report.summary is not None:
        again = summarize(there.targets)
        assert replace(again, suggested_target_selector=None) == replace(
            report.summary, suggested_target_selector=None
        )


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_every_mode_is_json_and_leaves_out_only_diffs(seed: int) -> None:
    report = Anything(seed).report()
    full, resources, none = (report_document(report, mode) for mode in DiffMode)
    for target in [*resources["targets"], *none["targets"]]:
        assert (target["diff"] or {}).get("raw") is None
        assert all(one["diff"] is None for agent in target["agents"] for one in agent["results"])
    assert all(target["diff"] is None for target in none["targets"])
    for document in (resources, none):
        assert document["summary"] == full["summary"]
        assert [t["hasChanges"] for t in document["targets"]] == [
            t["hasChanges"] for t in full["targets"]
        ]


def a_report(state: InvocationState) -> PlanReport:
    anything = Anything(1, ["production"])
    targets = roll([replace(anything.target(), invocations=(state,))])
    return replace(anything.report(), targets=targets, summary=summarize(targets))


QUIET = InvocationState(InvocationId("i"), AgentRef(AgentId("a"), "agent", "x"), Status.ERRORED)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("half \ud800 a character", "half \ufffd a character"),
        ("\udcff", "\ufffd"),
        ("\x00", "\x00"),
        ("\ue000d800 😀 \u2028", "\ue000d800 😀 \u2028"),
    ],
)
def test_odd_text_does_not_stop_a_plan(text: str, shown: str) -> None:
    document = json.loads(encode_report(a_report(replace(QUIET, message=text))))
    assert document["targets"][0]["message"] == shown


def test_a_number_of_any_size_does_not_stop_a_plan() -> None:
    denial = Denial("too large", {"limit": 2**70, "ratio": float("nan"), "\ud800": [-(2**64)]})
    verdict = Verdict("p", "r", VerdictStatus.DENIED, denials=(denial,))
    document = json.loads(encode_report(a_report(replace(QUIET, verdicts=(verdict,)))))
    details = document["targets"][0]["agents"][0]["validations"][0]["denials"][0]["details"]
    assert details == {"limit": 2**70, "ratio": None, "\ufffd": [-(2**64)]}


def test_unknown_is_written_as_null_and_read_as_unknown() -> None:
    report = a_report(QUIET)
    document = json.loads(encode_report(report))
    assert document["targets"][0]["hasChanges"] is None
    assert read_back(report).targets[0].has_changes is None


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"id": "p"},
        [],
        "text",
        {"detail": "not found"},
    ],
)
def test_another_document_is_refused(broken: object) -> None:
    with pytest.raises(InvalidRequest, match="not a plan document"):
        read_report(broken)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=50)
@given(seeds, st.data())
def test_a_document_with_a_field_missing_is_refused(seed: int, data: st.DataObject) -> None:
    document = json.loads(encode_report(Anything(seed).report()))
    places = [document, *document["targets"]]
    place = data.draw(st.sampled_from(places))
    key = data.draw(st.sampled_from(sorted(place)))
    if place is not document and key in {"hasChanges", "status", "reason", "message"}:
        return  # rolled up anew from the agents
    del place[key]
    with pytest.raises(InvalidRequest):
        read_report(document)


def test_any_plain_values_can_be_written() -> None:
    document = {"half": "a\ud800", "big": 2**70, "list": ["\udfff"]}
    assert json.loads(encode(document)) == {"half": "a\ufffd", "big": 2**70, "list": ["\ufffd"]}
