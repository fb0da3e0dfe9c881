"""The inventory over HTTP: the same checks as for files, and ids that stay."""

from typing import Any

import pytest
from installation import PLAN, Site, items

from foretell.api.items import PARTS, item_document
from foretell.api.schemas.documents import InventoryChangesDocument, ItemDocument
from foretell.ports import InventoryKind

SHOP = "/v1/workspaces/shop"
WEB_ID = "a0000000-0000-4000-8000-000000000001"
YAML = {"Content-Type": "application/yaml"}
WHOLE = """\
workspace: shop
jobAgents:
  - {name: held, type: held}
environments:
  - {name: prod}
resources:
  - {identifier: eu-1, name: Europe, config: {"on": y, short: 1e3}}
deployments:
  - name: Web
    slug: web
    variables: [{key: replicas, default: 2}]
    plan: {timeout: 1m30s}
"""
BODIES: dict[InventoryKind, dict[str, Any]] = {
    InventoryKind.DEPLOYMENT: {
        "name": "API",
        "resourceSelector": 'resource.kind == "k"',
        "variables": [{"key": "a", "values": [{"value": None, "priority": 2}], "default": None}],
        "plan": {
            "enabled": True,
            "timeout": "1h30m",
            "ignore": [{"pointers": ["/spec/replicas"], "kind": "Deployment"}, {"jq": [".a"]}],
            "maskNames": ["*token*"],
        },
    },
    InventoryKind.ENVIRONMENT: {"resourceSelector": "true", "metadata": {"tier": 1}},
    InventoryKind.RESOURCE: {"kind": "Cluster", "config": {"odd": "\x7f\u2028\x85\U0001f600"}},
    InventoryKind.AGENT: {"type": "held", "config": {"token": {"env": "TOKEN"}}},
    InventoryKind.POLICY: {
        "overrides": {"role": "admin", "count": 2},
        "rules": [{"planValidationOpa": {"name": "r", "rego": "package x"}}],
    },
}


@pytest.mark.parametrize("kind", InventoryKind)
async def test_an_item_is_saved_read_replaced_and_removed(
    quiet_site: Site, kind: InventoryKind
) -> None:
    ref = "eu/2 ü" if kind is not InventoryKind.DEPLOYMENT else "api"
    body = BODIES[kind]
    async with quiet_site.client("admin") as client:
        path = f"{SHOP}/{kind}/{ref}"
        made = await client.put(path, json=body)
        read = await client.get(path)
        by_id = await client.get(f"{SHOP}/{kind}/{made.json()['id']}")
        again = await client.put(path, json=read.json())
        removed = await client.delete(path)
        gone = [await client.get(path), await client.delete(path)]
    assert made.status_code == 201, made.text
    assert made.json() == read.json() == by_id.json() == again.json()
    assert ItemDocument.model_validate(read.json())
    for key, value in body.items():
        if key not in ("rules", "variables"):
            assert read.json()[key] == value
    assert (again.status_code, removed.status_code) == (200, 204)
    assert [answer.status_code for answer in gone] == [404, 404]


@pytest.mark.parametrize("item", items("a"), ids=lambda item: type(item).__name__)
def test_an_item_is_written_as_a_file_may_have_it(item: Any) -> None:
    kind = next(kind for kind, part in PARTS.items() if part.__name__[:4] == _part(item)[:4])
    document = item_document(item)
    assert document.pop("id") == item.id
    assert PARTS[kind].model_validate(document)


def _part(item: Any) -> str:
    return type(item).__name__.replace("AgentSpec", "AgentPart")


async def test_by_its_uuid_an_item_can_be_renamed_and_keeps_its_plans(quiet_site: Site) -> None:
    made = await quiet_site.submit(Prefer="wait=0")
    async with quiet_site.client("admin") as client:
        renamed = await client.put(f"{SHOP}/deployments/{WEB_ID}", json={"name": "W", "slug": "w"})
        by_name = await client.put(f"{SHOP}/deployments/w", json={"name": "W", "slug": "other"})
        plan = await client.get(f"{SHOP}/deployments/w/plan/{made['id']}")
    assert renamed.status_code == 200
    assert (renamed.json()["id"], renamed.json()["slug"]) == (WEB_ID, "w")
    assert (by_name.status_code, by_name.json()["errors"][0]["field"]) == (422, "slug")
    assert plan.status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("environments/qa", {"resourceSelector": "resource.name =="}, "resourceSelector"),
        ("environments/qa", {"resourceSelector": "1"}, "resourceSelector"),
        ("environments/qa", {"colour": "red"}, "colour"),
        ("resources/x", {"config": "text"}, "config"),
        ("job-agents/x", {}, "type"),
        ("deployments/x", {"name": "X", "variables": [{"key": 1}]}, "variables[0].key"),
        ("deployments/x", {"name": "X", "plan": {"timeout": "soon"}}, "plan.timeout"),
        ("deployments/Not A Slug", {"name": "X"}, "slug"),
    ],
)
async def test_each_wrong_field_of_an_item_is_named_as_the_body_has_it(
    quiet_site: Site, path: str, body: dict[str, Any], field: str
) -> None:
    async with quiet_site.client("admin") as client:
        answer = await client.put(f"{SHOP}/{path}", json=body)
        nothing = await client.get(f"{SHOP}/{path}")
    assert answer.status_code == 422, answer.text
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert nothing.status_code == 404


async def test_a_rule_that_cannot_be_judged_is_refused_when_it_is_saved(quiet_site: Site) -> None:
    rule = {"planValidationOpa": {"name": "r", "rego": "BROKEN"}}
    text = f"policies:\n  - name: guard\n    rules: [{rule}]\n"
    async with quiet_site.client("admin") as client:
        one = await client.put(f"{SHOP}/policies/guard", json={"rules": [rule]})
        whole = await client.put(f"{SHOP}/inventory", content=text, headers=YAML)
        left = await client.get(f"{SHOP}/deployments/web")
    assert (one.status_code, whole.status_code) == (422, 422)
    assert "guard" in one.json()["detail"]
    assert left.status_code == 200


async def test_a_dry_run_says_all_and_changes_nothing(quiet_site: Site) -> None:
    async with quiet_site.client("admin") as client:
        said = await client.put(
            f"{SHOP}/inventory", params={"dryRun": "true"}, content=WHOLE, headers=YAML
        )
        before = await client.get(f"{SHOP}/resources/lab")
        done = await client.put(f"{SHOP}/inventory", content=WHOLE, headers=YAML)
        after = await client.get(f"{SHOP}/resources/lab")
        nothing = await client.put(f"{SHOP}/inventory", content=WHOLE, headers=YAML)
    assert said.status_code == 200, said.text
    assert InventoryChangesDocument.model_validate(said.json())
    assert (said.json()["dryRun"], done.json()["dryRun"]) == (True, False)
    assert said.json()["changes"] == done.json()["changes"]
    changed = {(one["kind"], one["ref"]): one["action"] for one in said.json()["changes"]}
    assert changed[("resources", "lab")] == "delete"
    assert changed[("deployments", "web")] == "modify"
    assert (before.status_code, after.status_code) == (200, 404)
    assert nothing.json()["changes"] == []


async def test_items_that_stay_keep_their_ids(quiet_site: Site) -> None:
    async with quiet_site.client("admin") as client:
        await client.put(f"{SHOP}/inventory", content=WHOLE, headers=YAML)
        web = await client.get(f"{SHOP}/deployments/web")
        cluster = await client.get(f"{SHOP}/resources/eu-1")
    assert web.json()["id"] == WEB_ID
    assert cluster.json()["config"] == {"on": True, "short": 1000}


async def test_an_inventory_of_another_workspace_is_not_taken(quiet_site: Site) -> None:
    async with quiet_site.client("admin") as client:
        answer = await client.put(f"{SHOP}/inventory", content="workspace: rival\n", headers=YAML)
        left = await client.get(f"{SHOP}/deployments/web")
    (error,) = answer.json()["errors"]
    assert answer.status_code == 422
    assert (error["where"], error["field"]) == ("body:1", "workspace")
    assert left.status_code == 200


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("environments:\n  - name: a\n    colour: red\n", "body:3"),
        ("environments:\n  - name: a\n  - name: a\n", "body:3"),
        (
            "policies:\n  - name: a\n    rules: [{planValidationOpa: {name: r, file: r.rego}}]\n",
            "body:3",
        ),
    ],
)
async def test_each_wrong_line_of_an_inventory_is_named(
    quiet_site: Site, text: str, where: str
) -> None:
    async with quiet_site.client("admin") as client:
        answer = await client.put(f"{SHOP}/inventory", content=text, headers=YAML)
    assert answer.status_code == 422, answer.text
    assert [one["where"] for one in answer.json()["errors"]] == [where]


@pytest.mark.parametrize("text", ["{", "a: [", "\x00", "a: &a [*a]", "- 1", "\x7f: 1"])
async def test_what_is_no_inventory_is_refused(quiet_site: Site, text: str) -> None:
    async with quiet_site.client("admin") as client:
        answer = await client.put(f"{SHOP}/inventory", content=text.encode(), headers=YAML)
    assert answer.status_code == 422, answer.text
    assert "yaml" not in answer.json()["detail"].split(":")[0]


async def test_the_next_plan_compares_with_what_was_recorded(site: Site) -> None:
    path = f"{SHOP}/deployments/web/targets"
    body = {"tag": "v1", "variables": {"a": 1}, "contentHash": "sha:0"}
    async with site.client() as client:
        named = await client.put(f"{path}/prod/eu-1/current", json=body)
        ids = "a0000000-0000-4000-8000-00000000000"
        by_id = await client.put(f"{path}/{ids}2/{ids}4/current", json=body)
        unknown = [
            (await client.put(f"{path}/{place}/current", json=body)).status_code
            for place in ("nowhere/eu-1", "prod/nothing")
        ]
        wrong = await client.put(f"{path}/prod/eu-1/current", json={"variables": []})
        secret = {**body, "variables": {"password": {"env": "DB_PASSWORD"}}}
        refused = await client.put(f"{path}/prod/eu-1/current", json=secret)
        await client.post(PLAN, json={"tag": "v2"})
    assert (named.status_code, by_id.status_code, unknown) == (204, 204, [404, 404])
    assert {one["field"] for one in wrong.json()["errors"]} == {"tag", "variables"}
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["errors"]] == ["variables.password"]
    (current,) = [
        context.current
        for context in site.agent.contexts
        if context.side.resource["identifier"] == "eu-1"
    ]
    assert current is not None
    assert (current.version.tag, current.variables) == ("v1", {"a": 1})
