"""Somebody answers for a denial: who may, how many it takes, and that everybody sees it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from gate import LIMITS, WORKSPACE, Gate, policy

from foretell.api import create_app
from foretell.api.server import listening
from foretell.auth.tokens import Grant, create_token
from foretell.cli.app import run
from foretell.domain.plan import PlanStatus
from foretell.domain.summary import Conclusion, PlanReport, conclude, exit_code
from foretell.domain.target import Policy, PolicyRule
from foretell.formats.document import read_report
from foretell.formats.html import page
from foretell.formats.markdown import comment
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.ports import Role

DENIES = PolicyRule("freeze", 'package main\ndeny contains "it is friday"')
ADVISES = replace(DENIES, name="advice", mandatory=False)
ERRS = PolicyRule("errs", "package main\ndeny contains 1 + input.agent_type")
PASSES = PolicyRule("passes", "package main\ndeny := set()")
PLANS = "/v1/workspaces/shop/deployments/web"


def may(role: str, count: int = 1, *rules: PolicyRule) -> Policy:
    return replace(
        policy("guard", *(rules or (DENIES,))), overrides_role=role, overrides_count=count
    )


class People:
    """Tokens with a name each, and the API that they ask."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.app = create_app(
            store=gate.store,
            selectors=CelSelectors(),
            validator=gate.validator,
            clock=gate.clock,
            ids=gate.ids,
            limits=LIMITS,
            inventories=parse,
        )

    @asynccontextmanager
    async def person(self, name: str, role: Role = Role.ADMIN) -> AsyncIterator[httpx.AsyncClient]:
        grant = Grant(name, role, WORKSPACE.id)
        text, _ = await create_token(self._gate.store, self._gate.clock, self._gate.ids, grant)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app),
            base_url="http://foretell.test",
            headers={"Authorization": f"Bearer {text}"},
        ) as client:
            yield client

    async def override(
        self, plan: PlanReport, name: str, *, role: Role = Role.ADMIN, **body: Any
    ) -> httpx.Response:
        given = {"rule": "freeze", "reason": "the fix for the outage", **body}
        async with self.person(name, role) as client:
            return await client.post(f"{PLANS}/plan/{plan.id}/overrides", json=given)

    async def plan(self, plan: PlanReport) -> tuple[PlanReport, str]:
        """The plan and its ETag, as somebody reads them."""
        async with self.person("reader", Role.VIEWER) as client:
            answer = await client.get(f"{PLANS}/plan/{plan.id}")
        assert answer.status_code == 200, answer.text
        return read_report(answer.json()), answer.headers["ETag"]


@pytest.fixture
def people(gate: Gate) -> People:
    return People(gate)


async def planned(gate: Gate, guard: Policy, *targets: str) -> PlanReport:
    names = targets or ("eu-1",)
    await gate.write(names, guard)
    return await gate.plan({"kinds": {name: {"manifest": True} for name in names}})


def ending(report: PlanReport) -> tuple[int, Conclusion]:
    code = exit_code(report.status, report.summary)
    return code, conclude(report.status, report.reason, report.summary)


async def test_an_override_ends_the_block_and_is_shown_everywhere(
    gate: Gate, people: People
) -> None:
    plan = await planned(gate, may("admin"))
    before, old_etag = await people.plan(plan)
    assert ending(before) == (3, Conclusion.FAILURE)
    answer = await people.override(plan, "kim")
    assert answer.status_code == 201, answer.text
    assert answer.json() | {"given": 1, "needed": 1, "blocks": False, "by": "kim"} == answer.json()
    after, new_etag = await people.plan(plan)
    assert old_etag != new_etag
    assert ending(after) == (0, Conclusion.NEUTRAL)
    (verdict,) = after.targets[0].verdicts
    assert (verdict.overridden_by, verdict.status.value) == (("kim",), "denied")
    assert after.summary is not None
    assert (after.summary.violations, after.summary.blocking, after.summary.overridden) == (1, 0, 1)
    said = "it is friday (overridden by kim: the fix for the outage)"
    assert said in comment(after).replace("\\", "")
    assert "(overridden by kim: the fix for the outage)" in page([after])
    assert "1 violation, 1 overridden" in comment(after)


async def test_the_stored_document_and_the_report_are_of_the_same_commit(
    gate: Gate, people: People
) -> None:
    """The comment and the check are written from the report, the API's answer is the document."""
    plan = await planned(gate, may("admin"))
    await gate.rows("DELETE FROM pgqueuer RETURNING 1")
    await people.override(plan, "kim")
    async with gate.store.begin() as tx:
        report = await tx.report(plan.id)
    shown, _ = await people.plan(plan)
    assert report is not None
    assert report.summary == shown.summary
    assert report.targets[0].verdicts == shown.targets[0].verdicts
    jobs = await gate.rows("SELECT entrypoint, convert_from(payload, 'UTF8') FROM pgqueuer")
    assert jobs == [("report", plan.id)]


async def test_two_overrides_by_one_person_count_once(gate: Gate, people: People) -> None:
    plan = await planned(gate, may("admin", 2))
    for name in ("kim", "kim", "Kim "):
        answer = await people.override(plan, name)
        assert answer.json() | {"given": 1, "needed": 2, "blocks": True} == answer.json()
    shown, _ = await people.plan(plan)
    assert ending(shown) == (3, Conclusion.FAILURE)
    assert "override by 1 of 2, still in force: kim: the fix" in comment(shown)
    answer = await people.override(plan, "lee")
    assert answer.json() | {"given": 2, "needed": 2, "blocks": False} == answer.json()
    shown, _ = await people.plan(plan)
    assert ending(shown) == (0, Conclusion.NEUTRAL)
    assert shown.targets[0].verdicts[0].overridden_by == ("kim", "lee")


@pytest.mark.parametrize(
    ("needed", "role", "status"),
    [
        ("", Role.ADMIN, 403),
        ("admin", Role.PLANNER, 403),
        ("planner", Role.VIEWER, 403),
        ("planner", Role.PLANNER, 201),
        ("planner", Role.ADMIN, 201),
        ("release-managers", Role.ADMIN, 403),
    ],
)
async def test_only_the_role_that_the_policy_names_may_override(
    gate: Gate, people: People, needed: str, role: Role, status: int
) -> None:
    plan = await planned(gate, may(needed))
    answer = await people.override(plan, "kim", role=role)
    assert answer.status_code == status, answer.text
    rows = await gate.rows("SELECT count(*) FROM deployment_plan_override")
    assert rows == [(1 if status == 201 else 0,)]
    shown, _ = await people.plan(plan)
    assert ending(shown)[0] == (0 if status == 201 else 3)


async def test_it_is_the_role_at_the_time_of_judging_that_counts(
    gate: Gate, people: People
) -> None:
    """A verdict is as frozen as the rest of a plan: what the policy says later is for later."""
    plan = await planned(gate, may("admin"))
    await gate.write(["eu-1"], may("viewer"))
    assert (await people.override(plan, "kim", role=Role.VIEWER)).status_code == 403


async def test_an_override_of_one_target_leaves_the_others_blocked(
    gate: Gate, people: People
) -> None:
    plan = await planned(gate, may("admin"), "eu-1", "us-1")
    answer = await people.override(plan, "kim", target="production/eu-1")
    assert answer.status_code == 201, answer.text
    shown, _ = await people.plan(plan)
    blocked = {row.target.resource_name: row.verdicts[0].blocks for row in shown.targets}
    assert blocked == {"eu-1": False, "us-1": True}
    assert ending(shown) == (3, Conclusion.FAILURE)
    await people.override(plan, "kim", target=plan.targets[1].target.id)
    shown, _ = await people.plan(plan)
    assert ending(shown) == (0, Conclusion.NEUTRAL)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"rule": "other"}, 422, "these did: advice, errs, freeze, passes"),
        ({"target": "production/none"}, 422, "production/eu-1"),
        ({"policy": "other"}, 422, "no rule 'freeze'"),
        ({"rule": "advice"}, 409, "advisory"),
        ({"rule": "errs"}, 409, "could not answer"),
        ({"rule": "passes"}, 409, "denied nothing"),
        ({"reason": "  "}, 422, "reason"),
        ({"reason": "x" * 1_001}, 422, "reason"),
    ],
)
async def test_what_can_not_be_overridden_is_refused_with_its_cause(
    gate: Gate, people: People, body: dict[str, Any], status: int, says: str
) -> None:
    plan = await planned(gate, may("admin", 1, DENIES, ADVISES, ERRS, PASSES))
    answer = await people.override(plan, "kim", **body)
    assert (answer.status_code, says in answer.text) == (status, True), answer.text
    assert await gate.rows("SELECT count(*) FROM deployment_plan_override") == [(0,)]


async def test_a_rule_of_two_policies_is_told_apart(gate: Gate, people: People) -> None:
    other = replace(policy("other", DENIES), overrides_role="admin")
    await gate.write(["eu-1"], may("admin"), other)
    plan = await gate.plan({"kinds": {"eu-1": {"manifest": True}}})
    assert (await people.override(plan, "kim")).status_code == 422
    answer = await people.override(plan, "kim", policy="other")
    assert answer.status_code == 201, answer.text
    shown, _ = await people.plan(plan)
    assert {one.policy: one.blocks for one in shown.targets[0].verdicts} == {
        "guard": True,
        "other": False,
    }


async def test_an_open_plan_is_not_overridden(gate: Gate, people: People) -> None:
    await gate.write(["eu-1"], may("admin"))
    plan = await gate.submit({"kinds": {"eu-1": {"manifest": True}}})
    async with gate.store.begin() as tx:
        report = await tx.report(plan.id)
    assert report is not None
    assert report.status is PlanStatus.COMPUTING
    answer = await people.override(report, "kim")
    assert (answer.status_code, "only a completed plan" in answer.text) == (409, True)


async def test_the_audit_tells_who_what_where_and_why_when_the_plan_is_gone(
    gate: Gate, people: People
) -> None:
    plan = await planned(gate, may("admin"))
    for name in ("kim", "lee"):
        await people.override(plan, name)
    async with gate.store.begin() as tx:
        assert await tx.delete_expired(plan.expires_at) == 1
    async with people.person("auditor") as client:
        first = (await client.get("/v1/workspaces/shop/overrides?limit=1")).json()
        rest = (await client.get(f"/v1/workspaces/shop/overrides?cursor={first['next']}")).json()
    assert [one["by"] for one in (*first["overrides"], *rest["overrides"])] == ["lee", "kim"]
    (entry,) = first["overrides"]
    assert (entry["rule"], entry["reason"]) == ("freeze", "the fix for the outage")
    assert entry["subject"] == {
        "deployment": "web",
        "version": "v2",
        "denied": [{"environment": "production", "resource": "eu-1", "messages": ["it is friday"]}],
    }
    async with people.person("reader", Role.PLANNER) as client:
        assert (await client.get("/v1/workspaces/shop/overrides")).status_code == 403


async def test_overrides_of_many_at_once_are_all_counted(gate: Gate, people: People) -> None:
    """Each writes the document anew: of two at once the second must not lose the first."""
    plan = await planned(gate, may("admin", 4))
    names = ("ann", "bob", "kim", "lee")
    answers = await asyncio.gather(*(people.override(plan, name) for name in names))
    assert [answer.status_code for answer in answers] == [201] * 4
    shown, _ = await people.plan(plan)
    assert ending(shown) == (0, Conclusion.NEUTRAL)
    assert sorted(shown.targets[0].verdicts[0].overridden_by) == list(names)


async def test_the_command_overrides_and_says_how_many_are_missing(
    gate: Gate,
    people: People,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = await planned(gate, may("planner", 2))
    where = ["-w", "shop", "-d", "web"]
    async with listening(people.app, "127.0.0.1", 0) as address:
        monkeypatch.setenv("FORETELL_URL", address)
        codes = []
        for name in ("kim", "lee"):
            async with people.person(name, Role.PLANNER) as client:
                bearer = client.headers["Authorization"].removeprefix("Bearer ")
            monkeypatch.setenv("FORETELL_TOKEN", bearer)
            line = [
                "policy",
                "override",
                plan.id,
                "--rule",
                "freeze",
                "--reason",
                "checked",
                *where,
            ]
            codes.append(await asyncio.to_thread(run, line))
        said = capsys.readouterr().out
        codes.append(await asyncio.to_thread(run, ["show", plan.id, *where]))
        shown = capsys.readouterr().out
        codes.append(await asyncio.to_thread(run, ["policy", "override", plan.id, *where]))
    assert codes == [0, 0, 0, 1]
    assert [line for line in said.splitlines() if "answers for" in line] == [
        "kim answers for rule freeze of policy guard: 1 of 2 people, it still blocks",
        "lee answers for rule freeze of policy guard: 2 of 2 people, it no longer blocks",
    ]
    assert "freeze says no: it is friday (overridden by kim: checked; lee: checked)" in shown
    assert "--rule, --reason" in capsys.readouterr().err
