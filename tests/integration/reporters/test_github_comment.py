"""The comment on the fake GitHub: one, ours, the newest plan's, never lost."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from github_wire import SHA
from reporter_world import OTHER_SHA, Showing, superseded, target

from foretell.domain.errors import RateLimited, Unavailable
from foretell.domain.plan import PlanReason, PlanRequest
from foretell.domain.result import Status
from foretell.ports.memory import Thread
from foretell.reporters.github.comment import marker
from foretell.reporters.github.reporter import Style
from foretell.testing.contracts.store.world import World as Rows
from foretell.testing.github import Fault, Limits
from foretell.testing.github.limits import Meter


async def test_computing_is_said_at_once_and_becomes_the_result_in_place(shown: Showing) -> None:
    plan = shown.plan()
    await shown.show(plan)
    (first,) = shown.fake.comments_of("acme/shop", 7)
    assert "Computing which targets this reaches." in first.body
    await shown.show(plan, target("eu"), target("us", status=Status.COMPUTING))
    assert "1 computing" in first.body
    await shown.show_done(plan, target("eu"), target("us", "image: v1"))
    assert [one.id for one in shown.fake.comments_of("acme/shop", 7)] == [first.id]
    assert "**Summary:** 1 of 2 targets affected (1 resource modified)" in first.body
    assert "-image: v1\n+image: v2" in first.body


async def test_a_plan_without_github_is_nobodys(shown: Showing) -> None:
    plan = shown.rows.new_plan(request=PlanRequest("v2"))
    await shown.show_done(plan, target("eu"))
    assert shown.fake.calls == []


async def test_told_twice_is_told_once(shown: Showing) -> None:
    plan = shown.plan()
    for _ in range(3):
        await shown.show_done(plan, target("eu"))
    assert len(shown.bodies) == 1
    assert len(shown.fake.checks_of("acme/shop", SHA)) == 1


async def test_progress_that_says_the_same_is_not_written(shown: Showing) -> None:
    plan, waiting = shown.plan(), target("eu", status=Status.COMPUTING)
    for _ in range(4):
        await shown.show(plan, waiting)
    assert len(shown.fake.writes("/comments")) == 1
    assert len(shown.fake.writes("/check-runs")) == 1


async def test_a_comment_that_somebody_deleted_is_made_anew(shown: Showing) -> None:
    await shown.show_done(shown.plan(), target("eu"))
    shown.fake.comments.clear()
    await shown.show_done(shown.plan(), target("eu"))
    assert len(shown.bodies) == 1


async def test_a_comment_whose_making_was_not_heard_of_is_found_behind_many_others(
    shown: Showing,
) -> None:
    for number in range(230):
        shown.fake.add_comment("acme/shop", 7, "octocat", f"comment {number}")
    shown.fake.faults.append(Fault("POST", "/comments", 0, after=True))
    plan = shown.plan()
    with pytest.raises(Unavailable):
        await shown.show_done(plan, target("eu"))
    await shown.show_done(plan, target("eu"))
    assert len(shown.bodies) == 231
    assert shown.bodies[-1].startswith("<!-- foretell")


async def test_a_marker_that_somebody_else_planted_is_not_ours(shown: Showing) -> None:
    plan = shown.plan()
    thread = Thread(plan.deployment_id, "acme", "shop", 7, SHA)
    line = marker(thread, shown.style.key)
    theirs = shown.fake.add_comment("acme/shop", 7, "mallory", f"{line}\nLGTM, no changes")
    quoted = shown.fake.add_comment("acme/shop", 7, "foretell[bot]", f"> {line}\n\nsee", app=77)
    forged = marker(thread, b"guessed" * 5)
    wrong = shown.fake.add_comment("acme/shop", 7, "foretell[bot]", f"{forged}\nx", app=77)
    await shown.show_done(plan, target("eu"))
    assert theirs.body.endswith("LGTM, no changes")
    assert quoted.body.endswith("see")
    assert wrong.body.endswith("x")
    assert len(shown.bodies) == 4


async def test_what_was_ours_twice_is_once(shown: Showing) -> None:
    plan = shown.plan()
    line = marker(Thread(plan.deployment_id, "acme", "shop", 7, SHA), shown.style.key)
    for _ in range(2):
        shown.fake.add_comment("acme/shop", 7, "foretell[bot]", f"{line}\nold", app=77)
    await shown.show_done(plan, target("eu"))
    assert len(shown.bodies) == 1
    assert "1 of 1 target" in shown.bodies[0]


async def test_two_installations_do_not_touch_each_others_comment(shown: Showing) -> None:
    await shown.show_done(shown.plan(), target("eu"))
    shown.rows = await Rows(shown.store).write()
    shown.style = Style(key=b"another" * 5)
    await shown.show_done(shown.plan(), target("us"))
    first, second = shown.bodies
    assert "production | eu" in first
    assert "production | us" in second


async def test_the_older_of_two_plans_never_overwrites_the_newer(shown: Showing) -> None:
    older, newer = shown.plan(), shown.plan()
    await shown.show_done(newer, target("new"))
    await shown.show_done(older, target("old"))
    (body,) = shown.bodies
    assert "production | new" in body
    assert "production | old" not in body


async def test_a_newer_plan_stops_the_older_one_that_is_about_to_write(shown: Showing) -> None:
    older, newer = shown.plan(), shown.plan()
    looking, go_on = asyncio.Event(), asyncio.Event()

    async def pause(method: str, path: str) -> None:
        if method == "GET" and path.endswith("/pulls/7") and not looking.is_set():
            looking.set()
            await go_on.wait()

    shown.fake.pause = pause
    late = asyncio.create_task(shown.show_done(older, target("old")))
    await looking.wait()
    await shown.show_done(newer, target("new"))
    go_on.set()
    await late
    (body,) = shown.bodies
    assert "production | new" in body


async def test_two_that_write_at_once_take_turns_and_the_newer_is_last(shown: Showing) -> None:
    older, newer = shown.plan(), shown.plan()
    writing, go_on = asyncio.Event(), asyncio.Event()

    async def pause(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/comments") and not writing.is_set():
            writing.set()
            await go_on.wait()

    shown.fake.pause = pause
    late = asyncio.create_task(shown.show_done(older, target("old")))
    await writing.wait()
    with pytest.raises(RateLimited):
        await shown.show_done(newer, target("new"))
    go_on.set()
    await late
    await shown.show_patiently(newer, target("new"))
    (body,) = shown.bodies
    assert "production | new" in body


async def test_nothing_is_posted_for_a_head_that_has_moved(shown: Showing) -> None:
    plan = shown.plan()
    shown.fake.push("acme/shop", 7, OTHER_SHA)
    await shown.show_done(plan, target("eu"))
    assert shown.bodies == []
    assert shown.fake.checks == {}


async def test_a_superseded_plan_does_not_reach_the_comment(shown: Showing) -> None:
    await shown.show(superseded(shown.plan()), target("eu"))
    assert shown.bodies == []


async def test_a_cancelled_or_failed_plan_says_so(shown: Showing) -> None:
    plan = shown.plan()
    await shown.show(plan)
    await shown.show(plan.fail(PlanReason.CANCELLED, plan.created_at))
    assert "**Failed:** cancelled" in shown.bodies[0]
    newer = shown.plan()
    await shown.show(newer.fail(PlanReason.INTERNAL, newer.created_at))
    assert "**Failed:** internal" in shown.bodies[0]


async def test_the_next_push_says_what_is_different(shown: Showing) -> None:
    await shown.show_done(shown.plan(), target("same"), target("altered"), target("gone"))
    await shown.show_done(shown.plan(), target("same"), target("altered"), target("gone"))
    assert "Since the last push" not in shown.bodies[0]
    shown.fake.push("acme/shop", 7, OTHER_SHA)
    next_push = shown.plan(OTHER_SHA)
    for _ in range(2):
        await shown.show_done(
            next_push, target("same"), target("altered", "image: v3"), target("new")
        )
        line = "**Since the last push** (`aaaaaaa`): 1 new, 1 gone, 1 altered, 1 as before"
        assert line in shown.bodies[0]
    assert "- altered: production / altered" in shown.bodies[0]
    assert "- gone: production / gone" in shown.bodies[0]


async def test_of_pull_requests_with_this_commit_the_open_one_is_meant(shown: Showing) -> None:
    shown.fake.add_pull("acme/shop", 8, SHA, state="closed")
    for number in range(20, 150):
        shown.fake.add_pull("acme/shop", number, f"{number:040x}")
    await shown.show_done(shown.plan(pr=None), target("eu"))
    assert [one.number for one in shown.fake.comments.values()] == [7]


async def test_a_commit_without_a_pull_request_has_checks_only(shown: Showing) -> None:
    await shown.show_done(shown.plan("c" * 40, None), target("eu"))
    assert shown.fake.comments == {}
    assert shown.conclusions("c" * 40) == {"foretell / production / eu": "neutral"}


async def test_a_short_commit_is_the_head_that_begins_with_it(shown: Showing) -> None:
    await shown.show_done(shown.plan(SHA[:12]), target("eu"))
    assert len(shown.bodies) == 1
    assert shown.conclusions() == {"foretell / production / eu": "neutral"}


async def test_limits_are_waited_for_and_the_final_state_is_not_lost(shown: Showing) -> None:
    shown.fake.faults += [
        Fault("POST", "/comments", 403, {"retry-after": "2"}, "secondary rate limit"),
        Fault("POST", "/comments", 429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}),
        *(Fault("POST", "/comments", 403, message="secondary rate limit") for _ in range(3)),
    ]
    began = shown.fake.clock.now()
    await shown.show_patiently(shown.plan(), target("eu"))
    assert len(shown.bodies) == 1
    assert "1 of 1 target" in shown.bodies[0]
    assert shown.fake.clock.now() - began >= timedelta(seconds=2 + 1 + 3 * 60)


async def test_a_burst_of_pull_requests_ends_with_every_comment_written(shown: Showing) -> None:
    shown.fake.meter = Meter(Limits(writes_per_minute=15))
    plans = []
    for number in range(100, 120):
        shown.fake.add_pull("acme/shop", number, f"{number:040x}")
        plans.append(shown.plan(f"{number:040x}", number))
    for plan in plans:
        await shown.show_patiently(plan, target("eu"))
    assert sorted(one.number for one in shown.fake.comments.values()) == list(range(100, 120))
    assert all(one.conclusion == "neutral" for one in shown.fake.checks.values())


async def test_a_comment_that_is_refused_for_its_length_is_posted_shorter(shown: Showing) -> None:
    shown.fake.faults.append(Fault("POST", "/comments", 422, message="Body is too long"))
    many = [target(f"t{n}", f"image: v{n}\n" * 500) for n in range(20)]
    await shown.show_done(shown.plan(), *many)
    (body,) = shown.bodies
    assert len(body) <= 65_536 // 4
    assert "20 of 20 targets affected" in body


async def test_a_comment_that_may_not_be_written_does_not_keep_the_checks(shown: Showing) -> None:
    shown.fake.faults.append(Fault("POST", "/comments", 403, message="issue is locked", times=9))
    await shown.show_done(shown.plan(), target("eu"))
    assert shown.bodies == []
    assert shown.conclusions() == {"foretell / production / eu": "neutral"}


async def test_a_scope_is_named(shown: Showing) -> None:
    plan = shown.plan(environment_selector="environment.name == 'staging'")
    await shown.show_done(plan, target("eu"))
    assert "**Only targets that match:** environment.name == 'staging'" in shown.bodies[0]


async def test_a_turn_is_given_back_when_writing_fails(shown: Showing) -> None:
    shown.fake.faults.append(Fault("POST", "/comments", 500, times=1))
    plan = shown.plan()
    with pytest.raises(Unavailable):
        await shown.show_done(plan, target("eu"))
    await shown.show_done(replace(plan), target("eu"))
    assert len(shown.bodies) == 1
