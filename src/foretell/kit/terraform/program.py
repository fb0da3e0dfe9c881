"""Which terraform or tofu is run, and whether it can be used."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from foretell.domain.errors import AgentRejected
from foretell.kit.process import Limits, ProgramStopped, run
from foretell.kit.scrub import tail

PROGRAMS: Final = ("terraform", "tofu")
"""In the order in which they are looked for on PATH."""
QUIET: Final[Mapping[str, str]] = {
    "TF_IN_AUTOMATION": "1",
    "CHECKPOINT_DISABLE": "1",
    "TF_INPUT": "0",
}
"""What every run is told: no hints for a person, no call home, no questions."""

_OLDEST: Final = (1, 0)
_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.\S+")


@dataclass(frozen=True, slots=True)
class Program:
    """`name` is terraform or tofu; `version` as it says itself."""

    path: Path
    name: str
    version: str


async def find_program(wanted: str) -> Program:
    """The program at the path `wanted`, or of that name on PATH; "" takes what PATH has.

    Raises AgentRejected in one line where there is none, or it is older than 1.0.
    """
    names = (wanted,) if wanted else PROGRAMS
    for name in names:
        if found := shutil.which(name):
            return await _checked(Path(found))
    raise AgentRejected(
        f"there is no {' or '.join(names)} program where the plan runs: install one, put it on "
        "PATH, or name it in FORETELL_TERRAFORM"
    )


async def _checked(path: Path) -> Program:
    limits = Limits(timedelta(seconds=30), 1024**3, 65_536, network=True)
    try:
        done = await run([str(path), "version", "-json"], limits=limits, env=QUIET)
    except ProgramStopped as error:
        raise AgentRejected(f"{path} can't be used: {error.message}") from error
    version = _version(done.stdout)
    numbers = _VERSION.fullmatch(version)
    if done.returncode != 0 or numbers is None:
        raise AgentRejected(
            f"{path} is no terraform or tofu that can be used: {tail(done.stderr, 300)}"
        )
    if (int(numbers[1]), int(numbers[2])) < _OLDEST:
        raise AgentRejected(f"{path} is {version}; 1.0 or newer is needed")
    return Program(path, "tofu" if "tofu" in path.name else "terraform", version)


def _version(said: bytes) -> str:
    """Both programs call it `terraform_version`."""
    try:
        told = json.loads(said)
    except ValueError:
        return ""
    return str(told.get("terraform_version", "")) if isinstance(told, dict) else ""
