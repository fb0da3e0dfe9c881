"""Promises about invocations."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from foretell.domain.errors import IllegalTransition
from foretell.domain.override import OverrideTerms
from foretell.domain.plan import InvocationId, PlanReason, PlanStatus
from foretell.domain.result import Pending, Status
from foretell.domain.verdict import Denial, Verdict, VerdictStatus
from foretell.ports import Settled
from foretell.testing.contracts.store.world import (
    DONE,
    MINUTE,
    NOW,
    ODD,
    ODD_JSON,
    POLICY,
    SMALL,
    Promises,
    World,
    new_id,
)

TIMEOUT = Settled(Status.ERRORED, "timeout", ODD)
VERDICTS = (
    Verdict("p", "a", VerdictStatus.PASSED, warnings=(ODD,)),
    Verdict(
        "p",
        "b",
        VerdictStatus.DENIED,
        False,
        (Denial(ODD, ODD_JSON),),
        terms=OverrideTerms("admin", 2),
    ),
    Verdict("q", "a", VerdictStatus.ERRORED, message="too slow"),
)


class InvocationPromises(Promises):
    async def test_an_invocation_asks_what_was_frozen(self, world: World) -> None:
        plan = await world.computing()
        targets = world.planned(plan)
        planned = targets[0].invocations[0]
        async with world.store.begin() as tx:
            await tx.insert_targets(plan, targets, NOW)
            found = await tx.start(planned.id, NOW)
        assert found is not None
        assert (found.id, found.plan_id, found.target_id) == (planned.id, plan.id, targets[0].id)
        assert found.context == planned.context
        assert (found.timeout, found.plan_deadline_at) == (planned.timeout, plan.deadline_at)
        assert (found.status, found.plan_status) == (Status.COMPUTING, PlanStatus.COMPUTING)
        assert (found.started_at, found.attempts, found.state) == (NOW, 1, None)

    async def test_targets_are_written_once(self, world: World) -> None:
        plan, _ = await world.fanned_out()
        with pytest.raises(IllegalTransition):
            async with world.store.begin() as tx:
                await tx.insert_targets(plan, world.planned(plan), NOW)
        assert (await world.plan(plan.id)).fanned_out_at == NOW

    async def test_time_counts_from_the_first_time_of_asking(self, world: World) -> None:
        _, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            await tx.start(id, NOW)
            again = await tx.start(id, NOW + MINUTE)
        assert again is not None
        assert (again.started_at, again.attempts) == (NOW, 2)

    async def test_an_invocation_that_is_gone_is_none(self, world: World) -> None:
        async with world.store.begin() as tx:
            assert await tx.start(InvocationId(new_id()), NOW) is None
            assert await tx.answered(InvocationId(new_id())) is None

    async def test_state_and_message_are_there_at_the_next_time(self, world: World) -> None:
        _, (id, other, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            assert await tx.save_pending(id, Pending(ODD_JSON, timedelta(seconds=1), ODD))
            assert await tx.save_message(other, "locked")
            found, silent = await tx.start(id, NOW), await tx.start(other, NOW)
        assert found is not None
        assert silent is not None
        assert (found.state, found.message) == (ODD_JSON, ODD)
        assert (silent.state, silent.message) == (None, "locked")

    async def test_an_invocation_knows_that_its_plan_was_stopped(self, world: World) -> None:
        plan, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            await tx.stop_plan(plan.fail(PlanReason.SUPERSEDED, NOW))
        async with world.store.begin() as tx:
            found = await tx.start(id, NOW)
        assert found is not None
        assert (found.plan_status, found.plan_reason) == (
            PlanStatus.FAILED,
            PlanReason.SUPERSEDED,
        )

    async def test_rules_in_the_workspace_govern_an_invocation(self, world: World) -> None:
        _, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            before = await tx.start(id, NOW)
            await tx.put_items(world.workspace.id, [replace(POLICY, id=new_id())])
            after = await tx.start(id, NOW)
        assert before is not None
        assert after is not None
        assert (before.governed, after.governed) == (False, True)

    async def test_a_settled_invocation_is_not_asked_and_not_overwritten(
        self, world: World
    ) -> None:
        plan, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            invocation = await tx.start(id, NOW)
            assert invocation is not None
            assert await tx.save_done(invocation, DONE, NOW, settled=True)
        async with world.store.begin() as tx:
            before = await tx.targets(plan.id)
            assert await tx.start(id, NOW) is None
            assert not await tx.save_done(invocation, SMALL, NOW, settled=True)
            assert not await tx.save_done(invocation, DONE, NOW, settled=False)
            assert not await tx.save_settled(id, TIMEOUT, NOW)
            assert not await tx.save_pending(id, Pending({}, MINUTE))
            assert not await tx.save_message(id, "late")
            assert not await tx.save_verdicts(id, VERDICTS, NOW)
            assert await tx.targets(plan.id) == before

    async def test_an_answer_waits_for_its_rules_and_is_not_replaced(self, world: World) -> None:
        plan, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            invocation = await tx.start(id, NOW)
            assert invocation is not None
            assert await tx.save_done(invocation, DONE, NOW, settled=False)
        async with world.store.begin() as tx:
            assert await tx.start(id, NOW) is None
            assert not await tx.save_done(invocation, SMALL, NOW, settled=False)
            assert not await tx.save_pending(id, Pending({}, MINUTE))
            waiting = await tx.answered(id)
            assert await tx.open_invocations(plan.id) == 4
        assert waiting is not None
        assert waiting.status is Status.COMPUTING
        assert waiting.results == DONE.results

    async def test_verdicts_settle_what_was_answered_once(self, world: World) -> None:
        plan, (id, unanswered, *_) = await world.fanned_out()
        await world.answer(id, DONE, settled=False)
        async with world.store.begin() as tx:
            assert not await tx.save_verdicts(unanswered, VERDICTS, NOW)
            assert await tx.save_verdicts(id, VERDICTS, NOW)
            assert not await tx.save_verdicts(id, (), NOW)
            assert await tx.answered(id) is None
            assert await tx.open_invocations(plan.id) == 3
            states = [i for target in await tx.targets(plan.id) for i in target.invocations]
        state = next(state for state in states if state.id == id)
        assert (state.status, state.verdicts) == (Status.COMPLETED, VERDICTS)

    async def test_what_was_judged_is_found_by_its_id_or_that_of_a_kind_in_its_plan(
        self, world: World
    ) -> None:
        plan, (id, unanswered, *_) = await world.fanned_out()
        other, _ = await world.fanned_out()
        await world.answer(id, DONE, settled=True)
        async with world.store.begin() as tx:
            states = [i for target in await tx.targets(plan.id) for i in target.invocations]
            (kinds,) = [state.results for state in states if state.id == id]
            for each in (id, *(kind.id for kind in kinds)):
                found = await tx.judged(plan.id, each)
                assert found is not None
                assert (found.id, found.results) == (id, DONE.results)
            assert await tx.judged(plan.id, unanswered) is None
            assert await tx.judged(other.id, id) is None

    async def test_an_answer_without_rules_is_settled_without_verdicts(self, world: World) -> None:
        _, (id, *_) = await world.fanned_out()
        await world.answer(id, SMALL, settled=False)
        async with world.store.begin() as tx:
            assert await tx.save_verdicts(id, (), NOW)

    async def test_of_two_that_settle_at_once_one_wins(self, world: World) -> None:
        _, (id, *_) = await world.fanned_out()
        both_are_in = asyncio.Barrier(2)

        async def settle() -> bool:
            async with world.store.begin() as tx:
                await both_are_in.wait()
                return await tx.save_settled(id, TIMEOUT, NOW)

        assert sorted(await asyncio.gather(settle(), settle())) == [False, True]

    async def test_what_others_committed_is_counted(self, world: World) -> None:
        plan, (id, *_) = await world.fanned_out()
        async with world.store.begin() as tx:
            assert await tx.open_invocations(plan.id) == 4
            await world.answer(id, SMALL)
            assert await tx.open_invocations(plan.id) == 3

    async def test_live_are_those_that_are_not_settled(self, world: World) -> None:
        _, (first, second, *rest) = await world.fanned_out()
        await world.answer(first, SMALL)
        await world.answer(second, SMALL, settled=False)
        async with world.store.begin() as tx:
            assert await tx.live_invocations() == {second, *rest}
