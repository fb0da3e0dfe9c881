"""Rules on what a real plan would do: asked before they are saved, and kept as their examples."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gate import Gate, policy
from test_overrides import People

from foretell.api.server import listening
from foretell.cli.app import run
from foretell.domain.summary import PlanReport
from foretell.domain.target import PolicyRule
from foretell.formats.yaml import load_documents
from foretell.ports import Role

WHERE = ["-w", "shop", "-d", "web"]
FINDS = """package finds
deny contains sprintf("%s becomes %s", [input.resource.name, object.kind]) if {
	some object in input.manifest.proposed
}
"""
BROKEN = "kind: [A\n"


@pytest.fixture
async def served(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    await gate.write(
        ["eu-1", "us-1"], policy("guard", PolicyRule("quiet", "package q\nwarn := []"))
    )
    people = People(gate)
    async with (
        people.person("reader", Role.VIEWER) as client,
        listening(people.app, "127.0.0.1", 0) as address,
    ):
        bearer = client.headers["Authorization"].removeprefix("Bearer ")
        monkeypatch.setenv("FORETELL_URL", address)
        monkeypatch.setenv("FORETELL_TOKEN", bearer)
        yield


async def planned(gate: Gate, **kinds: bool | str) -> PlanReport:
    return await gate.plan({"kinds": {name: {"manifest": each} for name, each in kinds.items()}})


async def foretell(*line: str) -> int:
    return await asyncio.to_thread(run, [*line, *WHERE])


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if "[info" not in line]


async def test_a_rule_is_tried_on_every_target_of_a_real_plan(
    gate: Gate, served: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = await planned(gate, **{"eu-1": True, "us-1": False})
    rule = tmp_path / "finds.rego"
    rule.write_text(FINDS)
    assert await foretell("policy", "eval", str(rule), "--plan", plan.id) == 3
    assert said(capsys) == [
        "production / eu-1: finds.rego says no: eu-1 becomes B",
        "production / us-1: finds.rego says no: us-1 becomes A",
    ]
    rule.write_text(FINDS.replace("input.manifest.proposed", "[]"))
    assert await foretell("policy", "eval", str(rule), "--plan", plan.id) == 0
    assert "production / eu-1: finds.rego passed" in said(capsys)
    rule.write_text("package finds\ndeny contains 1 + input.agent_type")
    line = ["policy", "eval", str(rule), "--plan", plan.id, "--target", "production/us-1"]
    assert await foretell(*line) == 1
    (only,) = said(capsys)
    assert only.startswith("production / us-1: finds.rego could not answer: line 2")
    assert await foretell(*line[:-1], "production/none") == 1


async def test_an_inventory_says_which_targets_its_rules_judge(
    gate: Gate, served: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = await planned(gate, **{"eu-1": True, "us-1": True})
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(
        "policies: [{name: p, selector: 'resource.identifier == \"eu-1\"', rules: "
        "[{planValidationOpa: {name: r, file: r.rego, enforcement: advisory}}]}]"
    )
    (tmp_path / "r.rego").write_text(FINDS)
    assert await foretell("policy", "eval", str(inventory), "--plan", plan.id) == 0
    assert said(capsys) == ["production / eu-1: r says no: eu-1 becomes B"]


async def test_what_no_rule_can_judge_is_an_error_here_as_on_the_server(
    gate: Gate, served: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = await planned(gate, **{"eu-1": BROKEN, "us-1": True})
    rule = tmp_path / "finds.rego"
    rule.write_text(FINDS)
    assert await foretell("policy", "eval", str(rule), "--plan", plan.id) == 1
    first, second = said(capsys)
    assert "the kind 'manifest' can't be read as Kubernetes objects" in first
    assert second == "production / us-1: finds.rego says no: us-1 becomes B"


async def test_a_recorded_example_is_what_the_rule_saw_and_passes(
    gate: Gate, served: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = await planned(gate, **{"eu-1": True, "us-1": False})
    (tmp_path / "finds.rego").write_text(FINDS)
    (tmp_path / "other.rego").write_text("package other\ndeny := []")
    record = ["policy", "test", str(tmp_path), "--record", plan.id, "--rule", "finds"]
    assert await foretell(*record, "--target", "production/eu-1") == 0
    (path,) = tmp_path.glob("*.yaml")
    assert path.name == "finds.production-eu-1.yaml"
    ((document,),) = [load_documents(path.read_text(), source="x")]
    assert document.value["deny"] == ["eu-1 becomes B"]
    assert document.value["input"]["manifest"]["proposed"] == [{"kind": "B"}]
    assert document.value["input"]["proposed_version"]["tag"] == "v2"
    assert f"pass  {path.name}: says what is expected" in said(capsys)
    assert await foretell(*record) == 1
    assert "is there already" in capsys.readouterr().err
    assert await foretell("policy", "test", str(tmp_path), "--record", plan.id, "--rule", "no") == 1


async def test_the_api_gives_what_rules_see_and_nothing_for_another_id(
    gate: Gate, served: None
) -> None:
    plan = await planned(gate, **{"eu-1": True, "us-1": True})
    invocation = plan.targets[0].agents[0].invocation
    people = People(gate)
    path = f"/v1/workspaces/shop/deployments/web/plan/{plan.id}/invocations"
    async with people.person("reader", Role.VIEWER) as client:
        found = await client.get(f"{path}/{invocation.id}/policy-input")
        again = await client.get(
            f"{path}/{invocation.id}/policy-input", headers={"If-None-Match": found.headers["ETag"]}
        )
        none = await client.get(f"{path}/{plan.id}/policy-input")
    assert (found.status_code, again.status_code, none.status_code) == (200, 304, 404)
    assert found.json()["manifest"]["has_changes"] is True
