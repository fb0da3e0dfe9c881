"""Promises about pull requests and the events that tell of them."""

from dataclasses import replace
from datetime import timedelta

from foretell.domain.plan import GithubRef, Plan, PlanReason, PlanRequest
from foretell.formats.pull_request.event import CheckAsked, Event, Moved, PlanAsked
from foretell.formats.pull_request.head import PullRequest
from foretell.ports import Delivery, Job, PullRequestState, Step
from foretell.testing.contracts.store.world import MINUTE, NOW, ODD, Promises, Queued, World, new_id

SUBJECT = "github.com/org/app#7"
PULL = PullRequest("github.com", "org", "app", 7, "a" * 40, ODD, ODD, NOW, labels=("x", ODD))
STATE = PullRequestState(PULL, "b" * 40, "c" * 40, "d" * 40)
EVENTS: tuple[Event, ...] = (
    Moved(PULL, "b" * 40, ODD, "dora"),
    PlanAsked("github.com", "org", "app", 7, 2**53, "dora", NOW, ("web", ODD), False),
    CheckAsked("github.com", "org", "app", "a" * 40, ODD),
)


def delivery(event: Event = EVENTS[0], *, subject: str = SUBJECT) -> Delivery:
    return Delivery(new_id(), new_id(), subject, event, NOW)


class PullRequestPromises(Promises):
    async def test_events_wait_in_their_order_until_they_are_finished(self, world: World) -> None:
        given = [delivery(event) for event in EVENTS]
        other = delivery(subject="github.com/org/app#8")
        for one in (*given[:1], other, *given[1:]):
            async with world.store.begin() as tx:
                assert await tx.receive(one)
        async with world.store.begin() as tx:
            assert list(await tx.pending(SUBJECT)) == given
            await tx.finish(given[:2])
            assert list(await tx.pending(SUBJECT)) == given[2:]
            assert list(await tx.pending(other.subject)) == [other]

    async def test_a_delivery_is_received_once_by_its_id_and_by_its_bytes(
        self, world: World
    ) -> None:
        first, second = delivery(), delivery()
        async with world.store.begin() as tx:
            assert await tx.receive(first)
            assert not await tx.receive(replace(second, id=first.id))
            assert not await tx.receive(replace(second, digest=first.digest))
            await tx.finish([first])
            assert not await tx.receive(first)
            assert await tx.receive(second)

    async def test_a_delivery_and_its_job_commit_or_vanish_together(
        self, world: World, queued: Queued
    ) -> None:
        one = delivery()
        try:
            async with world.store.begin() as tx:
                await tx.receive(one)
                await tx.enqueue([Job(Step.PULL_REQUEST, SUBJECT)])
                raise InterruptedError
        except InterruptedError:
            pass
        assert (Step.PULL_REQUEST, SUBJECT) not in await queued()
        async with world.store.begin() as tx:
            assert await tx.receive(one)
            await tx.enqueue([Job(Step.PULL_REQUEST, SUBJECT)])
        assert (Step.PULL_REQUEST, SUBJECT) in await queued()

    async def test_an_event_that_nobody_sees_to_is_woken(
        self, world: World, queued: Queued
    ) -> None:
        waiting, finished = delivery(), delivery(subject="github.com/org/app#8")
        async with world.store.begin() as tx:
            await tx.receive(waiting)
            await tx.receive(finished)
            await tx.finish([finished])
            assert await tx.wake_stalled() == 1
        assert list(await queued()) == [(Step.PULL_REQUEST, SUBJECT)]
        async with world.store.begin() as tx:
            assert await tx.wake_stalled() == 0

    async def test_what_is_old_is_forgotten_and_the_rest_is_not(self, world: World) -> None:
        old, young = delivery(), replace(delivery(), received_at=NOW + MINUTE)
        async with world.store.begin() as tx:
            for one in (old, young):
                await tx.receive(one)
            await tx.save_pull_request_state("old", STATE, NOW)
            await tx.save_pull_request_state("young", STATE, NOW + MINUTE)
            await tx.forget(NOW + timedelta(seconds=1))
            assert list(await tx.pending(SUBJECT)) == [young]
            assert await tx.receive(old)
            assert await tx.pull_request_state("old") is None
            assert await tx.pull_request_state("young") == STATE

    async def test_the_state_of_a_pull_request_is_the_one_saved_last(self, world: World) -> None:
        async with world.store.begin() as tx:
            assert await tx.pull_request_state(SUBJECT) is None
            await tx.save_pull_request_state(SUBJECT, STATE, NOW)
            assert await tx.pull_request_state(SUBJECT) == STATE
            newer = PullRequestState(replace(PULL, is_open=False))
            await tx.save_pull_request_state(SUBJECT, newer, NOW)
            assert await tx.pull_request_state(SUBJECT) == newer

    async def test_a_subject_is_held_by_one_until_its_transaction_ends(self, world: World) -> None:
        async with world.store.begin() as first:
            assert await first.hold(SUBJECT)
            assert await first.hold(SUBJECT)
            async with world.store.begin() as second:
                assert not await second.hold(SUBJECT)
                assert await second.hold("github.com/org/app#8")
        async with world.store.begin() as third:
            assert await third.hold(SUBJECT)

    async def test_deployments_and_agents_are_found_by_a_word_in_them(self, world: World) -> None:
        url = {"repoURL": "https://github.com/Org/Special-App"}
        changed = replace(world.deployment, job_agent_config=url)
        agent = replace(world.agent, config={"owner": "special", "repo": "per%cent_app"})
        async with world.store.begin() as tx:
            assert await tx.items_naming("special-app") == {}
            await tx.put_items(world.workspace.id, [changed, agent])
            for word, ids in (
                ("special-app", {changed.id}),
                ("per%cent", {agent.id}),
                ("SPECIAL", {changed.id, agent.id}),
            ):
                assert await tx.items_naming(word) == {world.workspace.id: frozenset(ids)}, word
            for word in ("per_cent", "percent", "special.app"):
                assert await tx.items_naming(word) == {}, word

    async def test_the_plans_of_a_pull_request_are_those_in_force(self, world: World) -> None:
        older, newer = world.new_plan(pr=7), world.new_plan(pr=7, at=NOW + MINUTE)
        others = [world.new_plan(pr=8), world.new_plan(), world.new_plan(pr=7)]
        async with world.store.begin() as tx:
            await tx.insert_plan(newer, idempotency_key="webhook:1")
            await tx.insert_plan(older)
            for one in others:
                await tx.insert_plan(one)
            await tx.stop_plan(others[2].fail(PlanReason.CANCELLED, NOW))
            found = await tx.plans_of_pull_request("ORG", "App", 7)
            ours = await tx.plans_of_pull_request("org", "app", 7, key_prefix="webhook:")
        assert [list(found), list(ours)] == [[older, newer], [newer]]

    async def test_the_plans_of_a_commit_are_the_newest_of_each_scope(self, world: World) -> None:
        def plan(later: int, sha: str = "s1", pr: int | None = 7, scope: str = "") -> Plan:
            github = GithubRef("Org", "app", sha, pr)
            request = PlanRequest("v2", github=github, environment_selector=scope)
            return world.new_plan(at=NOW + later * MINUTE, request=request)

        first, second, other = plan(0), plan(1), plan(2, sha="s2")
        scoped, bare, retired = plan(3, scope="x"), plan(4, pr=None), plan(5, scope="y")
        async with world.store.begin() as tx:
            for one in (first, second, other, scoped, bare, retired):
                await tx.insert_plan(one)
            stopped = retired.fail(PlanReason.SUPERSEDED, NOW)
            await tx.stop_plan(stopped)
            await tx.retire_plan(retired.id, NOW)
            found = await tx.plans_of_commit("org", "APP", "s1")
            assert list(await tx.plans_of_commit("org", "app", "s")) == []
        assert sorted(one.id for one in found) == sorted([second.id, scoped.id, bare.id])
