"""The Agent: a speculative run of one's own in a workspace that is never written to."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from foretell.agents.terraform_cloud.answer import Secrets
from foretell.agents.terraform_cloud.attempts import Attempts
from foretell.agents.terraform_cloud.client import Client, open_http
from foretell.agents.terraform_cloud.config import (
    Access,
    check_unrevealed,
    config_complaints,
    read_access,
    read_config,
)
from foretell.agents.terraform_cloud.following import Following
from foretell.agents.terraform_cloud.making import Making
from foretell.agents.terraform_cloud.outside import Outside
from foretell.agents.terraform_cloud.pace import Pace
from foretell.agents.terraform_cloud.progress import read_progress
from foretell.agents.terraform_cloud.question import Question
from foretell.agents.terraform_cloud.run import MARK, RunView, owner
from foretell.agents.terraform_cloud.source import Sources
from foretell.agents.terraform_cloud.stop import stop
from foretell.domain.context import DispatchContext, Side
from foretell.domain.digest import digest, keyed_digest
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import InvocationId, JsonObject
from foretell.domain.result import Leftovers, Outcome, Unsupported
from foretell.formats.tfplan.plan_key import plan_key
from foretell.inventory.reveal import reveal_side
from foretell.inventory.wording import Complaint
from foretell.kit.git import Checkouts
from foretell.kit.redactor import Redactor
from foretell.ports import Agent, AgentTools, Revealed
from foretell.settings import default_cache_dir

HOSTS: Final = ("app.terraform.io", "app.eu.terraform.io")
"""Where a token may be sent without anybody's leave: HCP Terraform's own hosts."""
SWEEP_EVERY: Final = timedelta(minutes=1)
_MOST_CLIENTS: Final = 64
REMOVED: Final = (
    "the target is being removed: what becomes of its Terraform state is not for a plan to say"
)


class TerraformCloudAgent(Agent):
    """Plans in HCP Terraform, Terraform Enterprise and what speaks their API.

    Its settings: `cacheDir`; `terraformRepositories`, URLs and folders that may be planned, and
    `terraformCloudHosts`, hosts that a token may be sent to (None: any).
    """

    type = "terraform-cloud"
    timeout = timedelta(minutes=30)
    opt_in = True

    def __init__(self, tools: AgentTools, transport: Any = None) -> None:
        self._tools = tools
        self._transport = transport
        self._outside = Outside(transport)
        self._attempts = Attempts()
        self._swept_at: dict[str, datetime] = {}
        self._clients: OrderedDict[str, Client] = OrderedDict()
        cache = Path(tools.settings.get("cacheDir") or default_cache_dir())
        self._sources = Sources(
            Checkouts(cache / "checkouts"), tools.settings.get("terraformRepositories", ())
        )

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        """What is wrong with `config`; see `docs/agents/terraform-cloud.md`."""
        return config_complaints(config, partial=partial)

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """One step: make the run, look at it once, or read what it came to."""
        side = context.proposed
        if side is None:
            return Unsupported(REMOVED)
        revealed = await self._revealed(side)
        with Redactor(revealed.secrets).errors():
            asked, progress = self._question(context, side, revealed), read_progress(state)
            if progress.run:
                return await Following(asked).step(progress)
            return await Making(asked).step(progress)

    async def abandon(self, context: DispatchContext, state: JsonObject | None) -> None:
        """Ends the run, also one whose making nobody lived to tell of."""
        progress = read_progress(state)
        side = context.proposed
        if side is None or not (state or self._attempts.began(context.invocation_id)):
            return
        revealed = await self._revealed(side)
        with Redactor(revealed.secrets).errors():
            asked = self._question(context, side, revealed)
            run = progress.run or await Making(asked).lost_run(progress)
            if run:
                await stop(asked.client, run)

    async def sweep(
        self, config: JsonObject, older_than: timedelta, live: frozenset[InvocationId]
    ) -> Leftovers:
        """Ends the open runs of the organization that name an invocation which is not alive."""
        access = read_access(self._tools.secrets.reveal(dict(config)).value)
        if not self._may_sweep(access):
            return Leftovers()
        removed, stuck = 0, []
        with Redactor([access.token]).errors():
            client = self._client(access.address, access.token)
            before = self._tools.clock.now() - older_than
            path = f"organizations/{access.organization}"
            dead = [
                run
                async for run in client.runs(path, MARK, only_open=True)
                if _is_dead(run, live, before)
            ]
            for run in dead:
                if await stop(client, run.id):
                    removed += 1
                else:
                    stuck.append(run.id)
        return Leftovers(removed, tuple(stuck))

    def _may_sweep(self, access: Access) -> bool:
        """The list may be asked 30 times a minute, by everybody: once in a while is enough."""
        now = self._tools.clock.now()
        name = digest("tfc-sweep", access.address, access.organization, access.token)
        last = self._swept_at.get(name)
        if last is not None and now - last < SWEEP_EVERY:
            return False
        self._swept_at[name] = now
        return True

    async def _revealed(self, side: Side) -> Revealed:
        with Redactor(()).errors():
            check_unrevealed(side.agent_config)
            return await reveal_side(side, self._tools)

    def _question(self, context: DispatchContext, side: Side, revealed: Revealed) -> Question:
        config = read_config(revealed.value)
        return Question(
            client=self._client(config.address, config.token),
            config=config,
            context=context,
            side=side,
            secrets=Secrets(revealed.secrets, plan_key(config.plan_key, self._tools.key, context)),
            sources=self._sources,
            clock=self._tools.clock,
            attempts=self._attempts,
        )

    def _client(self, address: str, token: str) -> Client:
        """One for each address and token, kept: the connections and the known rate are its."""
        host = urlsplit(address).netloc
        self._check_host(host)
        name = digest("tfc-client", address, token)
        client = self._clients.pop(name, None)
        if client is None:
            http = open_http(address, token, self._transport)
            token_id = keyed_digest("token", self._tools.key, token).partition(":")[2][:16]
            pace = Pace(self._tools.budget, host, token_id)
            client = Client(http, pace, self._outside, address)
        self._clients[name] = client
        if len(self._clients) > _MOST_CLIENTS:
            self._clients.popitem(last=False)
        return client

    def _check_host(self, host: str) -> None:
        allowed = self._tools.settings.get("terraformCloudHosts", HOSTS)
        if allowed is not None and host not in allowed:
            raise AgentRejected(
                f"the token may not be sent to {host}: allowed are {', '.join(allowed)}; whoever "
                "runs the server can add a host with the setting terraform_cloud_hosts"
            )


class TfeAgent(TerraformCloudAgent):
    """The same under the name that other tools use; a type is found by its own entry point."""

    type = "tfe"


def _is_dead(run: RunView, live: frozenset[InvocationId], before: datetime) -> bool:
    named = owner(run.message)
    if named is None or InvocationId(named) in live or run.ended:
        return False
    try:
        return datetime.fromisoformat(run.created_at) <= before
    except (ValueError, TypeError):  # without an age, or without an offset: not known to be old
        return False
