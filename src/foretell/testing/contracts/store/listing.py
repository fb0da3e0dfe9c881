"""Promises about what is read of a plan's targets."""

from dataclasses import replace
from datetime import timedelta

from foretell.domain.context import AgentRef
from foretell.domain.plan import AgentId, InvocationId, PlanId, ResultId, TargetId
from foretell.domain.result import Status
from foretell.domain.rollup import roll
from foretell.domain.summary import summarize
from foretell.domain.target import Target
from foretell.ports import PlannedInvocation, PlannedTarget, Settled
from foretell.testing.contracts.store.world import (
    CHANGE,
    DONE,
    MANIFEST,
    NOW,
    ODD,
    Promises,
    World,
    new_id,
)


class ListingPromises(Promises):
    async def test_targets_are_in_order_of_environment_and_resource(self, world: World) -> None:
        plan, _ = await world.fanned_out()
        async with world.store.begin() as tx:
            targets = await tx.targets(plan.id)
        assert [(t.environment_name, t.resource_name, t.resource_identifier) for t in targets] == [
            ("Production", "Ireland", "eu-west"),
            ("Production", "Mumbai", "ap-south"),
            ("staging", "Ireland", "eu-west"),
            ("staging", "Mumbai", "ap-south"),
        ]

    async def test_a_target_keeps_its_names_and_its_invocations_in_order(
        self, world: World
    ) -> None:
        plan = await world.computing()
        environment = replace(world.environments[0], name=ODD)
        target = Target(environment, world.resources[0])
        invocations = tuple(world.invocation(plan, target, type=type) for type in "bca")
        async with world.store.begin() as tx:
            planned = PlannedTarget(TargetId(new_id()), target, invocations, "new")
            await tx.insert_targets(plan, [planned], NOW)
            (found,) = await tx.targets(plan.id)
        assert (found.id, found.change, found.environment_name) == (planned.id, "new", ODD)
        assert (found.environment_id, found.resource_id) == (
            environment.id,
            world.resources[0].id,
        )
        assert [state.id for state in found.invocations] == [i.id for i in invocations]
        assert [state.agent for state in found.invocations] == [i.agent for i in invocations]
        assert all(state.results == () for state in found.invocations)

    async def test_a_target_that_nobody_is_asked_about_is_settled_at_once(
        self, world: World
    ) -> None:
        plan = await world.computing()
        nobody = PlannedInvocation(
            InvocationId(new_id()),
            AgentRef(AgentId(""), "", ""),
            timedelta(0),
            None,
            Status.UNSUPPORTED,
            "reason",
            ODD,
        )
        target = PlannedTarget(
            TargetId(new_id()), Target(world.environments[0], world.resources[0]), (nobody,)
        )
        async with world.store.begin() as tx:
            await tx.insert_targets(plan, [target], NOW)
            assert await tx.open_invocations(plan.id) == 0
            ((state,),) = [target.invocations for target in await tx.targets(plan.id)]
        assert state.agent == nobody.agent
        assert (state.status, state.reason, state.message) == (Status.UNSUPPORTED, "reason", ODD)
        assert state.results == ()

    async def test_kinds_come_back_in_order_without_their_texts(self, world: World) -> None:
        plan, (id, *_) = await world.fanned_out()
        await world.answer(id, DONE)
        async with world.store.begin() as tx:
            states = [i for target in await tx.targets(plan.id) for i in target.invocations]
        state = next(state for state in states if state.id == id)
        assert (state.message, state.phases) == (DONE.message, DONE.phases)
        assert [kind.kind for kind in state.results] == ["manifest", "cr", "plan"]
        assert [kind.has_changes for kind in state.results] == [True, None, False]
        assert [kind.diff for kind in state.results] == [MANIFEST.diff, None, ""]
        manifest = state.results[0]
        assert (manifest.content_hash, manifest.plan_key_id, manifest.suppressed) == (
            "h1:00",
            "k1",
            3,
        )
        assert (manifest.additions, manifest.deletions) == (1, 2)
        assert manifest.resources == (replace(CHANGE, before="", after=""),)

    async def test_one_kind_comes_back_with_all_its_texts(self, world: World) -> None:
        plan, (id, *_) = await world.fanned_out()
        await world.answer(id, DONE)
        async with world.store.begin() as tx:
            states = [i for target in await tx.targets(plan.id) for i in target.invocations]
            kinds = next(state for state in states if state.id == id).results
            found = [await tx.result(plan.id, kind.id) for kind in kinds]
            strange = await tx.result(PlanId(new_id()), kinds[0].id)
            missing = await tx.result(plan.id, ResultId(new_id()))
        assert found == [(Status.COMPLETED, result) for result in DONE.results]
        assert (strange, missing) == (None, None)

    async def test_a_report_tells_a_plan_as_far_as_it_has_come(self, world: World) -> None:
        plan, (first, second, *_) = await world.fanned_out()
        await world.answer(first, DONE)
        async with world.store.begin() as tx:
            await tx.save_settled(second, Settled(Status.ERRORED, "timeout", "slow"), NOW)
        async with world.store.begin() as tx:
            report = await tx.report(plan.id)
            targets = await tx.targets(plan.id)
        assert report is not None
        assert report.targets == roll(targets)
        assert report.summary == summarize(report.targets)
        assert (report.summary.total, report.summary.computing) == (4, 2)
        assert (report.workspace, report.deployment_slug) == (
            world.workspace.slug,
            world.deployment.slug,
        )
        assert (report.tag, report.status) == (plan.request.tag, plan.status)

    async def test_a_plan_that_was_not_fanned_out_has_no_summary(self, world: World) -> None:
        plan = await world.computing()
        async with world.store.begin() as tx:
            report = await tx.report(plan.id)
            assert report is not None
            assert (report.summary, report.targets) == (None, ())
            await tx.insert_targets(plan, [], NOW)
            report = await tx.report(plan.id)
            assert report is not None
            assert report.summary is not None
