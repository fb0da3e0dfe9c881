"""Promises about what was shown where."""

from dataclasses import replace
from datetime import timedelta

from foretell.ports.memory import ShownCheck, Thread, Told
from foretell.testing.contracts.store.world import MINUTE, NOW, ODD, Promises, World

HELD = timedelta(minutes=5)
NOT_HELD = timedelta(0)


def thread_of(world: World, *, pr: int | None = 7, commit: str = "c1") -> Thread:
    return Thread(world.deployment.id, "Org", "App", pr, commit)


class ReportPromises(Promises):
    async def test_one_writer_at_a_time_until_it_ends_or_its_time_does(self, world: World) -> None:
        plan, thread = world.new_plan(pr=7), thread_of(world)
        async with world.store.begin() as tx:
            assert await tx.take_turn(thread, plan, "a", HELD)
        async with world.store.begin() as tx:
            assert await tx.take_turn(thread, plan, "b", HELD) is None
            assert await tx.take_turn(thread, plan, "a", HELD)
            await tx.end_turn(thread, "b")
            assert await tx.take_turn(thread, plan, "b", HELD) is None
            await tx.end_turn(thread, "a")
            assert await tx.take_turn(thread, plan, "b", NOT_HELD)
        async with world.store.begin() as tx:
            assert await tx.take_turn(thread, plan, "c", HELD)

    async def test_the_newest_plan_has_the_comment_though_it_has_to_wait(
        self, world: World
    ) -> None:
        older, thread = world.new_plan(pr=7), thread_of(world)
        newer = world.new_plan(pr=7, at=NOW + MINUTE)
        async with world.store.begin() as tx:
            turn = await tx.take_turn(thread, older, "a", HELD)
            assert turn is not None
            assert turn.is_newest
            assert await tx.keep_turn(thread, older.id, "a", HELD)
        async with world.store.begin() as tx:
            assert await tx.take_turn(thread, newer, "b", HELD) is None
            assert not await tx.keep_turn(thread, older.id, "a", HELD)
            await tx.end_turn(thread, "a")
            late = await tx.take_turn(thread, older, "a", NOT_HELD)
            assert late is not None
            assert not late.is_newest

    async def test_a_turn_that_was_lost_is_not_kept(self, world: World) -> None:
        plan, thread = world.new_plan(pr=7), thread_of(world)
        async with world.store.begin() as tx:
            await tx.take_turn(thread, plan, "a", NOT_HELD)
            await tx.take_turn(thread, plan, "b", HELD)
            assert not await tx.keep_turn(thread, plan.id, "a", HELD)

    async def test_a_comment_is_remembered_in_any_spelling_for_the_pull_request_alone(
        self, world: World
    ) -> None:
        plan, thread = world.new_plan(pr=7), thread_of(world)
        async with world.store.begin() as tx:
            await tx.take_turn(thread, plan, "a", HELD)
            await tx.save_comment(thread, 2**40, ODD)
            await tx.end_turn(thread, "a")
        same = replace(thread, owner="ORG", repo="app", commit="c2")
        other = replace(thread, pr_number=8)
        async with world.store.begin() as tx:
            known = await tx.take_turn(same, plan, "a", HELD)
            assert known is not None
            assert (known.comment_id, known.comment_digest) == (2**40, ODD)
            new = await tx.take_turn(other, plan, "a", HELD)
            assert new is not None
            assert new.comment_id is None

    async def test_a_commit_without_a_pull_request_is_a_thread_of_its_own(
        self, world: World
    ) -> None:
        plan = world.new_plan()
        first, second = thread_of(world, pr=None), thread_of(world, pr=None, commit="c2")
        async with world.store.begin() as tx:
            assert await tx.take_turn(first, plan, "a", HELD)
            assert await tx.take_turn(second, plan, "b", HELD)

    async def test_what_was_told_is_compared_with_the_commit_before(self, world: World) -> None:
        plan, thread = world.new_plan(pr=7), thread_of(world)
        async with world.store.begin() as tx:
            turn = await tx.take_turn(thread, plan, "a", HELD)
            assert turn is not None
            assert turn.before is None
            for commit, digest in (("c1", "x"), ("c1", "y"), ("c2", "z"), ("c2", "zz")):
                await tx.save_told(thread, Told(commit, {ODD: digest}))
            for commit, expected in (
                ("c2", Told("c1", {ODD: "y"})),
                ("c3", Told("c2", {ODD: "zz"})),
            ):
                turn = await tx.take_turn(replace(thread, commit=commit), plan, "a", HELD)
                assert turn is not None
                assert turn.before == expected

    async def test_neighbours_are_other_deployments_of_the_repository(self, world: World) -> None:
        plan, thread = world.new_plan(pr=7), thread_of(world)
        neighbour = await World(world.store).write()
        async with world.store.begin() as tx:
            alone = await tx.take_turn(thread, plan, "a", HELD)
            assert alone is not None
            assert not alone.has_neighbours
            other = replace(thread, deployment_id=neighbour.deployment.id, pr_number=9)
            await tx.take_turn(other, neighbour.new_plan(pr=9), "b", HELD)
            not_alone = await tx.take_turn(thread, plan, "a", HELD)
            assert not_alone is not None
            assert not_alone.has_neighbours

    async def test_a_check_belongs_to_the_newest_plan_that_claimed_it(self, world: World) -> None:
        older, thread = world.new_plan(pr=7), thread_of(world)
        newer = world.new_plan(pr=7, at=NOW + MINUTE)
        async with world.store.begin() as tx:
            assert await tx.claim_check(thread, older, "x") == ShownCheck("x", "c1")
            shown = ShownCheck("x", "c1", ODD, 2**40, "d", is_open=True)
            await tx.save_check(thread, shown)
            assert await tx.claim_check(thread, newer, "x") == shown
            assert await tx.claim_check(thread, older, "x") is None
            assert await tx.claim_check(thread, newer, "x") == shown

    async def test_open_checks_of_older_commits_are_found_until_they_end(
        self, world: World
    ) -> None:
        older, first = world.new_plan(pr=7), thread_of(world)
        newer, second = world.new_plan(pr=7, at=NOW + MINUTE), thread_of(world, commit="c2")
        async with world.store.begin() as tx:
            for name in ("b", "a", "done"):
                await tx.claim_check(first, older, name)
                await tx.save_check(
                    first, ShownCheck(name, "c1", name, 1, "d", is_open=name != "done")
                )
            await tx.claim_check(second, newer, "a")
            await tx.save_check(second, ShownCheck("a", "c2", "a", 2, "d", is_open=True))
            found = await tx.outdated_checks(second, newer, own=False)
            assert [(one.name, one.commit) for one in found] == [("a", "c1"), ("b", "c1")]
            assert await tx.outdated_checks(first, older, own=False) == []
            own = await tx.outdated_checks(first, older, own=True)
            assert [one.name for one in own] == ["a", "b"]
            for one in own:
                await tx.save_check(first, replace(one, is_open=False))
            assert await tx.outdated_checks(second, newer, own=False) == []
