"""What the agent does with a run, from its making to its end, on a fake of the other side."""

import gzip
import io
import json
import tarfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from terraform_cloud_world import (
    TOKEN,
    UPDATE,
    World,
    change,
    commit,
    done,
    follow,
    git,
    plan_json,
    redacted_of,
    terraform_cloud,
)

from foretell.agents.terraform_cloud.attempts import Attempts
from foretell.domain.context import DispatchContext
from foretell.domain.digest import Key
from foretell.domain.errors import AgentError, AgentRejected, AgentUnavailable
from foretell.domain.plan import GithubRef, PlanId
from foretell.domain.result import Action, Done, Pending, Unsupported
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.result import to_result
from foretell.testing.terraform_cloud.limits import Break, Fault
from foretell.testing.terraform_cloud.world import Delivery

WRITES = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with terraform_cloud(tmp_path) as made:
        yield made


async def refused(world: World, **config: Any) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await follow(world, world.question(**config))
    return caught.value


# What is sent


async def test_the_plan_is_of_our_own_upload_of_the_head_commit(world: World) -> None:
    await done(world, world.question())
    (made,) = world.fake.seen("POST", "configuration-versions")[:1]
    attributes = json.loads(made.body)["data"]["attributes"]
    assert attributes == {"auto-queue-runs": False, "speculative": True}
    (run,) = world.fake.runs
    assert run.configuration.id == "cv-0000000000000001"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(run.configuration.content))) as tar:
        assert tar.getnames() == [
            *(".terraformignore", "infra/main.tf", "infra/modules/m/main.tf", "main.tf"),
        ]


async def test_nothing_is_written_but_our_own_configuration_and_run(world: World) -> None:
    await done(world, world.question())
    written = {(each.method, each.path) for each in world.fake.calls if each.method in WRITES}
    assert written == {
        ("POST", "/api/v2/workspaces/ws-0000000000000001/configuration-versions"),
        ("PUT", "/_object/upload/cv-0000000000000001"),
        ("POST", "/api/v2/runs"),
        ("POST", "/api/v2/configuration-versions/cv-0000000000000001/actions/archive"),
    }


async def test_the_run_only_plans_and_names_its_invocation(world: World) -> None:
    await done(world, world.question(id="i-77"))
    (call,) = world.fake.seen("POST", "/runs")
    attributes = json.loads(call.body)["data"]["attributes"]
    assert attributes["plan-only"] is True
    assert attributes["message"] == f"foretell i-77: web v2 at {world.sha[:12]}"
    assert attributes["variables"] == [{"key": "image_tag", "value": '"v2"'}]


async def test_our_token_goes_to_the_api_alone(world: World) -> None:
    await done(world, world.question())
    hosts = {each.host: bool(each.authorization) for each in world.fake.calls}
    assert hosts == {"app.terraform.io": True, "archivist.terraform.io": False}


async def test_a_token_is_not_sent_to_a_host_that_nobody_allowed(tmp_path: Path) -> None:
    hosts = ("app.terraform.io",)
    async with terraform_cloud(tmp_path, terraformCloudHosts=hosts) as world:
        error = await refused(world, address="https://evil.example.com")
        assert "may not be sent to evil.example.com" in error.message
        assert world.fake.calls == []


async def test_values_of_run_variables_are_literals(world: World) -> None:
    variables = {"a": '${file("/etc/passwd")}', "n": "{{ variables.replicas }}", "m": {"k": None}}
    await done(
        world, world.question(template={"workspace": "web-production", "variables": variables})
    )
    (run,) = world.fake.runs
    assert run.attributes["variables"] == [
        {"key": "a", "value": r'"$${file(\"/etc/passwd\")}"'},
        {"key": "m", "value": '{ "k" = null }'},
        {"key": "n", "value": "3"},
    ]


async def test_a_working_directory_makes_the_upload_the_whole_repository(world: World) -> None:
    world.fake.organizations["acme"].workspaces["web-production"].working_directory = "infra"
    await done(world, world.question(repository={"url": ".", "path": "infra"}))
    assert "main.tf" in names_of(world)


async def test_a_path_makes_the_upload_that_folder(world: World) -> None:
    await done(world, world.question(repository={"url": ".", "path": "infra"}))
    assert names_of(world) == ["main.tf", "modules/m/main.tf"]


def names_of(world: World) -> list[str]:
    content = gzip.decompress(world.fake.runs[0].configuration.content)
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return tar.getnames()


async def test_the_commit_of_the_pull_request_is_planned(world: World) -> None:
    (world.repository / "main.tf").write_text("# newer\n")
    commit(world.repository)
    name = world.repository.parent.name
    head = GithubRef(name, "repository", world.sha, 7)
    asked = world.question(repository={"url": str(world.repository)})
    side = asked.proposed
    assert side is not None
    asked = replace(asked, head=head, proposed=replace(side, source=None))
    assert world.sha[:12] in (await done(world, asked)).message


def without_source(world: World, url: str, **version: Any) -> DispatchContext:
    asked = world.question(repository={"url": url})
    side = asked.proposed
    assert side is not None
    new = replace(side.version, **version)
    return replace(asked, proposed=replace(side, source=None, version=new))


async def test_without_a_commit_it_is_asked_which(world: World) -> None:
    with pytest.raises(AgentRejected, match="which commit"):
        await follow(world, without_source(world, str(world.repository)))
    with pytest.raises(AgentRejected, match="about none"):
        await follow(world, without_source(world, "."))


async def test_a_version_may_name_its_commit(world: World) -> None:
    url = str(world.repository)
    for asked in (
        without_source(world, f"{url}?ref=main"),
        without_source(world, url, metadata={"git/sha": world.sha}),
        without_source(world, url, tag=world.sha),
    ):
        assert world.sha[:12] in (await done(world, asked)).message


async def test_a_server_plans_the_repositories_that_it_is_allowed(tmp_path: Path) -> None:
    allowed = [str(tmp_path / "repo"), "https://git.example.com/acme"]
    async with terraform_cloud(tmp_path, terraformRepositories=allowed) as world:
        for url in (".", str(world.repository), "https://git.example.com/acme-evil/x?ref=main"):
            error = await refused(world, repository={"url": url})
            assert "may not be planned here" in error.message
        assert world.fake.runs == []


async def test_a_server_plans_no_commit_that_is_on_no_branch(tmp_path: Path) -> None:
    async with terraform_cloud(tmp_path, terraformRepositories=[str(tmp_path)]) as world:
        url = str(world.repository)
        assert isinstance((await follow(world, without_source(world, url, tag=world.sha)))[0], Done)
        git(world.repository, "checkout", "--quiet", "--detach")
        (world.repository / "main.tf").write_text("# a stranger's\n")
        fork = commit(world.repository)
        with pytest.raises(AgentRejected, match="no commit of a fork"):
            await follow(world, without_source(world, url, tag=fork))


# What comes back


async def test_the_answer_is_the_plan_with_its_hash(world: World) -> None:
    answer = await done(world, world.question())
    (result,) = answer.results
    assert result.kind == "plan"
    assert result.has_changes is True
    assert result.content_hash.startswith("p2:")
    assert result.plan_key_id
    assert [(each.name, each.action) for each in result.resources] == [("x.a", Action.MODIFY)]
    assert world.sha[:12] in answer.message
    assert "cv-0000000000000001" in answer.message
    assert "/app/acme/workspaces/web-production/runs/run-0000000000000001" in answer.message


async def test_the_key_of_the_config_names_the_plan(world: World) -> None:
    ours = (await done(world, world.question(id="i-1"))).results[0]
    theirs = (await done(world, world.question(id="i-2", planKey={"env": "PLAN_KEY"}))).results[0]
    again = (await done(world, world.question(id="i-3"))).results[0]
    assert (ours.content_hash, ours.plan_key_id) == (again.content_hash, again.plan_key_id)
    assert ours.content_hash != theirs.content_hash
    assert ours.plan_key_id != theirs.plan_key_id


@pytest.mark.parametrize("delivery", list(Delivery))
async def test_plan_output_is_read_however_it_is_delivered(
    world: World, delivery: Delivery
) -> None:
    world.script(delivery=delivery, not_ready=2)
    assert (await done(world, world.question())).results[0].has_changes is True


async def test_an_address_that_has_expired_is_asked_for_again(world: World) -> None:
    world.script(expired_redirects=1)
    assert (await done(world, world.question())).results[0].has_changes is True


async def test_no_changes_is_said_only_when_proven(world: World) -> None:
    world.script(plan=plan_json(change("x.a", "no-op", {"v": 1}, {"v": 1})))
    assert (await done(world, world.question())).results[0].has_changes is False


@pytest.mark.parametrize(("says", "known"), [(True, True), (False, False), (None, True)])
async def test_where_the_full_plan_is_forbidden_its_redacted_form_is_shown(
    world: World, says: bool | None, known: bool | None
) -> None:
    plan = UPDATE if known else plan_json(change("x.a", "no-op", {"v": 1}, {"v": 1}))
    world.script(redacted=redacted_of(plan), has_changes=says)
    answer = await done(world, world.question(token={"env": "PLANNER"}))
    assert answer.results[0].has_changes is known
    assert answer.results[0].content_hash == ""
    assert "takes admin access" in answer.message
    assert "redacted form" in answer.message


async def test_a_redacted_form_alone_does_not_prove_that_nothing_changes(world: World) -> None:
    still = plan_json(change("x.a", "no-op", {"v": 1}, {"v": 1}))
    world.script(redacted=redacted_of(still), has_changes=None)
    answer = await done(world, world.question(token={"env": "PLANNER"}))
    assert answer.results[0].has_changes is None


LOG = (
    b"\x02"
    + b"\n".join(
        json.dumps(each).encode()
        for each in (
            {"type": "version", "terraform": "1.11.4"},
            {
                "type": "planned_change",
                "change": {
                    "action": "delete",
                    "resource": {"addr": "x.gone", "resource_type": "x"},
                },
            },
            {
                "type": "planned_change",
                "change": {"action": "noop", "resource": {"addr": "x.still"}},
            },
            {"type": "change_summary", "changes": {"add": 0, "change": 0, "remove": 1}},
        )
    )
    + b"\n\x03"
)


async def test_where_no_json_may_be_read_the_log_tells_addresses_and_no_values(
    world: World,
) -> None:
    world.script(redacted=None, log=LOG, counts=(0, 0, 1, 0), has_changes=True)
    answer = await done(world, world.question(token={"env": "PLANNER"}))
    (result,) = answer.results
    assert [(each.name, each.action) for each in result.resources] == [("x.gone", Action.DELETE)]
    assert result.has_changes is True
    assert "only addresses and counts are known" in answer.message
    assert "1 to delete" in answer.message


async def test_a_terraform_too_old_for_json_is_read_from_its_log(world: World) -> None:
    world.script(too_old=True, log=b"\x02Terraform v0.11\nx.a: secret\n\x03", has_changes=None)
    answer = await done(world, world.question())
    assert answer.results[0].has_changes is None
    assert "no plan as JSON" in answer.message
    assert "secret" not in repr(answer)


# The run's way (cases T)


def through(*statuses: str) -> dict[str, Any]:
    return {"statuses": statuses}


async def test_t5_a_status_between_two_stages_is_not_the_end(world: World) -> None:
    world.script(
        **through(
            *("planning", "planned", "post_plan_running", "post_plan_completed"),
            *("cost_estimating", "cost_estimated", "policy_checking", "policy_checked"),
            "planned_and_finished",
        )
    )
    answer, rounds = await follow(world, world.question())
    assert isinstance(answer, Done)
    assert rounds[-1].message.endswith("policy_checked")


async def test_t6_a_policy_that_failed_softly_is_shown_and_no_error(world: World) -> None:
    check = {
        "id": "polchk-1",
        "type": "policy-checks",
        "attributes": {
            "status": "soft_failed",
            "scope": "organization",
            "result": {
                "soft-failed": 1,
                "passed": 2,
                "sentinel": {
                    "data": {"set": {"policies": [{"policy": "no-friday", "result": False}]}}
                },
            },
        },
    }
    world.script(
        **through("planning", "planned", "policy_checking", "policy_soft_failed"),
        policy_checks=[check],
    )
    answer = await done(world, world.question())
    assert answer.failure == ""
    assert answer.results[0].has_changes is True
    assert "organization policies soft_failed (1 soft failed: no-friday)" in answer.message


async def test_t3_the_queue_has_a_deadline_of_its_own(world: World) -> None:
    world.script(**through("plan_queued"))
    error = await refused(world, queueTimeout="1m", runTimeout="1h")
    assert error.reason == "timeout"
    assert "queued too long" in error.message
    assert "plan_queued" in error.message
    assert world.fake.runs[0].ended_as


async def test_t3_planning_has_a_deadline_of_its_own(world: World) -> None:
    world.script(**through(*["plan_queued"] * 9, "planning"))
    error = await refused(world, queueTimeout="1h", runTimeout="1m")
    assert error.reason == "timeout"
    assert "took too long: 1 min (runTimeout)" in error.message
    assert error.message.endswith("is still planning; it was stopped")
    assert world.fake.runs[0].ended_as == "canceled"


async def test_t4_each_question_has_its_own_deadline(world: World) -> None:
    world.script(**through("plan_queued"))
    start = world.clock.now()
    await refused(world, id="i-1", queueTimeout="1m")
    first = world.clock.now() - start
    await refused(world, id="i-2", queueTimeout="5m")
    second = world.clock.now() - start - first
    assert timedelta(minutes=1) <= first < timedelta(minutes=2)
    assert timedelta(minutes=5) <= second < timedelta(minutes=6)


async def test_t11_nobody_waits_to_be_told(world: World) -> None:
    world.script(**through("pending", "planning", "planned_and_finished"))
    answer, rounds = await follow(world, world.question())
    assert isinstance(answer, Done)
    assert all(timedelta(0) < each.after <= timedelta(seconds=12) for each in rounds[1:])


async def test_a_word_that_nobody_knows_is_not_the_end(world: World) -> None:
    world.script(**through("planning", "pondering", "planned_and_finished"))
    assert isinstance((await follow(world, world.question()))[0], Done)
    world.script(**through("pondering"))
    error = await refused(world, id="i-2", runTimeout="1m")
    assert "pondering" in error.message


@pytest.mark.parametrize("word", ["canceled", "force_canceled", "discarded"])
async def test_what_somebody_else_ended_is_never_no_changes(world: World, word: str) -> None:
    world.script(**through("planning", word))
    error = await refused(world)
    assert error.reason == "cancelled"
    assert "by somebody else" in error.message


async def test_a_run_that_can_be_applied_is_stopped(world: World) -> None:
    world.script(**through("planning", "apply_queued"))
    assert "never is: stopped" in (await refused(world)).message
    assert world.fake.runs[0].ended_as == "canceled"


async def test_a_plan_that_failed_says_why_and_shows_no_change(world: World) -> None:
    diagnostic = {
        "type": "diagnostic",
        "diagnostic": {
            "severity": "error",
            "summary": "No value for required variable",
            "detail": "The variable x is not set; the password is S3cr3t-Value-42.",
            "snippet": {"values": [{"traversal": "var.p", "statement": "is S3cr3t-Value-42"}]},
        },
    }
    world.script(**through("planning", "errored"), log=json.dumps(diagnostic).encode())
    variables = {"password": {"env": "DB_PW"}}
    error = await refused(world, template={"workspace": "web-production", "variables": variables})
    assert "No value for required variable: The variable x is not set" in error.message
    assert "S3cr3t" not in error.message


async def test_a_mandatory_no_shows_the_plan_and_is_an_error(world: World) -> None:
    result = {
        "id": "taskrs-1",
        "type": "task-results",
        "attributes": {
            "status": "failed",
            "task-name": "scanner",
            "message": "3 findings",
            "workspace-task-enforcement-level": "mandatory",
        },
    }
    stage = {
        "id": "ts-1",
        "type": "task-stages",
        "attributes": {"stage": "post_plan", "status": "failed"},
        "relationships": {"task-results": {"data": [{"id": "taskrs-1", "type": "task-results"}]}},
    }
    world.script(
        **through("planning", "post_plan_running", "errored"),
        plan_status="finished",
        task_stages={"data": [stage], "included": [result]},
    )
    answer = await done(world, world.question())
    assert "mandatory policy or run task stopped it" in answer.failure
    assert "post plan task scanner failed (mandatory: 3 findings)" in answer.message
    assert answer.results[0].has_changes is True


async def test_n8_a_part_of_a_failed_plan_is_shown_as_failed(world: World) -> None:
    world.script(plan={**UPDATE, "errored": True, "applyable": False, "complete": False})
    answer = await done(world, world.question())
    assert "the plan failed" in answer.failure


async def test_n15_a_plan_that_is_incomplete_says_so(world: World) -> None:
    world.script(plan={**UPDATE, "complete": False})
    assert "the plan is incomplete: targeted" in (await done(world, world.question())).message


async def test_what_waits_for_a_decision_is_shown_and_ended(world: World) -> None:
    world.script(**through("planning", "policy_override"))
    answer = await done(world, world.question())
    assert "a policy waits for a decision" in answer.message
    assert world.fake.runs[0].ended_as == "canceled"


# Once, also when an answer is lost


async def test_a_lost_answer_makes_no_second_run(world: World) -> None:
    world.fake.faults.append(Fault("POST", "/runs$", Break.AFTER))
    assert isinstance((await follow(world, world.question()))[0], Done)
    assert len(world.fake.runs) == 1
    assert len(world.fake.seen("GET", "/runs")) > 1


async def test_a_run_that_was_never_made_is_made(world: World) -> None:
    world.fake.faults.append(Fault("POST", "/runs$", Break.BEFORE))
    assert isinstance((await follow(world, world.question()))[0], Done)
    assert len(world.fake.runs) == 1


async def uploaded(world: World, asked: DispatchContext) -> Pending:
    """The first call: what it leaves behind is the upload."""
    pending = await world.agent.plan(replace(asked, attempt=1), None)
    assert isinstance(pending, Pending)
    return pending


async def made(world: World, asked: DispatchContext) -> Pending:
    """And the second: the run."""
    pending = await world.agent.plan(
        replace(asked, attempt=2), (await uploaded(world, asked)).state
    )
    assert isinstance(pending, Pending)
    return pending


async def test_a_worker_that_died_after_making_the_run_makes_no_second(world: World) -> None:
    asked = world.question()
    state = (await uploaded(world, asked)).state
    await world.agent.plan(replace(asked, attempt=2), state)
    outcome, _ = await follow(world, asked, state, attempt=3)
    assert isinstance(outcome, Done)
    assert len(world.fake.runs) == 1


async def test_a_worker_that_died_while_uploading_made_no_run(world: World) -> None:
    asked = world.question()
    await uploaded(world, asked)
    outcome, _ = await follow(world, asked, None, attempt=2)
    assert isinstance(outcome, Done)
    assert len(world.fake.runs) == 1
    assert not [each for each in world.fake.seen("GET") if each.path.endswith("/runs")]


async def test_a_run_of_somebody_with_our_message_is_not_taken_for_ours(world: World) -> None:
    world.script(unpack_looks=1)
    asked = world.question()
    unpacking = await uploaded(world, asked)
    routes = world.fake._routes
    (used,) = routes.configurations.values()
    theirs = replace(used, id="cv-theirs", status="uploaded")
    message = {"message": "foretell i-1: a look-alike", "plan-only": True}
    routes._make_run(used.workspace, theirs, message, TOKEN)
    answer, _ = await follow(world, asked, unpacking.state, attempt=5)
    assert isinstance(answer, Done)
    assert used.id in answer.message


async def test_p7_no_list_is_asked_for_while_nothing_goes_wrong(world: World) -> None:
    await done(world, world.question())
    assert not [each for each in world.fake.seen("GET") if each.path.endswith("/runs")]


async def test_s18_an_upload_that_never_unpacks_makes_no_run(world: World) -> None:
    world.script(unpack_looks=10_000)
    state: Any = None
    for number in range(1, 101):
        outcome = await world.agent.plan(replace(world.question(), attempt=number), state)
        assert isinstance(outcome, Pending)
        state = outcome.state
    assert world.fake.runs == []
    assert len(world.fake.seen("POST", "/configuration-versions")) == 1


async def test_an_upload_that_is_refused_is_said(world: World) -> None:
    world.script(unpack_error="the archive is empty")
    assert "the archive is empty" in (await refused(world)).message


async def test_a_server_that_keeps_no_messages_makes_no_second_run_either(world: World) -> None:
    world.fake.dialect.keeps_messages = False
    world.fake.faults.append(Fault("POST", "/runs$", Break.AFTER))
    assert isinstance((await follow(world, world.question()))[0], Done)
    assert len(world.fake.runs) == 1


async def test_a_server_that_brings_no_plan_with_the_run_is_asked_for_it(world: World) -> None:
    world.fake.dialect.includes_plans = False
    world.script(delivery=Delivery.BODY)
    assert (await done(world, world.question(id="i-1"))).results[0].has_changes is True
    assert not world.fake.seen("GET", "/plans/plan-0000000000000001$")
    world.script(log=LOG, redacted=None, has_changes=True)
    answer = await done(world, world.question(id="i-2", token={"env": "PLANNER"}))
    assert answer.results[0].resources[0].name == "x.gone"
    diagnostic = {"type": "diagnostic", "diagnostic": {"severity": "error", "summary": "Broken"}}
    world.script(**through("planning", "errored"), log=json.dumps(diagnostic).encode())
    assert "Broken" in (await refused(world, id="i-3")).message


# Ended, when nobody waits


async def test_abandoning_ends_the_run(world: World) -> None:
    asked = world.question()
    state = (await made(world, asked)).state
    await world.agent.abandon(replace(asked, attempt=3), state)
    await world.agent.abandon(replace(asked, attempt=3), state)
    assert [each.ended_as for each in world.fake.runs] == ["canceled"]


async def test_t10_that_it_cannot_be_ended_now_means_look_again(world: World) -> None:
    world.script(**through("planning", "planning", "planned_and_finished"), refuse_cancel=2)
    asked = world.question()
    state = (await made(world, asked)).state
    await world.agent.abandon(replace(asked, attempt=3), state)
    assert world.fake.runs[0].ended_as == ""


async def test_abandoning_what_was_never_asked_asks_nobody(world: World) -> None:
    await world.agent.abandon(replace(world.question(), attempt=1), None)
    assert world.fake.calls == []


async def test_abandoning_an_upload_that_no_run_was_made_of_asks_nobody(world: World) -> None:
    asked = world.question()
    state = (await uploaded(world, asked)).state
    before = len(world.fake.calls)
    await world.agent.abandon(replace(asked, attempt=2), state)
    assert len(world.fake.calls) == before


async def test_a_plan_that_was_stopped_while_its_run_was_made_leaves_none(world: World) -> None:
    # The engine could not keep the answer, so it comes with the state of the call before.
    asked = world.question()
    state = (await uploaded(world, asked)).state
    await world.agent.plan(replace(asked, attempt=2), state)
    await world.agent.abandon(replace(asked, attempt=2), state)
    assert [each.ended_as for each in world.fake.runs] == ["canceled"]
    assert not [each for each in world.fake.seen("GET") if each.path.endswith("/runs")]


async def test_abandoning_ends_a_run_whose_answer_was_lost(world: World) -> None:
    world.fake.faults.append(Fault("POST", "/runs$", Break.AFTER))
    asked = world.question()
    state = (await uploaded(world, asked)).state
    await world.agent.plan(replace(asked, attempt=2), state)
    await world.agent.abandon(replace(asked, attempt=2), state)
    assert [each.ended_as for each in world.fake.runs] == ["canceled"]


async def test_abandoning_ends_a_run_whose_maker_died(world: World) -> None:
    asked = world.question()
    state = (await uploaded(world, asked)).state
    await world.agent.plan(replace(asked, attempt=2), state)
    world.agent._attempts = Attempts()  # another process
    await world.agent.abandon(replace(asked, attempt=3), state)
    assert [each.ended_as for each in world.fake.runs] == ["canceled"]


async def test_a_sweep_ends_the_runs_of_the_dead_alone(world: World) -> None:
    for id in ("i-dead", "i-live"):
        await made(world, world.question(id=id))
    foreign = world.fake.runs[0]
    world.fake._routes._make_run(
        foreign.workspace, foreign.configuration, {"message": "foretell: a person's own"}, TOKEN
    )
    world.clock.advance(timedelta(minutes=11))
    config = world.question().side.agent_config
    live = frozenset({world.question(id="i-live").invocation_id})
    left = await world.agent.sweep(config, timedelta(minutes=10), live)
    assert left.removed == 1
    assert [each.ended_as for each in world.fake.runs] == ["canceled", "", ""]


async def test_a_sweep_leaves_young_runs_alone(world: World) -> None:
    await made(world, world.question())
    config = world.question().side.agent_config
    left = await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert left.removed == 0


# Who may


@pytest.mark.parametrize(
    ("name", "told"), [("ORG", "organization's token"), ("READER", "queue plans")]
)
async def test_a_token_that_may_not_plan_is_told_what_it_takes(
    world: World, name: str, told: str
) -> None:
    assert told in (await refused(world, token={"env": name})).message


async def test_a_wrong_token_is_told_from_a_hidden_workspace(world: World) -> None:
    world.fake.tokens.pop(TOKEN)
    assert "(401)" in (await refused(world)).message
    world.fake.tokens[TOKEN] = world.fake.tokens["tok-S3cr3t-of-a-planner"]
    template = {"workspace": "nowhere"}
    assert "not found, or no permission" in (await refused(world, template=template)).message


async def test_a_workspace_that_runs_elsewhere_cannot_be_planned(world: World) -> None:
    world.fake.organizations["acme"].workspaces["web-production"].execution_mode = "local"
    assert "execution mode local" in (await refused(world)).message


async def test_a_removed_target_is_unsupported(world: World) -> None:
    asked = world.question()
    removed = replace(asked, proposed=None, current=asked.proposed)
    assert isinstance(await world.agent.plan(removed, None), Unsupported)


async def test_what_is_away_for_now_is_tried_again(world: World) -> None:
    world.fake.faults.append(Fault("GET", "/workspaces/", 500))
    with pytest.raises(AgentUnavailable):
        await world.agent.plan(world.question(), None)


async def test_a_page_of_a_proxy_is_told_as_one(world: World) -> None:
    world.fake.faults.append(Fault("GET", "/workspaces/", Break.PAGE, times=9))
    error = await refused(world)
    assert "a proxy" in error.message
    assert "<html>" not in error.message


async def test_the_server_says_how_long_nobody_asks(world: World) -> None:
    world.fake.limit.per_window = 1
    world.fake.limit.window = 3600.0
    with pytest.raises(AgentUnavailable) as caught:
        await world.agent.plan(world.question(), None)
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > timedelta(0)
    assert all(name.startswith("tfc:app.terraform.io:") for name in world.budget.held)
    assert world.budget.held
    assert not any(TOKEN in name for name in world.budget.taken)


async def test_what_is_planned_has_no_secret_in_it_and_no_repr_shows_one(world: World) -> None:
    secret = "S3cr3t-Value-42"
    leak = change("x.a", "update", {"v": 1, "copy": secret}, {"v": 2, "copy": f"dsn:{secret}"})
    world.script(plan=plan_json(leak))
    variables = {"password": {"env": "DB_PW"}}
    asked = world.question(template={"workspace": "web-production", "variables": variables})
    answer, rounds = await follow(world, asked)
    assert isinstance(answer, Done)
    assert secret not in f"{answer!r}{rounds!r}{vars(world.agent)!r}"
    assert world.fake.runs[0].attributes["variables"] == [
        {"key": "password", "value": f'"{secret}"'}
    ]


# What is approved later (cases S, X16)


async def hashed(world: World, id: str, **plan: Any) -> str:
    world.script(plan={**UPDATE, **plan})
    return (await done(world, world.question(id=id))).results[0].content_hash


async def test_s16_the_same_change_planned_again_has_the_same_name(world: World) -> None:
    first = await hashed(world, "i-1", timestamp="2026-01-01T00:00:00Z")
    assert first == await hashed(world, "i-2", timestamp="2026-01-02T00:00:00Z")


async def test_s12_drift_under_the_same_commit_gives_another_name(world: World) -> None:
    first = await hashed(world, "i-1")
    drifted = [change("x.a", "update", {"v": 9}, {"v": 2})]
    assert first != await hashed(world, "i-2", resource_changes=drifted)


async def test_s21_what_is_printed_is_what_was_planned_though_the_branch_moved(
    world: World,
) -> None:
    url = f"{world.repository}?ref=main"
    asked = world.question(repository={"url": url})
    pending = await world.agent.plan(replace(asked, attempt=1), None)
    assert isinstance(pending, Pending)
    (world.repository / "main.tf").write_text("# newer\n")
    newer = commit(world.repository)
    other = replace(world.question(id="i-2", repository={"url": url}), attempt=1)
    answer, _ = await follow(world, asked, pending.state, attempt=2)
    same_plan, _ = await follow(world, other)
    for each in (answer, same_plan):
        assert isinstance(each, Done)
        assert world.sha[:12] in each.message
        assert newer[:12] not in each.message
    contents = {run.configuration.content for run in world.fake.runs}
    assert len(contents) == 1
    next_plan = replace(world.question(id="i-3", repository={"url": url}), plan_id=PlanId("p-2"))
    assert newer[:12] in (await done(world, next_plan)).message


async def test_x16_a_remote_plan_is_judged_by_what_a_local_one_is(world: World) -> None:
    remote = (await done(world, world.question(planKey={"env": "PLAN_KEY"}))).results[0]
    key = Key(b"k" * 32, remote.plan_key_id)
    assert remote == to_result(parse(json.dumps(UPDATE)), key=key).result


async def test_a_sweep_asks_for_the_list_once_in_a_while(world: World) -> None:
    config = world.question().side.agent_config
    for seconds in (1, 30, 30):
        await world.agent.sweep(config, timedelta(minutes=10), frozenset())
        world.clock.advance(timedelta(seconds=seconds))
    assert len(world.fake.seen("GET", "/runs")) == 1
    await world.agent.sweep(config, timedelta(minutes=10), frozenset())
    assert len(world.fake.seen("GET", "/runs")) == 2
