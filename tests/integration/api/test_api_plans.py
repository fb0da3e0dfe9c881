"""RFC 0004's calls over a real store and a real worker."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from installation import NOW, PATIENCE, PLAN, Site, make_site, working

from foretell.api.schemas.documents import PlanDocument, PlanPageDocument
from foretell.ports import PlanLimits
from foretell.store.postgres import PostgresStore

RFC_BODY = """{
    "tag": "pr-456-3f9c1d2",
    "config": {},
    "metadata": {
      "commit": "3f9c1d2e5b6a",
      "pr": "456",
      "branch": "feature"
    },
    "github": {
      "owner": "myorg",
      "repo": "platform",
      "sha": "3f9c1d2e5b6a",
      "prNumber": 456
    }
  }"""


def round_trip(model: Any, body: bytes) -> Any:
    return model.model_validate_json(body).model_dump(mode="json", by_alias=True)


async def test_the_curl_of_the_rfc_works_to_the_letter(site: Site) -> None:
    # `curl -d` claims to send a form.
    claimed = {"Content-Type": "application/x-www-form-urlencoded"}
    async with site.client() as client:
        answer = await client.post(PLAN, content=RFC_BODY, headers=claimed)
    document = answer.json()
    assert answer.status_code == 200, answer.text
    assert document["status"] == "completed"
    assert (
        document["summary"] | {"total": 3, "changed": 2, "unchanged": 1, "errored": 0}
        == (document["summary"])
    )
    (target,) = [one for one in document["targets"] if one["resourceName"] == "Europe"]
    assert target["environmentName"] == "prod"
    assert target["hasChanges"] is True
    assert "+image: pr-456-3f9c1d2" in target["diff"]["raw"]
    assert target["diff"]["resources"][0]["action"] == "modify"
    (same,) = [one for one in document["targets"] if one["resourceName"] == "Same"]
    assert (same["hasChanges"], same["diff"]) == (False, None) or same["hasChanges"] is False


async def test_a_plan_that_takes_longer_than_the_wait_is_202_with_its_place(site: Site) -> None:
    site.agent.open.clear()
    async with site.client() as client:
        answer = await client.post(PLAN, json={"tag": "v2"}, headers=NOW)
        assert answer.status_code == 202
        assert answer.json()["status"] == "computing"
        assert (answer.json()["summary"], answer.json()["targets"]) == (None, [])
        assert answer.headers["Retry-After"] == "2"
        place = answer.headers["Location"]
        assert place == f"{PLAN}/{answer.json()['id']}"
        site.agent.open.set()
        await site.settled(answer.json()["id"])
        done = await client.get(place)
    assert done.json()["status"] == "completed"


async def test_a_finished_plan_is_the_stored_bytes_and_known_by_its_etag(site: Site) -> None:
    made = await site.submit()
    async with site.client("viewer") as client:
        first = await client.get(f"{PLAN}/{made['id']}")
        again = await client.get(
            f"{PLAN}/{made['id']}", headers={"If-None-Match": first.headers["ETag"]}
        )
        other = await client.get(f"{PLAN}/{made['id']}", headers={"If-None-Match": '"x"'})
    async with site.store.begin() as tx:
        assert first.content == await tx.document(made["id"])
    assert (again.status_code, again.content) == (304, b"")
    assert (other.status_code, other.content) == (200, first.content)


@pytest.mark.parametrize("mode", ["full", "resources", "none"])
async def test_the_document_is_what_the_schema_says_in_each_mode(site: Site, mode: str) -> None:
    made = await site.submit()
    async with site.client("viewer") as client:
        answer = await client.get(f"{PLAN}/{made['id']}", params={"diff": mode})
    assert round_trip(PlanDocument, answer.content) == answer.json()
    (target,) = [one for one in answer.json()["targets"] if one["resourceName"] == "Europe"]
    match mode:
        case "full":
            assert target["diff"]["raw"]
        case "resources":
            assert target["diff"]["raw"] is None
            assert target["diff"]["resources"][0]["diff"]
        case _:
            assert target["diff"] is None


async def test_the_nested_form_asks_the_same(site: Site) -> None:
    body = {"version": {"tag": "v9", "metadata": {"a": "1"}}, "metadata": {"b": "2"}}
    async with site.client() as client:
        answer = await client.post(PLAN, json=body)
    async with site.store.begin() as tx:
        plan = await tx.plan(answer.json()["id"])
    assert plan is not None
    assert plan.request.tag == "v9"
    assert plan.request.metadata == {"a": "1", "b": "2"}


async def test_metadata_can_name_the_commit(quiet_site: Site) -> None:
    labels = {"github/owner": "myorg", "github/repo": "platform", "git/sha": "abc123"}
    async with quiet_site.client() as client:
        answer = await client.post(PLAN, json={"tag": "v2", "metadata": labels}, headers=NOW)
    async with quiet_site.store.begin() as tx:
        plan = await tx.plan(answer.json()["id"])
    assert plan is not None
    assert plan.request.github is not None
    assert plan.request.github.sha == "abc123"
    assert plan.expires_at - plan.created_at == timedelta(days=14)


async def test_the_same_key_is_the_same_plan_and_another_body_under_it_is_refused(
    quiet_site: Site,
) -> None:
    key = {"Idempotency-Key": "build-7", **NOW}
    async with quiet_site.client() as client:
        first = await client.post(PLAN, json={"tag": "v2"}, headers=key)
        again = await client.post(PLAN, json={"tag": "v2"}, headers=key)
        other = await client.post(PLAN, json={"tag": "v3"}, headers=key)
    assert first.json()["id"] == again.json()["id"]
    assert other.status_code == 422
    assert "build-7" in other.json()["detail"]


async def test_a_plan_is_not_to_be_had_after_it_expired(site: Site) -> None:
    made = await site.submit()
    site.clock.ahead = timedelta(hours=2)
    async with site.client("viewer") as client:
        gone = await client.get(f"{PLAN}/{made['id']}")
        page = await client.get(PLAN + "s")
    assert gone.status_code == 404
    assert page.json() == {"plans": [], "next": None}


async def test_a_cancelled_plan_has_failed_and_its_work_is_abandoned(site: Site) -> None:
    site.agent.open.clear()
    made = await site.submit(**NOW)
    async with asyncio.timeout(PATIENCE):
        await site.agent.asked.wait()
    async with site.client() as client:
        answer = await client.delete(f"{PLAN}/{made['id']}")
        again = await client.delete(f"{PLAN}/{made['id']}")
    assert answer.status_code == again.status_code == 200
    assert (answer.json()["status"], answer.json()["reason"]) == ("failed", "cancelled")
    site.agent.open.set()
    async with asyncio.timeout(PATIENCE):
        await site.agent.abandoned.wait()


async def test_a_plan_without_a_target_is_completed_and_says_zero(site: Site) -> None:
    body = {"tag": "v2", "environmentSelector": 'environment.name == "nowhere"'}
    async with site.client() as client:
        answer = await client.post(PLAN, json=body)
    assert answer.status_code == 200
    assert answer.json()["summary"]["total"] == 0


async def test_a_request_narrows_its_targets(site: Site) -> None:
    body = {"tag": "v2", "environmentSelector": 'environment.name == "stage"'}
    async with site.client() as client:
        answer = await client.post(PLAN, json=body)
    assert [one["resourceIdentifier"] for one in answer.json()["targets"]] == ["lab"]


async def test_pages_hold_every_plan_once_newest_first(quiet_site: Site) -> None:
    made = [(await quiet_site.submit(f"v{n}", **NOW))["id"] for n in range(5)]
    seen, cursor = [], ""
    async with quiet_site.client("viewer") as client:
        while True:
            page = await client.get(PLAN + "s", params={"limit": 2, "cursor": cursor})
            assert round_trip(PlanPageDocument, page.content) == page.json()
            seen += [plan["id"] for plan in page.json()["plans"]]
            cursor = page.json()["next"]
            if cursor is None:
                break
        lost = await client.get(
            PLAN + "s", params={"cursor": "00000000-0000-4000-8000-000000000000"}
        )
    assert seen == made[::-1]
    assert lost.status_code == 422
    assert lost.json()["errors"][0]["field"] == "cursor"


async def test_a_limit_says_when_to_come_back(store: PostgresStore, database: str) -> None:
    site = await make_site(store, database, PlanLimits(deployment_per_minute=1))
    await site.submit(**NOW)
    async with site.client() as client:
        answer = await client.post(PLAN, json={"tag": "v3"}, headers=NOW)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


async def test_a_plan_that_ends_while_it_is_waited_for_is_answered_at_once(
    quiet_site: Site,
) -> None:
    quiet_site.agent.open.clear()
    async with quiet_site.client() as client, working(quiet_site):
        asked = asyncio.create_task(
            client.post(PLAN, json={"tag": "v2"}, headers={"Prefer": "wait=30"})
        )
        async with asyncio.timeout(PATIENCE):
            await quiet_site.agent.asked.wait()
            quiet_site.agent.open.set()
            answer = await asked
    assert answer.status_code == 200
    assert answer.json()["status"] == "completed"
