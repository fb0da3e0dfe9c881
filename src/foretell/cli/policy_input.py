"""What the rules saw of a plan on a server, one document for each agent on each target."""

import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from foretell.cli.client import Client, Deployed, open_client
from foretell.cli.remote import Server
from foretell.domain.errors import Conflict, InvalidRequest
from foretell.domain.plan import PlanId
from foretell.domain.result import Status
from foretell.domain.rollup import InvocationState, TargetRollup
from foretell.domain.summary import PlanReport
from foretell.formats.document import DiffMode
from foretell.formats.markdown import place


@dataclass(frozen=True, slots=True)
class RealPlan:
    """Where a plan is; `target` is an id or `environment/resource`, "" all of them."""

    where: Deployed
    plan_id: PlanId
    target: str = ""


@dataclass(frozen=True, slots=True)
class RealInput:
    """One document; `case` is a name for a file, `trouble` why there is no document."""

    place: str
    case: str
    scope: Mapping[str, Any]
    document: Mapping[str, Any]
    trouble: str = ""


async def real_inputs(server: Server, wanted: RealPlan) -> AsyncIterator[RealInput]:
    """Raises InvalidRequest where no agent of what is wanted has answered."""
    async with open_client(server.url, server.token) as client:
        report = await client.get(wanted.where, wanted.plan_id, DiffMode.NONE)
        answered = list(_answered(report, wanted.target))
        if not answered:
            what = f"target {wanted.target!r}" if wanted.target else "any target"
            raise InvalidRequest(f"plan {wanted.plan_id} has no answer for {what}")
        for row, invocation in answered:
            yield await _input(client, wanted, row, invocation)


def _answered(report: PlanReport, target: str) -> Iterator[tuple[TargetRollup, InvocationState]]:
    for row in report.targets:
        names = (
            row.target.id,
            f"{row.target.environment_name}/{row.target.resource_identifier}",
            f"{row.target.environment_name}/{row.target.resource_name}",
        )
        for invocation in row.target.invocations:
            if invocation.status is Status.COMPLETED and (not target or target in names):
                yield row, invocation


async def _input(
    client: Client, wanted: RealPlan, row: TargetRollup, invocation: InvocationState
) -> RealInput:
    agent, target = invocation.agent, row.target
    parts = [target.environment_name, target.resource_identifier]
    shown = place(row)
    if len(target.invocations) > 1:
        parts.append(agent.name)
        shown = f"{shown} ({agent.name})"
    case = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-") or "x" for part in parts)
    try:
        document = await client.policy_input(wanted.where, wanted.plan_id, invocation.id)
    except Conflict as error:
        return RealInput(shown, case, {}, {}, error.message)
    scope = {key: document[key] for key in ("deployment", "environment", "resource")}
    scope["jobAgent"] = {"id": agent.id, "name": agent.name, "type": agent.type}
    return RealInput(shown, case, scope, document)
