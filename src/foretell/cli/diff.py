"""`foretell diff`: what changes between two renders, with no server and no database."""

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from foretell.cli.diff_output import DiffOutput, Shape, write_comparison
from foretell.cli.diff_sources import (
    STDIN,
    Side,
    read_revision,
    read_side,
)
from foretell.cli.ending import Ending
from foretell.domain.errors import InvalidRequest, NotFound
from foretell.formats.kubernetes import CompareOptions, Comparison, compare
from foretell.inventory.ignore import IgnoreRules
from foretell.kit.git import Checkouts
from foretell.kit.tree import WORKTREE
from foretell.settings import read_settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to compare: two `paths`, or one of them at `base` and `head`."""

    paths: tuple[str, ...]
    base: str = ""
    head: str = ""
    again: tuple[str, str] = ("", "")
    ignore: str = ""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diff")(diff)


def diff(  # noqa: PLR0913 - a command's options are its parameters
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="BEFORE AFTER",
            help="Files, folders, or - for standard input; a PATH alone with --base.",
        ),
    ],
    base: Annotated[str, typer.Option(help="Compare PATH with itself at this revision.")] = "",
    head: Annotated[
        str, typer.Option(help=f"With --base: the other revision; {WORKTREE} by default.")
    ] = "",
    output: Annotated[DiffOutput, typer.Option("--output", "-o")] = DiffOutput.TABLE,
    context: Annotated[int, typer.Option(min=0, help="Equal lines around each change.")] = 3,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Of objects that name none.")
    ] = "",
    live: Annotated[
        bool, typer.Option("--live", help="BEFORE comes from a cluster: leave out what it adds.")
    ] = False,
    mask_names: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB", help="Also mask values of ConfigMap keys and variables of this name."
        ),
    ] = None,
    ignore: Annotated[str, typer.Option(metavar="FILE", help="Rules for what is no change.")] = "",
    again_before: Annotated[
        str, typer.Option(metavar="PATH", help="BEFORE rendered once more, to find random fields.")
    ] = "",
    again_after: Annotated[
        str, typer.Option(metavar="PATH", help="AFTER rendered once more.")
    ] = "",
    full: Annotated[
        bool, typer.Option("--full", help="JSON with both sides of each change.")
    ] = False,
    line_numbers: Annotated[
        bool, typer.Option("--line-numbers", help="In side-by-side output.")
    ] = False,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 for changes or unknown.")
    ] = False,
) -> None:
    """Show which objects change between two renders.

    Renders are manifests of Kubernetes objects.
    Secret values are never shown. Nothing is hidden unless --ignore says so, and then it is
    counted. Exits 1 for an error or wrong usage; 2 for changes, or where nobody can say, only with
    --detailed-exitcode; 0 otherwise.

    Examples:

      foretell diff before.yaml after.yaml

      helm template web ./chart | foretell diff deployed.yaml - -o side-by-side

      foretell diff --base origin/main --head HEAD manifests/ -o markdown
    """
    wanted = Wanted(tuple(paths), base, head, (again_before, again_after), ignore)
    _check(wanted)
    options = CompareOptions(
        default_namespace=namespace,
        mask_names=tuple(mask_names or ()),
        live=live,
        context=context,
    )
    comparison, names = asyncio.run(_compared(wanted, options))
    write_comparison(comparison, names, Shape(output, context, full, line_numbers))
    differs = comparison.has_changes or comparison.incomparable > 0
    raise Ending(2 if detailed_exitcode and differs else 0)


def _check(wanted: Wanted) -> None:
    if wanted.head and not wanted.base:
        raise InvalidRequest("--head needs --base: name both revisions, or two paths")
    expected = 1 if wanted.base else 2
    if len(wanted.paths) != expected:
        raise InvalidRequest(
            f"expected {'one path with --base' if wanted.base else 'BEFORE and AFTER'}, found "
            f"{len(wanted.paths)} paths"
        )
    if [*wanted.paths, *wanted.again, wanted.ignore].count(STDIN) > 1:
        raise InvalidRequest("standard input (-) can be one side only; use files for the others")
    if wanted.base and STDIN in wanted.paths:
        raise InvalidRequest("standard input (-) has no revisions: name a file or a folder")


async def _compared(wanted: Wanted, options: CompareOptions) -> tuple[Comparison, tuple[str, str]]:
    before, after = await _sides(wanted)
    async with IgnoreRules() as rules:
        options = replace(
            options,
            ignore=await rules.read(wanted.ignore, _text(wanted.ignore)) if wanted.ignore else (),
        )
        # In a thread, because a rule with jq waits for this loop.
        comparison = await asyncio.to_thread(_compare, before, after, wanted.again, options)
        warnings = (*before.warnings, *after.warnings, *comparison.warnings, *rules.warnings)
    return replace(comparison, warnings=warnings), (before.name, after.name)


async def _sides(wanted: Wanted) -> tuple[Side, Side]:
    if not wanted.base:
        one, other = wanted.paths
        return read_side(one), read_side(other)
    # The path itself may be a link that belongs to the repository; what leads to it is followed.
    path = Path(os.path.abspath(wanted.paths[0]))
    path = path.parent.resolve() / path.name
    checkouts = Checkouts(read_settings().cache_dir / "checkouts")
    before = await read_revision(checkouts, path, wanted.base)
    after = await read_revision(checkouts, path, wanted.head or WORKTREE)
    if not before.parts and not after.parts:
        raise NotFound(f"{wanted.paths[0]} is in neither revision")
    return before, after


def _compare(
    before: Side, after: Side, again: tuple[str, str], options: CompareOptions
) -> Comparison:
    first, second = (read_side(path).texts if path else None for path in again)
    options = replace(options, current_again=first, proposed_again=second)
    return compare(before.texts, after.texts, options)


def _text(path: str) -> str:
    if path != STDIN and Path(path).is_dir():
        raise InvalidRequest(f"{path} is a folder; expected one file with ignore rules")
    (part,) = read_side(path).parts
    try:
        return part.content.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not UTF-8 text (byte {error.start})") from error
