"""The Agent: the config of a side -> a tree of files -> a plan of the program -> one answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from foretell.agents.terraform.answer import Answer, answer
from foretell.agents.terraform.config import (
    TerraformConfig,
    check_unrevealed,
    config_complaints,
    read_config,
)
from foretell.agents.terraform.environment import passed
from foretell.agents.terraform.plans import Plans
from foretell.agents.terraform.source import Repositories
from foretell.domain.context import DispatchContext, Side
from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import InvocationId, JsonObject
from foretell.domain.result import Done, Leftovers, Outcome, Phase
from foretell.formats.redact.redactor import Redactor as PlanRedactor
from foretell.formats.redact.redactor import Rules
from foretell.formats.tfplan.plan_key import plan_key
from foretell.inventory.reveal import reveal_side
from foretell.inventory.wording import Complaint
from foretell.kit.git import Checkouts, inside
from foretell.kit.redactor import Redactor
from foretell.kit.terraform.folder import Folder
from foretell.kit.terraform.program import PROGRAMS, Program, find_program
from foretell.kit.terraform.providers import Providers
from foretell.kit.terraform.room import Room
from foretell.kit.terraform.run import Planned, Runner
from foretell.ports import Agent, AgentTools, Clock
from foretell.settings import default_cache_dir

_UNUSED_FOR: Final = timedelta(days=14)
_NEW: Final = (
    "the configuration has no backend and no state lies beside it, so everything looks new: name "
    "the state with a backend block and backendConfig"
)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One side with all that it takes to plan it.

    `references`: the secret texts that the config's references stand for; `secrets`: those, and
    what of the environment is let through and may be secret.
    """

    config: TerraformConfig
    key: Key
    variables: dict[str, str] = field(repr=False)
    references: frozenset[str] = field(repr=False)
    secrets: frozenset[str] = field(repr=False)

    def hide(self, text: str) -> str:
        """`text` without secrets, and with what is too short to be one."""
        return PlanRedactor(Rules(secrets=tuple(sorted(self.secrets))), ()).text(text)


class TerraformAgent(Agent):
    """Plans against the state, which is the current side. What it leaves is in its own folders.

    Its settings: `terraform` (the program's path), `cacheDir`, `terraformRepositories` and
    `terraformEnv` (what a server may plan and pass on; None: anything, as on a person's own
    command line).
    """

    type = "terraform"
    timeout = timedelta(minutes=30)

    def __init__(self, tools: AgentTools) -> None:
        settings = tools.settings
        cache = Path(settings.get("cacheDir") or default_cache_dir())
        self._tools = tools
        self._program = str(settings.get("terraform") or "")
        self._allowed_env: Sequence[str] | None = settings.get("terraformEnv", ())
        allowed: Sequence[str] | None = settings.get("terraformRepositories", ())
        self._is_trusted = allowed is None
        self._repositories = Repositories(Checkouts(cache / "checkouts"), allowed, tools.renders)
        self._plans = Plans(cache / "terraform" / "plans")
        self._providers = Providers(cache / "terraform" / "providers")
        self._room = Room()

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        """What is wrong with `config`; see `docs/agents/terraform.md`."""
        return config_complaints(config, partial=partial)

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """One call is the whole answer: nobody else could go on with a half-made plan."""
        return await self._plans.run(context.invocation_id, self._done(context))

    async def _done(self, context: DispatchContext) -> Done:
        side, watch = context.side, _Stopwatch(self._tools.clock)
        with Redactor(()).errors():
            prepared = await self._prepare(context, side)
        with Redactor(prepared.references).errors():
            program = await self._found(prepared.config.binary)
            head = context.head.sha if context.head and context.proposed else ""
            tree = await self._repositories.tree(prepared.config, side, head)
            watch.lap("checkout")
            async with self._room.taken():
                watch.lap("queue")
                found = await self._planned(context, prepared, program, tree)
            watch.lap("plan")
        return Done((found.result,), found.message, tuple(watch.laps))

    async def abandon(self, context: DispatchContext, state: JsonObject | None) -> None:
        """Stops it where it runs on this machine, and removes what a worker that died left of it:
        there are secrets in that."""
        await self._plans.stop(context.invocation_id)

    async def sweep(
        self, config: JsonObject, older_than: timedelta, live: frozenset[InvocationId]
    ) -> Leftovers:
        """The folders of dead invocations on this machine, and providers that nobody uses."""
        removed = await asyncio.to_thread(self._plans.sweep, older_than, live)
        await asyncio.to_thread(self._providers.prune, _UNUSED_FOR.total_seconds())
        return Leftovers(removed)

    async def _prepare(self, context: DispatchContext, side: Side) -> _Prepared:
        check_unrevealed(side.agent_config)
        revealed = await reveal_side(side, self._tools)
        with Redactor(revealed.secrets).errors():
            config = read_config(revealed.value)
        env = passed(config.env, self._tools.secrets, self._allowed_env)
        key = plan_key(config.plan_key, self._tools.key, context)
        secrets = revealed.secrets | env.secrets
        return _Prepared(config, key, env.variables, revealed.secrets, secrets)

    async def _found(self, binary: str | None) -> Program:
        """Any path on a command line; on a server that of the settings, or a name on PATH."""
        wanted = binary or self._program
        if not self._is_trusted and wanted not in ("", self._program, *PROGRAMS):
            raise AgentRejected(
                f"binary {wanted} may not be run here: a server runs the program of the setting "
                f"terraform, or {' or '.join(PROGRAMS)} on its PATH"
            )
        return await self._tools.renders.once(
            f"terraform-program:{wanted}", lambda: find_program(wanted)
        )

    async def _planned(
        self, context: DispatchContext, prepared: _Prepared, program: Program, tree: Path
    ) -> Answer:
        config = prepared.config
        path = config.repository.path
        async with self._plans.folder(context.invocation_id, tree, path) as folder:
            var_files = [_var_file(folder, each) for each in config.var_files]
            runner = Runner(program, folder, config.timeout, prepared.variables, prepared.hide)
            planned = await self._run(runner, config, var_files, destroy=not context.proposed)
            found = await asyncio.to_thread(answer, planned, prepared.key, sorted(prepared.secrets))
            is_new = runner.has_no_state()
        return Answer(
            found.result, "; ".join(filter(None, [_NEW if is_new else "", found.message]))
        )

    async def _run(
        self, runner: Runner, config: TerraformConfig, var_files: Sequence[str], *, destroy: bool
    ) -> Planned:
        async with self._providers.for_init(runner.program, runner.folder) as providers:
            await runner.init(config.backend_config, providers)
        if config.workspace is not None:
            await runner.select(config.workspace)
        return await runner.plan(var_files, destroy=destroy)


def _var_file(folder: Folder, name: str) -> str:
    """Below the root module, or beside it in the same repository."""
    path = folder.module / name
    inside(folder.top / "tree", str(path.relative_to(folder.top / "tree")))
    if not path.is_file():
        raise AgentRejected(f"there is no variables file {name} in the folder of repository.path")
    return name


class _Stopwatch:
    """How long each part took."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.now()
        self.laps: list[Phase] = []

    def lap(self, name: str) -> None:
        """Ends the part called `name`."""
        now = self._clock.now()
        self.laps.append(Phase(name, (now - self._since).total_seconds()))
        self._since = now
