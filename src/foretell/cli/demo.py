"""`foretell demo`: a real plan of a real chart, from nothing, on an embedded database."""

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.demo_repository import make_repository
from foretell.cli.ending import Ending
from foretell.cli.helm_wheel import helm_for_demo
from foretell.cli.local import LocalPlan, plan_locally
from foretell.cli.output import Output, write_reports
from foretell.cli.plan import worst_code
from foretell.cli.progress import shown_progress
from foretell.domain.summary import PlanReport
from foretell.settings import Settings, read_settings

_MEANINGS = {
    0: "0: no target changes",
    1: "1: something could not be planned",
    2: "2: there are changes to look at (what --detailed-exitcode is for)",
    3: "3: a mandatory rule said no",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    output: Annotated[Output, typer.Option("--output", "-o")] = Output.TABLE,
    keep: Annotated[
        Path | None, typer.Option(help="Write the example repository here and leave it.")
    ] = None,
) -> None:
    """Plan an example chart for nine targets, from nothing.

    Two revisions of a repository are compared, in three environments.
    Fetches helm into the cache where there is none. Exits 0 when the plan came about.

    Examples:

      foretell demo --keep /tmp/shop

      foretell plan --local -f /tmp/shop/inventory.yaml --base HEAD~1 --head HEAD
    """
    with tempfile.TemporaryDirectory(prefix="foretell-demo-") as folder:
        reports = asyncio.run(_plan(read_settings(), keep or Path(folder) / "shop"))
    write_reports(reports, output)
    code = worst_code(reports, detailed=True, allow_empty=False)
    if output is Output.TABLE:
        typer.echo(f"\nExit code of `foretell plan` here would be {_MEANINGS[code]}.")
    raise Ending(0 if code in (0, 2) else code)


async def _plan(settings: Settings, folder: Path) -> list[PlanReport]:
    helm = await helm_for_demo(settings.cache_dir)
    repository = await make_repository(folder)
    wanted = LocalPlan(repository.path / "inventory.yaml", repository.base, repository.head)
    with shown_progress() as progress:
        return await plan_locally(settings.model_copy(update={"helm": helm}), wanted, progress)
