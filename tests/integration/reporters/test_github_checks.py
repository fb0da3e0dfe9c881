"""Checks on the fake GitHub: one a target or one for all, ended whatever happens, few writes."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from github_wire import SHA
from reporter_world import DENIED, OTHER_SHA, Showing, superseded, target

from foretell.domain.errors import Unavailable
from foretell.domain.plan import EnvironmentId, PlanReason
from foretell.domain.result import Status
from foretell.domain.verdict import Denial
from foretell.reporters.github.auth import INSTALLATION_PERMISSIONS
from foretell.reporters.github.reporter import Style
from foretell.testing.contracts.store.world import World as Rows
from foretell.testing.github import Fault


async def test_each_target_has_a_check_that_ends_as_it_does(shown: Showing) -> None:
    await shown.show_done(
        shown.plan(),
        target("changed"),
        target("unchanged", "image: v1"),
        target("errored", status=Status.ERRORED, message="no such chart"),
        target("denied", "image: v1", verdicts=[DENIED]),
        target("advised", "image: v1", verdicts=[replace(DENIED, mandatory=False)]),
        target("unsupported", status=Status.UNSUPPORTED, message="no job agent matches"),
    )
    assert shown.conclusions() == {
        "foretell / production / changed": "neutral",
        "foretell / production / unchanged": "success",
        "foretell / production / errored": "failure",
        "foretell / production / denied": "failure",
        "foretell / production / advised": "success",
        "foretell / production / unsupported": "skipped",
    }
    titles = {one.name.split(" / ")[-1]: one.output["title"] for one in shown.fake.checks.values()}
    assert titles["changed"] == "1 modified"
    assert titles["denied"] == "No changes, 1 violation"
    assert titles["errored"] == "Error"


async def test_a_check_says_what_differs_and_why_it_failed(shown: Showing) -> None:
    await shown.show_done(
        shown.plan(),
        target("eu", verdicts=[DENIED]),
        target("us", status=Status.ERRORED, message="no such <chart>"),
    )
    by_name = {one.name.split(" / ")[-1]: one.output for one in shown.fake.checks.values()}
    assert "**no-fridays** on production / eu: not today" in by_name["eu"]["summary"]
    assert "#### argo (argo-cd)\n\n**manifest** +1 -1\n" in by_name["eu"]["text"]
    assert "```diff\n" in by_name["eu"]["text"]
    assert "+image: v2" in by_name["eu"]["text"]
    assert "no such &lt;chart&gt;" in by_name["us"]["summary"]


async def test_a_check_costs_two_writes_however_long_the_plan_takes(shown: Showing) -> None:
    plan, waiting = shown.plan(), target("eu", status=Status.COMPUTING)
    await shown.show(plan)
    for number in range(8):
        await shown.show(plan, waiting, target(f"t{number}", status=Status.COMPUTING))
    await shown.show_done(plan, target("eu"))
    (check,) = [one for one in shown.fake.checks.values() if one.name.endswith("eu")]
    assert (check.writes, check.status, check.conclusion) == (2, "completed", "neutral")


async def test_a_target_that_is_done_ends_its_check_before_the_others(shown: Showing) -> None:
    await shown.show(shown.plan(), target("eu"), target("us", status=Status.COMPUTING))
    assert shown.conclusions() == {
        "foretell / production / eu": "neutral",
        "foretell / production / us": None,
    }


async def test_above_the_limit_there_is_one_check_for_all(shown: Showing) -> None:
    shown.style = replace(shown.style, checks_limit=2)
    targets = [target(f"t{n}", status=Status.COMPUTING) for n in range(3)]
    plan = shown.plan()
    await shown.show(plan, *targets)
    await shown.show(plan, *targets)
    await shown.show_done(plan, target("t0"), target("t1"), target("t2", "image: v3"))
    (check,) = shown.fake.checks.values()
    assert check.name == "foretell / API"
    assert check.external_id == plan.deployment_id
    assert check.writes == 2
    assert check.conclusion == "neutral"
    assert "### production / t0, production / t1" in check.output["text"]
    assert "### production / t2" in check.output["text"]
    assert "| production | t2 | 1 modified |" in check.output["summary"]


async def test_no_target_is_neutral_and_says_so(shown: Showing) -> None:
    await shown.show_done(shown.plan())
    (check,) = shown.fake.checks.values()
    assert (check.conclusion, check.output["title"]) == ("neutral", "no target selected")


async def test_a_plan_that_failed_before_its_targets_were_known_fails_a_check(
    shown: Showing,
) -> None:
    plan = shown.plan()
    await shown.show(plan.fail(PlanReason.DEADLINE, plan.created_at))
    assert shown.conclusions() == {"foretell / API": "failure"}


async def test_a_checks_external_id_names_deployment_and_target(shown: Showing) -> None:
    plan = shown.plan()
    await shown.show_done(plan, target("eu"))
    (check,) = shown.fake.checks.values()
    assert check.external_id == f"{plan.deployment_id}/env-production/res-eu"


async def test_targets_that_people_call_the_same_have_checks_of_their_own(shown: Showing) -> None:
    first, second = target("eu"), target("eu")
    second = replace(second, resource_identifier="eu-2", environment_id=EnvironmentId("other"))
    await shown.show_done(shown.plan(), first, second)
    assert set(shown.conclusions()) == {
        "foretell / production / eu (eu)",
        "foretell / production / eu (eu-2)",
    }


async def test_the_deployment_is_in_the_name_where_the_repository_has_several(
    shown: Showing,
) -> None:
    await shown.show_done(shown.plan(), target("eu"))
    shown.rows = await Rows(shown.store).write()
    other = shown.plan()
    await shown.show_done(other, target("eu"))
    assert set(shown.conclusions()) == {
        "foretell / production / eu",
        "foretell / API / production / eu",
    }


async def test_checks_of_a_superseded_plan_end_as_cancelled(shown: Showing) -> None:
    older = shown.plan()
    await shown.show(older, target("eu", status=Status.COMPUTING))
    shown.fake.push("acme/shop", 7, OTHER_SHA)
    await shown.show(superseded(older), target("eu", status=Status.COMPUTING))
    assert shown.conclusions() == {"foretell / production / eu": "cancelled"}


async def test_a_newer_head_ends_what_an_older_one_left_open(shown: Showing) -> None:
    await shown.show(shown.plan(), target("eu", status=Status.COMPUTING))
    shown.fake.push("acme/shop", 7, OTHER_SHA)
    await shown.show(shown.plan(OTHER_SHA), target("eu", status=Status.COMPUTING))
    assert shown.conclusions() == {"foretell / production / eu": "cancelled"}
    assert shown.conclusions(OTHER_SHA) == {"foretell / production / eu": None}


async def test_a_head_that_moved_without_a_plan_leaves_no_check_open(shown: Showing) -> None:
    plan = shown.plan()
    await shown.show(plan, target("eu", status=Status.COMPUTING))
    shown.fake.push("acme/shop", 7, OTHER_SHA)
    await shown.show_done(plan, target("eu"))
    assert shown.conclusions() == {"foretell / production / eu": "cancelled"}


async def test_a_superseded_plan_leaves_the_checks_of_the_newer_one_alone(shown: Showing) -> None:
    older, newer = shown.plan(), shown.plan()
    await shown.show(older, target("eu", status=Status.COMPUTING))
    await shown.show_done(newer, target("eu"))
    await shown.show(superseded(older), target("eu", status=Status.COMPUTING))
    await shown.show_done(older, target("eu", "image: v9"))
    (check,) = shown.fake.checks.values()
    assert check.conclusion == "neutral"
    assert "v9" not in check.output["text"]


async def test_plans_of_two_scopes_both_end_their_checks(shown: Showing) -> None:
    eu = shown.plan(resource_selector="resource.name == 'eu'")
    us = shown.plan(resource_selector="resource.name == 'us'")
    await shown.show_done(us, target("us"))
    await shown.show_done(eu, target("eu"))
    assert len(shown.conclusions()) == 2


async def test_a_check_whose_making_was_not_heard_of_is_found(shown: Showing) -> None:
    shown.fake.faults.append(Fault("POST", "/check-runs", 0, after=True))
    plan = shown.plan()
    with pytest.raises(Unavailable):
        await shown.show_done(plan, target("eu"))
    await shown.show_done(plan, target("eu"))
    assert len(shown.fake.checks) == 1


async def test_every_field_is_within_its_limit(shown: Showing) -> None:
    long = "n" * 400
    huge = "\n".join(f"line {n}: {'x' * 90}" for n in range(3000))
    many = [target(f"{long}-{n}", f"{n}\n{huge}", verdicts=[DENIED] * 50) for n in range(3)]
    await shown.show_done(shown.plan(), *many)
    shown.style = replace(shown.style, checks_limit=1)
    await shown.show_done(shown.plan(), *many)
    assert len(shown.fake.checks) == 4
    assert len({one.name for one in shown.fake.checks.values()}) == 4
    assert all(one.conclusion == "failure" for one in shown.fake.checks.values())
    assert all("more lines" in one.output["text"] for one in shown.fake.checks.values())


def named(file: object, line: object = 3, message: str = "no limit") -> Denial:
    return Denial(message, {"file": file, "line": line})


async def test_violations_that_name_a_file_are_annotations_in_groups_of_fifty(
    shown: Showing,
) -> None:
    denials = tuple(named(f"charts/{n}.yaml", n + 1) for n in range(120))
    rules = [replace(DENIED, denials=denials), replace(DENIED, mandatory=False, rule="soft")]
    plan = shown.plan()
    await shown.show(plan, target("eu", status=Status.COMPUTING))
    await shown.show_done(plan, target("eu", verdicts=rules))
    (check,) = shown.fake.checks.values()
    assert [one["path"] for one in check.annotations] == [f"charts/{n}.yaml" for n in range(120)]
    assert {one["annotation_level"] for one in check.annotations} == {"failure"}
    assert check.annotations[7]["start_line"] == 8
    assert check.output["text"]
    assert check.writes == 2 + 3


async def test_an_annotation_is_not_sent_twice(shown: Showing) -> None:
    rules = [replace(DENIED, denials=(named("a.yaml"), named("b.yaml")))]
    shown.fake.faults.append(Fault("PATCH", "/check-runs", 0, after=True))
    plan = shown.plan()
    with pytest.raises(Unavailable):
        await shown.show_done(plan, target("eu", verdicts=rules))
    await shown.show_done(plan, target("eu", verdicts=rules))
    await shown.show_done(shown.plan(), target("eu", "image: v3", verdicts=rules))
    (check,) = shown.fake.checks.values()
    assert [one["path"] for one in check.annotations] == ["a.yaml", "b.yaml"]


async def test_what_is_no_file_of_the_repository_is_no_annotation(shown: Showing) -> None:
    wrong = ("/etc/passwd", "../x", "a//b", "a\\b", "", 7, None, "a\nb", "./x")
    denials = tuple(named(file) for file in wrong)
    odd = (named("a.yaml", 0), named("a.yaml", True), named("a.yaml", "x"), named("a.yaml", -1))
    await shown.show_done(
        shown.plan(), target("eu", verdicts=[replace(DENIED, denials=denials + odd)])
    )
    (check,) = shown.fake.checks.values()
    assert [(one["path"], one["start_line"]) for one in check.annotations] == [("a.yaml", 1)]


async def test_a_token_that_is_no_app_sets_statuses_once_each(shown_by_token: Showing) -> None:
    shown = shown_by_token
    plan, waiting = shown.plan(), target("eu", status=Status.COMPUTING)
    for _ in range(5):
        await shown.show(plan, waiting)
    states = shown.fake.statuses_of("acme/shop", SHA)
    assert {name: row.state for name, row in states.items()} == {
        "foretell / production / eu": "pending"
    }
    for _ in range(3):
        await shown.show_done(plan, target("eu", verdicts=[DENIED]))
    assert [row.state for row in shown.fake.statuses] == ["pending", "failure"]
    assert shown.fake.statuses[-1].description == "1 modified, 1 violation"
    assert shown.fake.checks == {}
    assert len(shown.bodies) == 1


async def test_a_statuss_fields_are_within_their_limits(shown_by_token: Showing) -> None:
    shown = shown_by_token
    shown.style = Style(prefix="p" * 300, key=shown.style.key)
    await shown.show_done(shown.plan(), target("a" * 300), target("a" * 299 + "b"))
    contexts = shown.fake.statuses_of("acme/shop", SHA)
    assert len(contexts) == 2
    assert all(len(name) <= 255 for name in contexts)


DOCS = Path(__file__).parents[3] / "docs" / "howto" / "github.md"
ACCESS = {"Read and write": "write", "Read-only": "read"}


def documented() -> dict[str, str]:
    rows = re.findall(r"^\| ([A-Z][a-z ]+) \| (Read[a-z -]+) \|", DOCS.read_text(), re.MULTILINE)
    return {name.lower().replace(" ", "_"): ACCESS[access] for name, access in rows}


async def test_the_permissions_of_the_docs_are_enough_and_none_is_superfluous(
    shown: Showing,
) -> None:
    shown.fake.apps[77].permissions = granted = documented()
    assert granted == INSTALLATION_PERMISSIONS
    plan = shown.plan()
    await shown.show(plan, target("eu", status=Status.COMPUTING))
    await shown.show_done(plan, target("eu"))
    shown.fake.comments.clear()
    await shown.show_done(shown.plan(pr=None), target("eu"))
    assert [call.status for call in shown.fake.calls if call.status == 403] == []
    used = {alternatives[0] for call in shown.fake.calls if (alternatives := call.needed)}
    assert ("checks", "write") in used
    assert ("pull_requests", "write") in used


async def test_the_permissions_of_a_token_are_enough(shown_by_token: Showing) -> None:
    shown = shown_by_token
    plan = shown.plan()
    await shown.show(plan, target("eu", status=Status.COMPUTING))
    await shown.show_done(plan, target("eu"))
    assert [call.status for call in shown.fake.calls if call.status >= 400] == []
