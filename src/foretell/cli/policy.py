"""`foretell policy`: rules before they are saved, and their tests."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.client import Deployed
from foretell.cli.ending import Ending
from foretell.cli.policy_eval import TargetOption
from foretell.cli.policy_files import Files, read_inventory, read_rules, read_text
from foretell.cli.policy_input import RealPlan, real_inputs
from foretell.cli.policy_record import record as write_examples
from foretell.cli.remote import (
    DEFAULT_SERVER,
    DeploymentOption,
    Server,
    ServerOption,
    TokenOption,
    WorkspaceOption,
    needed,
)
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import PlanId, PlanRequest
from foretell.domain.target import (
    AgentSpec,
    Deployment,
    Inventory,
    Matches,
    Policy,
    Target,
    agents_for,
    select,
)
from foretell.domain.verdict import Rule
from foretell.inventory.matching import CelSelectors
from foretell.policy.choice import rule_workbench
from foretell.policy.suite import RULE_ENDING, TEST_ENDING, run_suite
from foretell.settings import read_settings

app = typer.Typer(help="Check rules, and run their tests.", no_args_is_help=True)

_ENDINGS = (".rego", ".yaml", ".yml", ".json")
_SHOWN = 5

Folder = Annotated[Path, typer.Argument(help="A folder of rules with their tests and examples.")]


@app.command("check")
def check_rules(files: Files) -> None:
    """Compile rules, and say where they apply.

    Of an inventory, the targets that its policies apply to are named.

    Exits 1 where a rule can't be judged: each place is named with its line and what is wrong.

    Examples:

      foretell policy check policies/no_deletes.rego

      foretell policy check inventory.yaml
    """
    inventory = read_inventory(files)
    rules = list(_rules([*read_rules(files), *inventory.policies]))
    asyncio.run(_check(rules))
    typer.echo("1 rule can be judged" if len(rules) == 1 else f"{len(rules)} rules can be judged")
    for policy in inventory.policies:
        typer.echo(_reach(policy, inventory))


async def _check(rules: Sequence[Rule]) -> None:
    async with rule_workbench(read_settings().opa) as engine:
        await engine.check(rules)


def _rules(policies: Sequence[Policy]) -> Iterator[Rule]:
    for policy in policies:
        for rule in policy.rules:
            yield Rule(policy.name, rule.name, rule.rego, rule.description, rule.mandatory)


def _reach(policy: Policy, inventory: Inventory) -> str:
    matches = CelSelectors().matches(absent=True)
    everywhere = [
        place for one in inventory.deployments for place in _places(one, inventory, matches)
    ]
    found = [_word(*place) for place in everywhere if matches(policy.selector, _scope(*place))]
    names = ", ".join(found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
    return f"policy {policy.name}: {len(found)} of {len(everywhere)} targets" + (
        f" ({names})" if names else ""
    )


def _places(
    deployment: Deployment, inventory: Inventory, matches: Matches
) -> Iterator[tuple[Deployment, Target, AgentSpec]]:
    request = PlanRequest(tag="")
    for target in select(deployment, inventory.environments, inventory.resources, request, matches):
        for agent in agents_for(deployment, target, inventory.agents, matches):
            yield deployment, target, agent


def _scope(deployment: Deployment, target: Target, agent: AgentSpec) -> dict[str, object]:
    return {
        "deployment": deployment.describe(),
        "environment": target.environment.describe(),
        "resource": target.resource.describe(),
        "jobAgent": agent.describe(),
    }


def _word(deployment: Deployment, target: Target, agent: AgentSpec) -> str:
    return f"{deployment.slug} on {target.environment.name} / {target.resource.identifier}"


@app.command("test")
def run_tests(  # noqa: PLR0913 - a command's options are its parameters
    folder: Folder,
    record: Annotated[
        str, typer.Option(help="First save what rules saw of this plan as examples, masked.")
    ] = "",
    rule: Annotated[
        str, typer.Option(help="With --record: for this rule only, named as its file.")
    ] = "",
    target: TargetOption = "",
    workspace: WorkspaceOption = "",
    deployment: DeploymentOption = "",
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = "",
) -> None:
    """Run the tests of rules.

    They are `test_` rules in NAME_test.rego, and examples NAME.CASE.yaml.

    An example is a map of `input`, `deny` and `warn`, the messages that are expected. Exits 1
    where a test fails, or where there is none.

    Examples:

      foretell policy test policies/

      foretell policy test policies/ --record 3b1f… --rule no_deletes -w acme -d api
    """
    if record:
        needed(workspace=workspace, deployment=deployment)
        wanted = RealPlan(Deployed(workspace, deployment), PlanId(record), target)
        for path in asyncio.run(_record(folder, rule, Server(server, token), wanted)):
            typer.echo(f"saved {path}")
    files = {str(path.relative_to(folder)): read_text(path) for path in _below(folder)}
    if not any(name.endswith(".rego") for name in files):
        raise InvalidRequest(f"there is no rule (.rego) in {folder}")
    tested, failed = asyncio.run(_run(files))
    typer.echo(f"{tested - failed} of {tested} passed")
    if failed:
        raise Ending(1)


async def _record(folder: Path, rule: str, server: Server, wanted: RealPlan) -> list[Path]:
    names = (str(path.relative_to(folder)) for path in _below(folder))
    rules = {
        name: read_text(folder / name)
        for name in names
        if name.endswith(RULE_ENDING) and not name.endswith(TEST_ENDING)
        if rule in ("", name, name.removesuffix(RULE_ENDING))
    }
    if not rules:
        raise InvalidRequest(f"there is no rule {rule!r} in {folder}")
    async with rule_workbench(read_settings().opa) as engine:
        return await write_examples(engine, folder, rules, real_inputs(server, wanted))


async def _run(files: dict[str, str]) -> tuple[int, int]:
    tested = failed = 0
    async with rule_workbench(read_settings().opa) as engine:
        async for result in run_suite(engine, files):
            tested, failed = tested + 1, failed + bool(result.cause)
            word = "FAIL" if result.cause else "pass"
            cause = f": {result.cause}" if result.cause else ""
            typer.echo(f"{word}  {result.file}: {result.name}{cause}")
    return tested, failed


def _below(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InvalidRequest(f"{folder} is no folder")
    found = (path for path in folder.rglob("*") if path.suffix in _ENDINGS and path.is_file())
    return sorted(path for path in found if not _hidden(path.relative_to(folder)))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
