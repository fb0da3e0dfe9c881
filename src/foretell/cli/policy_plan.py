"""`foretell policy override`: rules on a plan that a server has."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from foretell.cli.client import Deployed, open_client
from foretell.cli.remote import (
    DEFAULT_SERVER,
    DeploymentOption,
    Server,
    ServerOption,
    TokenOption,
    WorkspaceOption,
    needed,
)
from foretell.domain.plan import PlanId


def register(app: typer.Typer) -> None:
    """Add the commands to those of `foretell policy`."""
    app.command("override")(override)


def override(  # noqa: PLR0913 - a command's options are its parameters
    plan_id: Annotated[str, typer.Argument(help="The plan's id.")],
    rule: Annotated[str, typer.Option(help="The rule that said no.")] = "",
    reason: Annotated[str, typer.Option(help="Why it may be deployed all the same.")] = "",
    target: Annotated[
        str,
        typer.Option(help="Only there: an id, or environment/resource. Else wherever it said no."),
    ] = "",
    policy: Annotated[str, typer.Option(help="Where two policies have a rule of this name.")] = "",
    workspace: WorkspaceOption = "",
    deployment: DeploymentOption = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
) -> None:
    """Answer for what a rule said no to: it is kept who did, and why.

    It takes the role that the rule's policy names, and as many people as it says. The denial
    still shows, with everybody who overrode it.

    Example:  foretell policy override 3b1f… --rule freeze --reason "the fix for the outage"
    """
    needed(workspace=workspace, deployment=deployment, rule=rule, reason=reason)
    body = {"rule": rule, "reason": reason, "target": target, "policy": policy}
    where = Deployed(workspace, deployment)
    done = asyncio.run(_override(Server(server, token), where, PlanId(plan_id), body))
    typer.echo(_outcome(done))


async def _override(
    server: Server, where: Deployed, plan_id: PlanId, body: Mapping[str, str]
) -> Mapping[str, Any]:
    async with open_client(server.url, server.token) as client:
        return await client.override(where, plan_id, body)


def _outcome(done: Mapping[str, Any]) -> str:
    said = f"{done['by']} answers for rule {done['rule']} of policy {done['policy']}"
    counted = f"{done['given']} of {done['needed']} people"
    state = "it still blocks" if done["blocks"] else "it no longer blocks"
    return f"{said}: {counted}, {state}"
