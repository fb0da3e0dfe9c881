"""Beside the steps: what is overdue, forgotten, expired or left behind, every minute."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from foretell.domain.errors import ForetellError
from foretell.domain.plan import InvocationId, PlanReason
from foretell.domain.result import Leftovers
from foretell.domain.target import AgentSpec
from foretell.ports import Agents, Clock, Secrets, Store, Tx

LEFTOVER_AGE = timedelta(minutes=10)
"""RFC 0004 `planTTL`, unless a setting says else."""


async def sweep(
    store: Store,
    agents: Agents,
    secrets: Secrets,
    clock: Clock,
    plan_ttl: timedelta = LEFTOVER_AGE,
) -> Leftovers:
    """One round. What it can't do now it does in the next: nothing depends on a single one."""
    now = clock.now()
    async with store.begin() as tx:
        await _stop_overdue(tx, now)
        await tx.wake_stalled()
        await tx.delete_expired(now)
    async with store.begin() as tx:
        live = await tx.live_invocations()
        specs = await tx.agent_specs()
    return await _sweep_agents(agents, secrets, specs, live, plan_ttl)


async def _stop_overdue(tx: Tx, now: datetime) -> None:
    """A plan that was never fanned out fails; else its open invocations see the deadline."""
    for plan in await tx.overdue(now):
        if plan.fanned_out_at is None:
            await tx.stop_plan(plan.fail(PlanReason.DEADLINE, now))
        else:
            await tx.wake_open(plan.id)


async def _sweep_agents(
    agents: Agents,
    secrets: Secrets,
    specs: Sequence[AgentSpec],
    live: frozenset[InvocationId],
    plan_ttl: timedelta,
) -> Leftovers:
    removed, stuck = 0, []
    for spec in specs:
        agent = agents.find(spec.type)
        if agent is None:
            continue
        try:
            left = await agent.sweep(secrets.reveal(spec.config).value, plan_ttl, live)
        except ForetellError as error:
            stuck.append(f"{spec.name}: {error.message}")
        except Exception as error:  # a bug of one plug-in stops nobody else
            stuck.append(f"{spec.name}: the agent failed with {type(error).__name__}")
        else:
            removed += left.removed
            stuck.extend(f"{spec.name}: {name}" for name in left.stuck)
    return Leftovers(removed, tuple(stuck))
