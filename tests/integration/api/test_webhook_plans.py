"""What happens to a pull request becomes plans of its head, whatever comes in and in what order."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from github_events import Pull, sha_of
from installation import PATIENCE, working
from webhook_desk import Desk, deployment, make_desk

from foretell.domain.errors import Forbidden, Unavailable
from foretell.domain.plan import DeploymentId, GithubRef, PlanRequest
from foretell.domain.target import PlanSettings
from foretell.engine.submit import Submission, submit
from foretell.ports import Forks, PlanLimits, PullRequestRules, Reaction
from foretell.store.postgres import PostgresStore

SECOND = timedelta(seconds=1)
FRONT = "c0000000-0000-4000-8000-000000000001"


@pytest.fixture
async def desk(store: PostgresStore, database: str) -> Desk:
    return await make_desk(store, database)


def short(number: int) -> str:
    """The first digits of a head, as `Desk.told` has them."""
    return sha_of(number)[:6]


async def test_an_opened_pull_request_is_planned_with_its_head_as_the_tag(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == [("front", short(0), "computing")]
    (plan,) = await desk.plans()
    assert plan.request.tag == desk.pull.sha
    assert plan.request.github == GithubRef("acme", "shop", desk.pull.sha, 7)
    assert plan.request.metadata["git/sha"] == desk.pull.sha
    assert await desk.told("rival") == []


async def test_every_workspace_that_refers_to_the_repository_is_planned(desk: Desk) -> None:
    theirs = deployment(2, "theirs", {"repository": {"url": "https://GitHub.com/Acme/Shop.git"}})
    other = deployment(3, "other", {"repoURL": "https://github.com/acme/shop-front"})
    off = deployment(4, "off", {"repoURL": "https://github.com/acme/shop"})
    await desk.put(theirs, other, workspace="rival")
    await desk.put(replace(off, plan=PlanSettings(enabled=False)))
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == [("front", short(0), "computing")]
    assert await desk.told("rival") == [("theirs", short(0), "computing")]


async def test_a_push_supersedes_the_plan_of_the_head_before(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.push(1))
    assert await desk.told() == [
        ("front", short(1), "computing"),
        ("front", short(0), "superseded"),
    ]


async def test_the_same_head_is_planned_once(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    for action in ("ready_for_review", "labeled", "reopened"):
        desk.pull.later()
        await desk.happen(desk.pull.event(action, label={"name": "any"}))
    assert await desk.told() == [("front", short(0), "computing")]


async def test_a_late_event_never_overwrites_a_newer_head(desk: Desk) -> None:
    opened, first, second = desk.pull.event("opened"), desk.pull.push(1), desk.pull.push(2)
    await desk.happen(second)
    await desk.happen(first)
    await desk.happen(opened)
    assert await desk.told() == [("front", short(2), "computing")]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1), (0, 2, 1)])
async def test_within_one_second_the_heads_tell_or_the_forge_does(
    desk: Desk, order: tuple[int, ...]
) -> None:
    told = [desk.pull.event("opened"), desk.pull.push(1, 0), desk.pull.push(2, 0)]
    for place in order:
        await desk.happen(told[place])
    assert (await desk.told())[0] == ("front", short(2), "computing")


async def test_there_and_back_within_a_second_ends_where_the_forge_says(desk: Desk) -> None:
    there, back = desk.pull.push(1, 0), desk.pull.push(0, 0)
    await desk.happen(back)
    await desk.happen(there)
    assert (await desk.told())[0] == ("front", short(0), "computing")


async def test_without_a_forge_what_closed_in_the_same_second_stays_closed(desk: Desk) -> None:
    desk.forge = None
    opened = desk.pull.event("opened")
    desk.pull.later(0, state="closed")
    await desk.happen(desk.pull.event("closed"))
    await desk.happen(opened)
    assert await desk.told() == []


async def test_closing_cancels_and_lets_expire_also_what_a_pipeline_asked_for(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    plan = await by_pipeline(desk, sha_of(99))
    desk.pull.later(state="closed")
    await desk.happen(desk.pull.event("closed"))
    plans = await desk.plans()
    assert {str(one.reason) for one in plans} == {"cancelled", "superseded"}
    async with desk.site.store.begin() as tx:
        assert await tx.plans_of_pull_request("acme", "shop", 7) == []
        stopped = await tx.plan(plan)
    assert stopped is not None
    assert stopped.expires_at <= desk.site.clock.now() + timedelta(hours=1)


async def test_what_is_reopened_is_planned_again(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    desk.pull.later(state="closed")
    await desk.happen(desk.pull.event("closed"))
    desk.pull.later(state="open")
    await desk.happen(desk.pull.event("reopened"))
    assert await desk.told() == [("front", short(0), "computing"), ("front", short(0), "cancelled")]


async def test_a_late_push_does_not_reopen(desk: Desk) -> None:
    late = desk.pull.push(1)
    desk.pull.later(state="closed")
    await desk.happen(desk.pull.event("closed"))
    await desk.happen(late)
    assert await desk.told() == []


async def test_a_new_head_voids_plans_of_deployments_that_dropped_out(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.put(deployment(1, "front", {"repoURL": "https://github.com/acme/elsewhere"}))
    await desk.happen(desk.pull.push(1))
    assert await desk.told() == [("front", short(0), "superseded")]


async def test_a_new_head_leaves_a_pipelines_plan_of_the_merge_commit_alone(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.put(deployment(1, "front", {}))
    await by_pipeline(desk, sha_of(99))
    await desk.happen(desk.pull.push(1))
    assert (await desk.told())[0] == ("front", short(99), "computing")


async def by_pipeline(desk: Desk, sha: str, scope: str = "") -> str:
    site, shop = desk.site, desk.site.workspaces["shop"].id
    request = PlanRequest(
        "v9",
        config={"a": 1},
        github=GithubRef("acme", "shop", sha, 7),
        environment_selector=scope,
    )
    plan = await submit(
        site.store,
        site.app.state.services.selectors,
        site.clock,
        site.ids,
        PlanLimits(),
        Submission(shop, DeploymentId(FRONT), replace(request, tag=sha)),
    )
    return plan.id


async def test_a_draft_is_planned_when_it_is_ready(desk: Desk) -> None:
    desk.pull.draft = True
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.push(1))
    assert await desk.told() == []
    desk.pull.later(draft=False)
    await desk.happen(desk.pull.event("ready_for_review"))
    assert await desk.told() == [("front", short(1), "computing")]


async def test_a_draft_is_planned_where_the_settings_say_so(desk: Desk) -> None:
    desk.rules = PullRequestRules(drafts=True)
    desk.pull.draft = True
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == [("front", short(0), "computing")]


@pytest.mark.parametrize("head_repo", [2, None])
async def test_a_fork_is_not_planned_even_when_somebody_asks(
    desk: Desk, head_repo: int | None
) -> None:
    desk.pull.head_repo = head_repo
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == []


async def test_a_fork_is_planned_for_the_head_that_was_asked_for_and_no_later_one(
    desk: Desk,
) -> None:
    desk.rules = PullRequestRules(forks=Forks.ASKED)
    desk.pull.head_repo = 2
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.comment("foretell plan", author="eve"), "issue_comment")
    assert await desk.told() == []
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == [("front", short(0), "computing")]
    await desk.happen(desk.pull.push(1))
    assert await desk.told() == [("front", short(0), "superseded")]


@pytest.mark.parametrize(("sender", "is_planned"), [("dora", True), ("eve", False)])
async def test_a_label_vouches_for_a_fork_only_from_somebody_who_may_write(
    desk: Desk, sender: str, is_planned: bool
) -> None:
    desk.rules = PullRequestRules(forks=Forks.ASKED, labels=("Plan",))
    desk.pull.head_repo = 2
    await desk.happen(desk.pull.event("opened"))
    desk.pull.later(labels=("plan",))
    by = {"label": {"name": "plan"}, "sender": {"login": sender}}
    await desk.happen(desk.pull.event("labeled") | by)
    assert bool(await desk.told()) is is_planned
    await desk.happen(desk.pull.push(1))
    assert [one for one in await desk.told() if one[2] == "computing"] == []


async def test_forks_are_planned_where_the_settings_say_so(desk: Desk) -> None:
    desk.rules = PullRequestRules(forks=Forks.ON)
    desk.pull.head_repo = 2
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == [("front", short(0), "computing")]


async def test_only_a_pull_request_with_the_label_is_planned(desk: Desk) -> None:
    desk.rules = PullRequestRules(labels=("plan", "deploy"))
    desk.pull.labels = ("bug",)
    await desk.happen(desk.pull.event("opened"))
    assert await desk.told() == []
    desk.pull.later(labels=("Deploy", "bug"))
    await desk.happen(desk.pull.event("labeled", label={"name": "Deploy"}))
    assert await desk.told() == [("front", short(0), "computing")]


@pytest.mark.parametrize(
    ("files", "is_planned"),
    [({"charts/web/values.yaml"}, True), ({"README.md"}, False), (None, True)],
)
async def test_only_changes_of_files_that_matter_are_planned(
    desk: Desk, files: set[str] | None, is_planned: bool
) -> None:
    desk.rules = PullRequestRules(paths=("charts/**",))
    assert desk.forge is not None
    desk.forge.files = None if files is None else frozenset(files)
    await desk.happen(desk.pull.event("opened"))
    assert bool(await desk.told()) is is_planned


async def test_each_deployment_may_have_its_own_paths(desk: Desk) -> None:
    url, paths = {"repoURL": "https://github.com/acme/shop"}, "github/paths"
    await desk.put(
        deployment(2, "back", url, metadata={paths: "api/, *.proto"}),
        deployment(3, "docs", url, metadata={paths: ["docs/**"]}),
    )
    assert desk.forge is not None
    desk.forge.files = frozenset({"docs/a.md"})
    await desk.happen(desk.pull.event("opened"))
    assert [name for name, _, _ in await desk.told()] == ["docs", "front"]
    desk.forge.files = frozenset({"api/v1/shop.proto"})
    await desk.happen(desk.pull.push(1))
    assert await desk.told() == [
        ("back", short(1), "computing"),
        ("docs", short(0), "superseded"),
        ("front", short(1), "computing"),
        ("front", short(0), "superseded"),
    ]


async def test_a_comment_plans_the_head_that_no_event_told_of_yet(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    desk.pull.push(1)
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == [
        ("front", short(1), "computing"),
        ("front", short(0), "superseded"),
    ]


async def test_a_comment_does_not_vouch_for_a_forks_head_that_no_event_told_of_yet(
    desk: Desk,
) -> None:
    desk.rules = PullRequestRules(forks=Forks.ASKED)
    desk.pull.head_repo = 2
    await desk.happen(desk.pull.event("opened"))
    desk.pull.push(1)
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == []


async def test_a_forge_that_answers_with_the_past_does_not_turn_back_the_head(desk: Desk) -> None:
    await desk.happen(desk.pull.push(1))
    comment = desk.pull.comment("foretell plan")
    desk.pull.later(-1, sha=sha_of(0))
    await desk.happen(comment, "issue_comment")
    assert [tag for _, tag, _ in await desk.told()] == [short(1), short(1)]


async def test_a_comment_of_somebody_who_may_write_plans_again(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    comment = desk.pull.comment("foretell plan\n\nplease")
    await desk.happen(comment, "issue_comment")
    assert await desk.told() == [
        ("front", short(0), "computing"),
        ("front", short(0), "superseded"),
    ]
    assert desk.forge is not None
    assert desk.forge.reactions == [(comment["comment"]["id"], Reaction.SEEN)]


async def test_a_comment_names_the_deployments_to_plan(desk: Desk) -> None:
    await desk.put(deployment(2, "back", {"repoURL": "https://github.com/acme/shop"}))
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.comment("foretell plan -d Back"), "issue_comment")
    assert await desk.told() == [
        ("back", short(0), "computing"),
        ("back", short(0), "superseded"),
        ("front", short(0), "computing"),
    ]


@pytest.mark.parametrize(
    ("text", "author", "kind", "reactions"),
    [
        ("foretell plan", "eve", "User", []),
        ("foretell plan", "dora", "Bot", []),
        ("> foretell plan", "dora", "User", []),
        ("foretell plan --force", "dora", "User", [Reaction.CONFUSED]),
        ("foretell plan --force", "eve", "User", []),
        ("foretell plan -d nothing", "dora", "User", [Reaction.CONFUSED]),
        ("foretell plan -d front -d nothing", "dora", "User", [Reaction.CONFUSED]),
    ],
)
async def test_what_is_no_order_plans_nothing(
    desk: Desk, text: str, author: str, kind: str, reactions: list[Reaction]
) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.tell(desk.pull.comment(text, author, kind), "issue_comment")
    await desk.see_to()
    assert await desk.told() == [("front", short(0), "computing")]
    assert desk.forge is not None
    assert [reaction for _, reaction in desk.forge.reactions] == reactions


async def test_a_comment_is_enough_where_the_pull_request_was_not_known(desk: Desk) -> None:
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == [("front", short(0), "computing")]


async def test_without_a_forge_no_comment_is_believed(desk: Desk) -> None:
    desk.forge = None
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == [("front", short(0), "computing")]


async def test_who_may_not_be_asked_about_may_not_write(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    assert desk.forge is not None
    desk.forge.fails = [Forbidden("the app may not read members")]
    await desk.happen(desk.pull.comment("foretell plan"), "issue_comment")
    assert await desk.told() == [("front", short(0), "computing")]


async def test_a_comment_that_cannot_be_answered_is_planned_all_the_same(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    assert desk.forge is not None
    ask = desk.pull.comment("foretell plan")

    async def react(*_: object) -> None:
        raise Unavailable("GitHub is away")

    desk.forge.react = react  # type: ignore[method-assign]
    await desk.happen(ask, "issue_comment")
    assert len(await desk.told()) == 2


async def test_a_check_is_planned_again_as_it_was_asked_for(desk: Desk) -> None:
    desk.pull.sha = sha_of(5)
    await desk.put(deployment(2, "back", {}))
    first = await by_pipeline(desk, sha_of(5), 'environment.name == "prod"')
    await desk.happen(desk.pull.check(f"{FRONT}/prod/eu-1"), "check_run")
    newest, older = await desk.plans()
    assert (older.id, str(older.reason)) == (first, "superseded")
    assert newest.request == older.request


async def test_the_check_of_somebody_else_plans_nothing(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.check("their-own-name"), "check_run")
    assert await desk.told() == [("front", short(0), "computing")]


async def test_all_checks_of_a_commit_are_planned_again_but_not_of_a_head_that_moved(
    desk: Desk,
) -> None:
    await desk.happen(desk.pull.event("opened"))
    await desk.happen(desk.pull.push(1))
    suite = desk.pull.check("-")
    suite["check_suite"] = suite.pop("check_run")
    await desk.happen(suite, "check_suite")
    assert [tag for _, tag, _ in await desk.told()] == [short(1), short(1), short(0)]
    desk.pull.sha = sha_of(0)
    await desk.happen(desk.pull.check(FRONT), "check_run")
    assert len(await desk.told()) == 3


async def test_a_check_waits_while_its_pull_request_is_seen_to(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    async with desk.site.store.begin() as tx:
        assert await tx.hold("github.com/acme/shop#7")
        await desk.happen(desk.pull.check(FRONT), "check_run")
    assert len(await desk.told()) == 1
    await desk.see_to(f"github.com/acme/shop@{desk.pull.sha}")
    assert len(await desk.told()) == 2


async def test_several_buttons_pressed_at_once_are_one_plan(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    for target in ("eu-1", "same"):
        await desk.tell(desk.pull.check(f"{FRONT}/prod/{target}"), "check_run")
    await desk.see_to(f"github.com/acme/shop@{desk.pull.sha}")
    assert len(await desk.told()) == 2


async def test_the_check_of_a_closed_pull_request_stays_as_it_is(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    desk.pull.later(state="closed")
    await desk.happen(desk.pull.event("closed"))
    await desk.happen(desk.pull.check(FRONT), "check_run")
    assert await desk.told() == [("front", short(0), "cancelled")]


async def test_what_could_not_be_asked_for_is_asked_for_again_and_nothing_twice(
    desk: Desk,
) -> None:
    await desk.put(deployment(2, "back", {"repoURL": "https://github.com/acme/shop"}))
    desk.limits = PlanLimits(workspace_per_minute=1)
    await desk.tell(desk.pull.event("opened"))
    await desk.see_to()
    assert await desk.told() == [("back", short(0), "computing")]
    desk.limits = PlanLimits()
    await desk.see_to()
    assert await desk.told() == [("back", short(0), "computing"), ("front", short(0), "computing")]


async def test_after_an_hour_of_refusals_it_is_given_up(desk: Desk) -> None:
    desk.limits = PlanLimits(workspace_per_minute=0)
    await desk.tell(desk.pull.event("opened"))
    desk.site.clock.ahead = timedelta(hours=1)
    await desk.see_to()
    desk.limits = PlanLimits()
    await desk.see_to()
    assert await desk.told() == []


async def test_a_subject_is_seen_to_by_one_at_a_time(desk: Desk) -> None:
    await desk.tell(desk.pull.event("opened"))
    async with desk.site.store.begin() as tx:
        assert await tx.hold("github.com/acme/shop#7")
        await desk.see_to()
        assert await desk.told() == []
    await asyncio.gather(*(desk.see_to() for _ in range(4)))
    assert await desk.told() == [("front", short(0), "computing")]


async def test_while_pushes_keep_coming_nothing_is_planned_but_not_for_ever(desk: Desk) -> None:
    desk.quiet_for = 2 * SECOND
    for number in range(1, 7):
        await desk.tell(desk.pull.push(number))
        await desk.see_to()
        desk.site.clock.ahead += 1.5 * SECOND
    assert await desk.told() == []
    await desk.tell(desk.pull.push(7))
    desk.site.clock.ahead += 1.5 * SECOND
    await desk.see_to()
    assert await desk.told() == [("front", short(7), "computing")]


async def test_twenty_pushes_in_a_burst_are_one_plan_of_the_last_head(desk: Desk) -> None:
    await desk.tell(desk.pull.event("opened"))
    pushes = [desk.pull.push(number) for number in range(1, 21)]
    desk.site.agent.open.clear()
    async with working(desk.site, forge=desk.forge):
        await asyncio.gather(*(desk.tell(push) for push in pushes))
        async with asyncio.timeout(PATIENCE):
            await desk.site.agent.asked.wait()
        assert await desk.told() == [("front", short(20), "computing")]


async def test_pull_requests_do_not_mix(desk: Desk) -> None:
    await desk.happen(desk.pull.event("opened"))
    desk.pull = Pull(number=8, sha=sha_of(8))
    await desk.happen(desk.pull.event("opened"))
    assert sorted(await desk.told()) == sorted(
        [("front", short(8), "computing"), ("front", short(0), "computing")]
    )
