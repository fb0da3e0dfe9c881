"""`foretell policy eval`: rules that are not saved yet, on what a real plan would do."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from foretell.cli.client import Deployed
from foretell.cli.ending import Ending
from foretell.cli.output import visible
from foretell.cli.policy_files import Files, read_inventory, read_rules
from foretell.cli.policy_input import RealInput, RealPlan, real_inputs
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
from foretell.domain.target import Policy
from foretell.domain.verdict import Rule, Verdict, VerdictStatus, errored, rules_for
from foretell.inventory.matching import CelSelectors
from foretell.policy.choice import rule_workbench
from foretell.policy.workbench import Workbench
from foretell.settings import read_settings

PlanOption = Annotated[str, typer.Option("--plan", help="The plan's id.")]
TargetOption = Annotated[
    str, typer.Option(help="One target only: its id, or environment/resource.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("eval")(evaluate)


def evaluate(  # noqa: PLR0913 - a command's options are its parameters
    files: Files,
    plan: PlanOption = "",
    target: TargetOption = "",
    workspace: WorkspaceOption = "",
    deployment: DeploymentOption = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
) -> None:
    """Say what rules of yours would say of a plan that a server has.

    What they see is masked, as on the server. Of an inventory, the policies' selectors decide
    which targets are judged; a rule alone (.rego) judges all of them.

    Exits 1 where a rule could not answer, 3 where a mandatory one said no.

    Example:  foretell policy eval policies/no_deletes.rego --plan 3b1f… -w acme -d api
    """
    needed(workspace=workspace, deployment=deployment, plan=plan)
    wanted = RealPlan(Deployed(workspace, deployment), PlanId(plan), target)
    policies = [*read_rules(files), *read_inventory(files).policies]
    raise Ending(asyncio.run(_evaluate(Server(server, token), wanted, policies)))


async def _evaluate(server: Server, wanted: RealPlan, policies: Sequence[Policy]) -> int:
    codes = {0}
    async with rule_workbench(read_settings().opa) as engine:
        async for found in real_inputs(server, wanted):
            for verdict in await _judge(engine, policies, found):
                codes.add(_code(verdict))
                for line in _lines(verdict):
                    typer.echo(visible(f"{found.place}: {line}"))
    return next(code for code in (1, 3, 0) if code in codes)


async def _judge(
    engine: Workbench, policies: Sequence[Policy], found: RealInput
) -> Sequence[Verdict]:
    rules = rules_for(policies, found.scope, CelSelectors().matches(absent=True))
    if found.trouble:
        return errored(rules, found.trouble)
    asked = [rule for rule in rules if not rule.trouble]
    said = list(await engine.evaluate(asked, found.document))
    return [*said, *(_troubled(rule) for rule in rules if rule.trouble)]


def _troubled(rule: Rule) -> Verdict:
    (verdict,) = errored([rule], rule.trouble)
    return verdict


def _code(verdict: Verdict) -> int:
    if verdict.status is VerdictStatus.ERRORED:
        return 1
    return 3 if verdict.blocks else 0


def _lines(verdict: Verdict) -> Iterator[str]:
    yield from (f"{verdict.rule} warns: {warning}" for warning in verdict.warnings)
    match verdict.status:
        case VerdictStatus.PASSED:
            yield f"{verdict.rule} passed"
        case VerdictStatus.DENIED:
            yield from (f"{verdict.rule} says no: {one.message}" for one in verdict.denials)
        case VerdictStatus.ERRORED:
            yield f"{verdict.rule} could not answer: {verdict.message}"
