"""A plan's legal moves, and under which name a newer one replaces an older one."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest

from foretell.domain.errors import IllegalTransition
from foretell.domain.plan import (
    DeploymentId,
    GithubRef,
    Plan,
    PlanId,
    PlanReason,
    PlanRequest,
    PlanStatus,
    WorkspaceId,
    supersedes_key,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PLAN = Plan(
    PlanId("p"),
    WorkspaceId("w"),
    DeploymentId("d"),
    PlanRequest("v1"),
    NOW,
    NOW + timedelta(minutes=30),
    NOW + timedelta(hours=1),
)
FANNED_OUT = replace(PLAN, fanned_out_at=NOW)


def test_a_plan_completes_once_and_only_after_it_was_fanned_out() -> None:
    done = FANNED_OUT.complete(NOW)
    assert (done.status, done.completed_at, done.reason) == (PlanStatus.COMPLETED, NOW, None)
    for never in (PLAN, done, FANNED_OUT.fail(PlanReason.CANCELLED, NOW)):
        with pytest.raises(IllegalTransition, match="p is"):
            never.complete(NOW)


@pytest.mark.parametrize("reason", list(PlanReason))
def test_a_plan_fails_once_for_one_reason(reason: PlanReason) -> None:
    for computing in (PLAN, FANNED_OUT):
        failed = computing.fail(reason, NOW)
        assert (failed.status, failed.reason, failed.completed_at) == (
            PlanStatus.FAILED,
            reason,
            NOW,
        )
        for other in PlanReason:
            with pytest.raises(IllegalTransition):
                failed.fail(other, NOW)
    with pytest.raises(IllegalTransition):
        FANNED_OUT.complete(NOW).fail(reason, NOW)


PULL = GithubRef("Acme", "shop", "abc", 7)
REQUEST = PlanRequest("v1", github=PULL)
D = DeploymentId("d")


def test_only_a_pull_request_has_a_newest_plan() -> None:
    assert supersedes_key(D, PlanRequest("v1")) is None
    assert supersedes_key(D, replace(REQUEST, github=replace(PULL, pr_number=None))) is None
    assert supersedes_key(D, REQUEST) is not None


def test_head_tag_and_spelling_do_not_make_another_pull_request() -> None:
    key = supersedes_key(D, REQUEST)
    for same in (
        replace(REQUEST, tag="v2", config={"a": 1}),
        replace(REQUEST, github=replace(PULL, sha="def")),
        replace(REQUEST, github=replace(PULL, owner="ACME", repo="Shop")),
    ):
        assert supersedes_key(D, same) == key


def test_another_scope_deployment_or_pull_request_is_another_name() -> None:
    others = [
        supersedes_key(D, REQUEST),
        supersedes_key(DeploymentId("d2"), REQUEST),
        supersedes_key(D, replace(REQUEST, environment_selector="x")),
        supersedes_key(D, replace(REQUEST, resource_selector="x")),
        supersedes_key(D, replace(REQUEST, github=replace(PULL, pr_number=8))),
        supersedes_key(D, replace(REQUEST, github=replace(PULL, repo="shop2"))),
        supersedes_key(D, replace(REQUEST, github=replace(PULL, owner='acme","shop'))),
    ]
    assert all(left != right for left, right in combinations(others, 2))
