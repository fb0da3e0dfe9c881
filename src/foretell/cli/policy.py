"""`foretell policy`: rules before they are saved, and their tests."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.ending import Ending
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import PlanRequest
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
from foretell.inventory.load import load
from foretell.inventory.matching import CelSelectors
from foretell.policy.choice import rule_workbench
from foretell.policy.suite import run_suite
from foretell.settings import read_settings

app = typer.Typer(help="Check rules, and run their tests.", no_args_is_help=True)

_ENDINGS = (".rego", ".yaml", ".yml", ".json")
_SHOWN = 5

Files = Annotated[
    list[Path], typer.Argument(help="Rules (.rego), inventory files, or folders of the latter.")
]
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
    texts = [path for path in files if path.suffix == ".rego"]
    inventories = [path for path in files if path.suffix != ".rego"]
    inventory = _inventory(inventories) if inventories else Inventory()
    rules = [Rule(str(path.parent), path.name, _text(path)) for path in texts]
    rules += _rules(inventory)
    asyncio.run(_check(rules))
    typer.echo("1 rule can be judged" if len(rules) == 1 else f"{len(rules)} rules can be judged")
    for policy in inventory.policies:
        typer.echo(_reach(policy, inventory))


async def _check(rules: Sequence[Rule]) -> None:
    async with rule_workbench(read_settings().opa) as engine:
        await engine.check(rules)


def _inventory(paths: list[Path]) -> Inventory:
    return load(paths).inventory


def _rules(inventory: Inventory) -> Iterator[Rule]:
    for policy in inventory.policies:
        for rule in policy.rules:
            yield Rule(policy.name, rule.name, rule.rego, rule.description, rule.mandatory)


def _reach(policy: Policy, inventory: Inventory) -> str:
    matches = CelSelectors().matches()
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
def run_tests(folder: Folder) -> None:
    """Run the tests of rules.

    They are `test_` rules in NAME_test.rego, and examples NAME.CASE.yaml.

    An example is a map of `input`, `deny` and `warn`, the messages that are expected. Exits 1
    where a test fails, or where there is none.

    Example:  foretell policy test policies/
    """
    files = {str(path.relative_to(folder)): _text(path) for path in _below(folder)}
    if not any(name.endswith(".rego") for name in files):
        raise InvalidRequest(f"there is no rule (.rego) in {folder}")
    tested, failed = asyncio.run(_run(files))
    typer.echo(f"{tested - failed} of {tested} passed")
    if failed:
        raise Ending(1)


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


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{path} can't be read: {error}") from error
