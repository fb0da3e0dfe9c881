"""`foretell tfplan`: Terraform and OpenTofu plans shown, named and compared, without a server."""

import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import orjson
import typer

from foretell.cli.ending import Ending
from foretell.cli.tfplan_source import read_file, read_plan
from foretell.domain.errors import InvalidRequest
from foretell.formats.exact_json import loads
from foretell.formats.redact.redactor import Rules
from foretell.formats.tfplan.compare import compare
from foretell.formats.tfplan.hash import KEY_BYTES, plan_hash
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.redacted import redact
from foretell.formats.tfplan.summary import summary
from foretell.formats.tfplan.text.markup import html, markdown
from foretell.formats.tfplan.text.page import page
from foretell.formats.tfplan.verdict import Verdict, Word, judge

FAILED: Final = 1
DIFFERENT: Final = 2

app = typer.Typer(
    help="Show, name and compare Terraform and OpenTofu plans. Secrets never leave.",
    no_args_is_help=True,
)


class Comparison(StrEnum):
    """How a comparison is written."""

    TEXT = "text"
    JSON = "json"


class Output(StrEnum):
    """How a plan is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


Source = Annotated[
    str, typer.Argument(metavar="PLAN", help="A plan file, the JSON of `show -json`, or - for it.")
]
Program = Annotated[
    str,
    typer.Option(help="terraform or tofu, to read a binary plan file; the one on PATH by default."),
]
Masked = Annotated[
    list[str], typer.Option("--mask-env", help="Hide the value of this environment variable.")
]
Patterns = Annotated[
    list[str], typer.Option("--mask", help="Hide what this regular expression matches.")
]
Paths = Annotated[
    list[str], typer.Option("--hide", help="Hide an attribute: TYPE.attribute.*.member")
]
Schemas = Annotated[
    Path | None,
    typer.Option(help="The output of `providers schema -json`: hide what it calls sensitive."),
]


@app.command("show")
def show(  # noqa: PLR0913 - a command's options are its parameters
    plan: Source,
    output: Annotated[Output, typer.Option("--output", "-o")] = Output.TEXT,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 for changes or unknown.")
    ] = False,
    program: Program = "",
    mask_env: Masked = [],  # noqa: B006 - typer's way to say "none given"
    mask: Patterns = [],  # noqa: B006
    hide: Paths = [],  # noqa: B006
    schemas: Schemas = None,
) -> None:
    """Show what a plan does, without its secrets.

    A diff, destructive changes first, counts and the verdict.

    Exits 1 for a plan that failed or can't be read; 2 for changes or unknown, only with
    --detailed-exitcode; 0 otherwise.

    Examples:

      terraform show -json plan.bin | foretell tfplan show -

      foretell tfplan show plan.json --output markdown --mask-env DB_PASSWORD
    """
    rules = Rules(
        secrets=tuple(_from_environment(mask_env)),
        patterns=tuple(mask),
        paths=tuple(hide),
        schemas=loads(read_file(schemas, "schema file"), what=str(schemas)) if schemas else None,
    )
    found = read_plan(plan, program)
    verdict = judge(found)
    _write(_written(redact(found, rules, for_rules=False), verdict, output))
    raise Ending(_code(verdict, detailed=detailed_exitcode))


def _from_environment(names: list[str]) -> Iterator[str]:
    for name in names:
        if value := os.environ.get(name):
            yield value
        else:
            typer.echo(f"warning: {name} is not set, nothing is hidden for it", err=True)


def _written(plan: Plan, verdict: Verdict, output: Output) -> str:
    match output:
        case Output.TEXT:
            return f"{page(plan, verdict)}\nVerdict: {verdict.word}\n"
        case Output.MARKDOWN:
            return markdown(plan, verdict)
        case Output.HTML:
            return html(plan, verdict)
        case Output.JSON:
            return orjson.dumps(summary(plan, verdict), option=orjson.OPT_INDENT_2).decode() + "\n"


def _code(verdict: Verdict, *, detailed: bool) -> int:
    if verdict.word in (Word.ERRORED, Word.CANCELLED):
        return FAILED
    return DIFFERENT if detailed and verdict.has_changes is not False else 0


@app.command("hash")
def hash_(
    plan: Source,
    key_file: Annotated[
        Path, typer.Option(help=f"A file of at least {KEY_BYTES} random bytes, used as they are.")
    ],
    program: Program = "",
) -> None:
    """Print the keyed name of what a plan does.

    It is `p2:` and 64 hex digits, and nothing else is printed.

    The same change planned twice has one name; any other value, secret ones too, has another.

    Example:  foretell tfplan hash plan.json --key-file plan.key
    """
    _write(plan_hash(read_plan(plan, program), read_file(key_file, "key file")) + "\n")


@app.command("compare")
def compare_(
    first: Annotated[str, typer.Argument(metavar="A", help="The plan that was reviewed.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The plan to hold against it.")],
    output: Annotated[Comparison, typer.Option("--output", "-o")] = Comparison.TEXT,
    program: Program = "",
) -> None:
    """Say whether B does exactly what A does.

    Where it does not: addresses and paths, no values.

    Exits 0 if it does, 2 if not, 1 for an error.

    Example:  foretell tfplan compare reviewed.json fresh.json
    """
    if first == second == "-":
        raise InvalidRequest("only one of the two plans can come from standard input")
    differences = compare(read_plan(first, program), read_plan(second, program))
    if output is Comparison.JSON:
        rows = [{"address": d.address, "what": d.what, "paths": d.paths} for d in differences]
        _write(orjson.dumps({"same": not rows, "differences": rows}).decode() + "\n")
    else:
        lines = [str(difference) for difference in differences]
        _write("\n".join(lines or ["The second plan does exactly what the first does."]) + "\n")
    raise Ending(DIFFERENT if differences else 0)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
