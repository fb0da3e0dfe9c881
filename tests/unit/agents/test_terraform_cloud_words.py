"""Statuses, errors, limits and judgements: what the other side's words mean."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretell.agents.terraform_cloud.following import pause
from foretell.agents.terraform_cloud.judged import Judged, read_judged
from foretell.agents.terraform_cloud.pace import Pace
from foretell.agents.terraform_cloud.progress import Progress, read_progress, since
from foretell.agents.terraform_cloud.run import FINAL, Stage, marker, owner, read_run
from foretell.agents.terraform_cloud.said import failure, said
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit.http import Answer
from foretell.testing.budget import FreeBudget


def run_of(status: str, **attributes: Any) -> Any:
    return read_run({"id": "run-1", "attributes": {"status": status, **attributes}})


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ("pending", Stage.QUEUED),
        ("pre_plan_completed", Stage.QUEUED),
        ("planning", Stage.PLANNING),
        ("planned", Stage.PLANNING),
        ("cost_estimated", Stage.PLANNING),
        ("policy_checked", Stage.PLANNING),
        ("post_plan_completed", Stage.PLANNING),
        ("never heard of", Stage.PLANNING),
        ("", Stage.PLANNING),
        ("policy_override", Stage.WAITS_FOR_A_DECISION),
        ("planned_and_finished", Stage.FINISHED),
        ("policy_soft_failed", Stage.SOFT_FAILED),
        ("errored", Stage.ERRORED),
        ("force_canceled", Stage.CANCELLED),
        ("planned_and_saved", Stage.NOT_PLAN_ONLY),
        ("applied", Stage.NOT_PLAN_ONLY),
    ],
)
def test_a_status_has_one_meaning(status: str, stage: Stage) -> None:
    assert run_of(status).stage is stage
    assert run_of(status).ended is (stage in FINAL or status == "applied")


@pytest.mark.parametrize("data", [None, [], {}, {"attributes": 1, "relationships": []}])
def test_a_document_that_is_none_breaks_nothing(data: Any) -> None:
    assert read_run(data, included=[1, {"type": "plans"}]).id == ""


def test_the_invocation_of_a_run_is_read_back_from_its_message() -> None:
    assert owner(f"{marker('i-1')} web v2 at abc") == "i-1"
    for foreign in (
        "",
        "foretell",
        "foretell ",
        "foretell: x",
        "my foretell i-1: x",
        "foretell i 1: x",
    ):
        assert owner(foreign) is None


def answer(status: int, body: Any, **headers: str) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status, {name.replace("_", "-"): v for name, v in headers.items()}, content)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            {"errors": [{"title": "bad", "detail": "no", "source": {"pointer": "/data"}}]},
            "bad: no (/data)",
        ),
        ({"errors": ["one", "two"]}, "one; two"),
        ({"errors": [{}]}, "no reason given"),
        ({"errors": "x"}, "status 422"),
        ([], "status 422"),
        (b"", "status 422"),
        (b"<html><b>Bad</b> Gateway</html>", "a page (is a proxy between?): Bad Gateway"),
        ({"errors": ["Authorization: Bearer abcdefgh1234"]}, "***"),
    ],
)
def test_three_shapes_of_errors_are_read(body: Any, told: str) -> None:
    assert told in said(answer(422, body))
    assert "abcdefgh" not in said(answer(422, body))


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (401, AgentRejected, "wrong, expired or revoked"),
        (403, AgentRejected, "not allowed"),
        (404, AgentRejected, "the hint"),
        (409, AgentRejected, "409"),
        (422, AgentRejected, "422"),
        (500, AgentUnavailable, "500"),
        (503, AgentUnavailable, "503"),
    ],
)
def test_an_error_says_whether_asking_again_helps(
    status: int, kind: type[Exception], told: str
) -> None:
    error = failure(answer(status, {"errors": ["x"]}), "making a run", "the hint")
    assert isinstance(error, kind)
    assert error.message.startswith("making a run: ")
    assert told in error.message


async def test_the_pace_follows_the_headers() -> None:
    budget = FreeBudget()
    pace = Pace(budget, "h", "id")
    assert await pace.learn(answer(200, {}, x_ratelimit_limit="10", x_ratelimit_remaining="3")) == (
        timedelta(0)
    )
    assert pace.per_second == pytest.approx(9.7)
    await pace.learn(answer(200, {}, x_ratelimit_limit="0"))
    assert pace.per_second > 30
    held = await pace.learn(
        answer(200, {}, x_ratelimit_limit="30", x_ratelimit_remaining="0", x_ratelimit_reset="0.4")
    )
    assert held == timedelta(seconds=0.4)
    assert list(budget.held.values()) == [held]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "3", "x_ratelimit_reset": "0.5"}, 3),
        ({"x_ratelimit_reset": "0.5"}, 0.5),
        ({}, 1),
        ({"retry_after": "soon"}, 1),
        ({"retry_after": "99999"}, 300),
        ({"retry_after": "0"}, 0.05),
    ],
)
async def test_too_many_is_a_pause_of_the_asked_length(
    headers: dict[str, str], seconds: float
) -> None:
    wait_for = await Pace(FreeBudget(), "h", "t").learn(answer(429, {}, **headers))
    assert wait_for == timedelta(seconds=seconds)


async def test_lists_of_runs_have_a_rate_of_their_own() -> None:
    budget = FreeBudget()
    await Pace(budget, "h", "t").turn(listing=True)
    assert len(budget.taken) == 2
    await Pace(budget, "h", "t").turn()
    assert sorted(budget.taken.values()) == [1, 2]


def test_two_tokens_have_two_budgets_and_two_workers_one() -> None:
    names = {Pace(FreeBudget(), *each).name for each in (("h", "a"), ("h", "b"), ("i", "a"))}
    assert len(names) == 3
    assert Pace(FreeBudget(), "h", "a").name in names


def test_a_pause_grows_to_its_limit_and_is_never_in_step() -> None:
    queued = [pause(n, queued=True) for n in range(30)]
    assert max(queued) <= timedelta(seconds=12)
    assert min(queued) >= timedelta(seconds=0.8)
    assert max(pause(n, queued=False) for n in range(30)) <= timedelta(seconds=3.6)
    assert len({pause(9, queued=True) for _ in range(20)}) > 1


def test_a_step_is_the_first_only_if_nobody_took_it_before() -> None:
    assert Progress().is_first(1)
    assert not Progress().is_first(2)
    assert not Progress().is_first(0)
    assert Progress(asked=3).is_first(4)
    assert not Progress(asked=3, careful=True).is_first(4)


def test_a_state_survives_what_other_versions_wrote() -> None:
    assert read_progress({"run": "run-1", "unheard": 1}).run == "run-1"
    assert read_progress(None) == Progress()
    progress = Progress(asked=2, run="run-1", made_at="2026-01-01T00:00:00+00:00")
    assert read_progress(progress.as_state()) == progress
    now = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    assert since(progress.made_at, now) == timedelta(minutes=1)
    assert since("", now) == timedelta(0)


class Told:
    """A client that gives one document for every call, and another for outcomes."""

    def __init__(self, document: Any, status: int = 200, outcomes: Any = None) -> None:
        self._answer = answer(status, document)
        self._outcomes = answer(200 if outcomes else 404, outcomes or {})
        self.asked: list[str] = []

    async def call(self, method: str, path: str, **_: Any) -> Answer:
        self.asked.append(path)
        return self._outcomes if path.endswith("/policy-set-outcomes") else self._answer


def judged_run(name: str) -> Any:
    return read_run({"id": "r", "relationships": {name: {"data": [{"id": "1"}]}}})


async def judged(name: str, document: Any, status: int = 200, outcomes: Any = None) -> list[str]:
    found = await read_judged(Told(document, status, outcomes), judged_run(name))  # type: ignore[arg-type]
    return [str(each) for each in found]


async def test_opa_and_tasks_are_named_with_their_weight() -> None:
    stage = {
        "attributes": {"stage": "post_plan", "status": "failed"},
        "relationships": {
            "task-results": {"data": [{"id": "t", "type": "task-results"}]},
            "policy-evaluations": {"data": [{"id": "p", "type": "policy-evaluations"}]},
        },
    }
    task = {
        "id": "t",
        "type": "task-results",
        "attributes": {
            "task-name": "scan",
            "status": "failed",
            "workspace-task-enforcement-level": "advisory",
        },
    }
    policies = {
        "id": "p",
        "type": "policy-evaluations",
        "attributes": {
            "policy-kind": "opa",
            "status": "failed",
            "result-count": {"mandatory-failed": 1, "advisory-failed": 0, "passed": 3},
        },
    }
    assert await judged("task-stages", {"data": [stage], "included": [task, policies]}) == [
        "post plan task scan failed (advisory)",
        "opa policies failed (1 mandatory failed)",
    ]
    outcomes = [
        {"policy_name": "no-public-bucket", "status": "failed"},
        {"policy_name": "tags", "status": "passed"},
    ]
    named = {"data": [{"attributes": {"outcomes": outcomes}}]}
    document = {"data": [stage], "included": [task, policies]}
    assert (await judged("task-stages", document, outcomes=named))[1] == (
        "opa policies failed (1 mandatory failed: no-public-bucket)"
    )


async def test_a_check_that_was_never_reached_is_not_asked_about_and_not_shown() -> None:
    document = {"data": [{"attributes": {"status": "unreachable", "scope": "organization"}}]}
    client = Told(document)
    assert await read_judged(client, judged_run("policy-checks")) == ()  # type: ignore[arg-type]
    assert client.asked == ["runs/r/policy-checks"]


async def test_what_cannot_be_read_is_said() -> None:
    assert await judged("policy-checks", {}, 404) == ["policy check unreadable (status 404)"]
    assert await judged("tf-policy-evaluations", b"<html>") == ["policy evaluation unreadable"]


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["data", "included", "attributes", "relationships", "result", "status", "type"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(document=ANY_JSON)
async def test_an_answer_of_any_shape_breaks_nothing(document: Any) -> None:
    for name in ("policy-checks", "task-stages", "tf-policy-evaluations"):
        await judged(name, document)
    assert read_run(document, document).id is not None


def test_only_what_was_decided_against_has_failed() -> None:
    failed = [
        word
        for word in ("passed", "overridden", "pending", "failed", "hard_failed", "new")
        if Judged("x", word).failed
    ]
    assert failed == ["failed", "hard_failed", "new"]
