"""The program: its commands, and how any of them ends."""

import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from foretell.cli import (
    agents,
    demo,
    diff,
    inventory,
    migrate,
    plan,
    policy,
    policy_eval,
    policy_plan,
    serve,
    show,
    tfplan,
    token,
    worker,
)
from foretell.cli.ending import Ending
from foretell.domain.errors import ForetellError

FAILED = 1
WRONG_USAGE = 2

app = typer.Typer(
    name="foretell",
    help="Show what a deployment will change before it does, on every target it would reach.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (demo, diff, plan, show, serve, worker, migrate, agents):
    command.register(app)
policy_eval.register(policy.app)
policy_plan.register(policy.app)
app.add_typer(inventory.app, name="inventory")
app.add_typer(policy.app, name="policy")
app.add_typer(tfplan.app, name="tfplan")
app.add_typer(token.app, name="token")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"foretell {version('foretell')}")
        raise typer.Exit


@app.callback()
def top(
    shown: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_say_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Show what a deployment will change before it does, on every target it would reach."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0, 1 for any error or wrong usage, 2 and 3 as `foretell plan`."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one command line; errors are told on standard error."""
    try:
        app(args=arguments)
    except Ending as ending:
        return ending.code
    except SystemExit as ended:
        return _code(ended)
    except ForetellError as error:
        typer.echo(_shown(error), err=True)
        return FAILED
    except BrokenPipeError:
        # Whoever read us went away (`| head`); Python would complain once more at exit.
        sys.stderr.close()
        return FAILED
    return 0


def _shown(error: ForetellError) -> str:
    """Line by line: a message quotes names of files and the words of others."""
    from foretell.cli.output import visible  # brings the terminal library; most calls end well

    return "\n".join(visible(line) for line in f"foretell: {error}".split("\n"))


def _code(ended: SystemExit) -> int:
    """The library ends wrong usage with 2, which means changes here."""
    return FAILED if ended.code == WRONG_USAGE else int(ended.code or 0)
