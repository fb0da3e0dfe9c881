"""A rule that can't be judged is refused when it is saved, and what was there stays."""

from typing import Any

import httpx
import pytest
from gate import LIMITS, WORKSPACE, Gate, policy

from foretell.api import create_app
from foretell.auth.tokens import Grant, create_token
from foretell.domain.target import PolicyRule
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.policy.absent import NoEngine
from foretell.ports import Role

GOOD = 'package main\ndeny contains "no" if input.manifest.has_changes'
PATH = f"/v1/workspaces/{WORKSPACE.slug}"


async def _client(gate: Gate) -> httpx.AsyncClient:
    app = create_app(
        store=gate.store,
        selectors=CelSelectors(),
        validator=gate.validator,
        clock=gate.clock,
        ids=gate.ids,
        limits=LIMITS,
        inventories=parse,
    )
    grant = Grant("admin", Role.ADMIN, WORKSPACE.id)
    token, _ = await create_token(gate.store, gate.clock, gate.ids, grant)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://foretell.test",
        headers={"Authorization": f"Bearer {token}"},
    )


def _body(rego: str) -> dict[str, Any]:
    return {"rules": [{"planValidationOpa": {"name": "r", "rego": rego}}]}


@pytest.mark.parametrize(
    ("rego", "line", "cause"),
    [
        ('package main\n\ndeny contains "x" if {', 3, "expect"),
        ('package main\ndeny contains "x" if {\n\tinput.a == b\n}', 3, "unsafe"),
        ('package main\ndeny contains "x" if {\n\thttp.send({})\n}', 3, "http.send"),
        ('package main\ndeny contains "x" if crypto.sha256("a") == "b"', 2, "crypto.sha256"),
        ("package main\ndeny[msg] { msg := 1 }", 2, "if"),
    ],
)
async def test_a_broken_rule_is_422_with_its_line_and_the_old_one_stays(
    gate: Gate, rego: str, line: int, cause: str
) -> None:
    await gate.write(["case"], policy("guard", PolicyRule("r", GOOD)))
    async with await _client(gate) as client:
        refused = await client.put(f"{PATH}/policies/guard", json=_body(rego))
        left = await client.get(f"{PATH}/policies/guard")
    assert refused.status_code == 422, refused.text
    (error,) = refused.json()["errors"]
    assert error["where"] == f"guard/r:{line}"
    assert cause in error["message"]
    assert left.json()["rules"][0]["planValidationOpa"]["rego"] == GOOD


async def test_a_rule_that_can_be_judged_is_saved_and_judges(gate: Gate) -> None:
    await gate.write(["case"])
    async with await _client(gate) as client:
        saved = await client.put(f"{PATH}/policies/guard", json=_body(GOOD))
    assert saved.status_code == 201, saved.text
    report = await gate.plan({"kinds": {"case": {"manifest": True}}})
    assert [one.status.value for one in report.targets[0].verdicts] == ["denied"]


async def test_without_an_engine_no_rule_is_saved(gate: Gate) -> None:
    gate.validator = NoEngine()
    await gate.write(["case"])
    async with await _client(gate) as client:
        refused = await client.put(f"{PATH}/policies/guard", json=_body(GOOD))
    assert refused.status_code == 422
    assert "no rule engine is installed" in refused.text
