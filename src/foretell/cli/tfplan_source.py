"""Where a plan comes from: JSON in a file or on standard input, or a binary plan file."""

import asyncio
import os
import shutil
import sys
from datetime import timedelta
from pathlib import Path
from typing import Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.parse import BINARY_PLAN, parse
from foretell.formats.tfplan.plan import Plan
from foretell.kit.process import Completed, Limits, run
from foretell.kit.scrub import scrub

PROGRAMS: Final = ("terraform", "tofu")
_LIMITS: Final = Limits(
    wall=timedelta(minutes=5), memory_bytes=4 * 2**30, output_bytes=512 * 2**20, network=True
)
_ENVIRONMENT: Final = (
    *("HOME", "TMPDIR", "TF_DATA_DIR", "TF_CLI_CONFIG_FILE", "TF_PLUGIN_CACHE_DIR"),
    *("TF_WORKSPACE", "TF_ENCRYPTION"),
)
_SAID: Final = 1000


def read_plan(source: str, program: str = "") -> Plan:
    """The plan of a file, or of standard input for "-".

    A binary plan file is read with `program`, else with whichever of terraform and tofu is on PATH
    and can; it needs the folder it was made in as the current one, initialised. `InvalidRequest`
    says what could not be read.
    """
    content = sys.stdin.buffer.read() if source == "-" else read_file(Path(source), "plan")
    if not content.startswith(BINARY_PLAN):
        return _parsed(content, "standard input" if source == "-" else source)
    if source == "-":
        raise InvalidRequest("a binary plan can't come from standard input: give its file's name")
    return parse(_shown(Path(source), program))


def _parsed(content: bytes, name: str) -> Plan:
    try:
        return parse(content)
    except InvalidRequest as error:
        raise InvalidRequest(f"{name}: {error}") from None


def read_file(path: Path, what: str) -> bytes:
    """The file's bytes; `InvalidRequest` names it and says why not."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"the {what} {path} can't be read: {error.strerror}") from None


def _shown(path: Path, program: str) -> bytes:
    programs = [program] if program else [name for name in PROGRAMS if shutil.which(name)]
    if not programs:
        raise InvalidRequest(
            f"{path} is a binary plan file, and neither terraform nor tofu is on PATH: name one "
            "with --program, or give the output of `show -json`"
        )
    said = []
    for name in programs:
        done = asyncio.run(_show(path, name))
        if done.returncode == 0:
            return done.stdout
        said.append(f"{name} show -json failed ({done.returncode}): {_message(done)}")
    raise InvalidRequest(f"{path} can't be read; " + "; ".join(said))


async def _show(path: Path, program: str) -> Completed:
    """Warnings go to the other stream; joined with the JSON they would spoil it."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    argv = [program, "show", "-no-color", "-json", str(path.absolute())]
    return await run(argv, limits=_LIMITS, env={**environment, "TF_IN_AUTOMATION": "1"})


def _message(done: Completed) -> str:
    text = scrub(done.stderr.decode(errors="replace")).strip()
    return text[:_SAID] or "it said nothing"
