"""Which rule engine this machine has.

The opa program where it is configured, else the embedded engine, else an opa that lies on PATH:
what a rule means must not change because somebody installed a program.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from foretell.domain.errors import InvalidRequest
from foretell.policy.absent import NoEngine
from foretell.policy.opa import Opa
from foretell.policy.regorus import Regorus, is_installed
from foretell.policy.workbench import Workbench
from foretell.ports import Validator


@asynccontextmanager
async def rule_workbench(opa: Path | None) -> AsyncIterator[Workbench]:
    """The engine for the author of rules. Raises InvalidRequest where there is none."""
    async with rule_engine(opa) as engine:
        if not isinstance(engine, Regorus | Opa):
            raise InvalidRequest(
                "no rule engine is installed: install foretell[rego], or the opa program"
            )
        yield engine


@asynccontextmanager
async def rule_engine(opa: Path | None) -> AsyncIterator[Validator]:
    """The engine, for one event loop; `opa` is the configured program. Nothing is started yet."""
    if opa is not None:
        async with Opa(opa) as program:
            yield program
    elif is_installed():
        async with Regorus() as engine:
            yield engine
    elif found := shutil.which("opa"):
        async with Opa(Path(found)) as program:
            yield program
    else:
        yield NoEngine()
