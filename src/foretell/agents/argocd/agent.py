"""The Agent: a template -> an Application -> what Argo CD renders of it, beside the original's."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from foretell.agents.argocd.config import (
    DEFAULT_TIMEOUT,
    config_complaints,
    read_config,
)
from foretell.agents.argocd.opening import Opened, open_side, told_by
from foretell.agents.argocd.planning import Planner
from foretell.agents.argocd.render import Renderer, delete
from foretell.agents.argocd.server import Server, Servers
from foretell.agents.argocd.sides import SIDES, Question
from foretell.agents.argocd.sweep import sweep_server
from foretell.agents.argocd.work import Work
from foretell.domain.context import DispatchContext
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import InvocationId, JsonObject
from foretell.domain.result import Done, Leftovers, Outcome, Pending
from foretell.inventory.open_config import is_open
from foretell.inventory.wording import Complaint
from foretell.kit.redactor import Redactor
from foretell.ports import Agent, AgentTools

_WAIT_FOR = timedelta(seconds=2)
"""How long one call waits: most renders are faster, and a slow one holds no worker."""
_ASK_AGAIN_AFTER = timedelta(seconds=1)
_GRACE = timedelta(minutes=1)
_OPENED_AT_ONCE = 8
"""Configs that are read at once: the first targets render while those of the last are read."""
_SERVER_KEYS = ("serverUrl", "apiKey", "caFile", "concurrency", "timeout")


class ArgoCdAgent(Agent):
    """Renders by temporary Applications, and leaves none behind.

    Its settings: `argocdRendersPerSecond` (of each server, over all workers; 50),
    `argocdWithoutTemporary` (ask the original at another revision where only that differs).
    `transport` is for tests: an httpx transport instead of the network.
    """

    type = "argo-cd"
    timeout = timedelta(minutes=10)

    def __init__(
        self, tools: AgentTools, *, transport: Any = None, wait_for: timedelta = _WAIT_FOR
    ) -> None:
        self._tools = tools
        self._wait_for = wait_for
        self._servers = Servers(tools, transport)
        self._renderer = Renderer(tools.renders)
        self._planner = Planner(tools, self._renderer)
        self._work = Work[Done]()
        self._desk = asyncio.Semaphore(_OPENED_AT_ONCE)

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        """What is wrong with `config`; see `docs/agents/argo-cd.md`."""
        return config_complaints(config, partial=partial)

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """Waits a moment for the answer, which is worked on whether somebody waits or not."""
        asked_at = self._asked_at(state)
        done = await self._work.answer(
            context.invocation_id, lambda: self._answer(context, asked_at), wait_for=self._wait_for
        )
        if done is None:
            kept = {"askedAt": asked_at.isoformat()}
            return Pending(kept, _ASK_AGAIN_AFTER, "Argo CD has not rendered everything yet")
        return done

    async def abandon(self, context: DispatchContext, state: JsonObject | None) -> None:
        """Deletes what this invocation may have made; what is not there is no error."""
        self._renderer.drop(context.invocation_id)
        await self._work.stop(context.invocation_id)
        opened = await open_side(context.side, self._tools)
        with told_by(opened.redactor):
            server = self._servers.find(opened.config)
            question = self._question(context, opened, server, self._asked_at(state))
            for side in SIDES:
                name = question.temporary(opened.wanted.name, side)
                project = question.project(opened.wanted)
                await delete(server.client, name, project, opened.wanted.namespace)

    async def sweep(
        self, config: JsonObject, older_than: timedelta, live: frozenset[InvocationId]
    ) -> Leftovers:
        """The server of `config`; where that is a template, all that were asked since the start."""
        known = {key: config[key] for key in _SERVER_KEYS if key in config}
        if any(is_open(value) for value in known.values()) or "serverUrl" not in known:
            servers, timeout, secret = self._servers.all(), DEFAULT_TIMEOUT, ""
        else:
            read = read_config({**known, "template": "of no matter"})
            servers, timeout, secret = [self._servers.find(read)], read.timeout, read.api_key
        age = max(older_than, timeout + _GRACE)
        found = []
        with told_by(Redactor([secret] if secret else [])):
            for server in servers:
                now = self._tools.clock.now()
                found.append(
                    await sweep_server(
                        server.client, server.address, older_than=age, live=live, now=now
                    )
                )
        return Leftovers(
            sum(each.removed for each in found),
            tuple(name for each in found for name in each.stuck),
        )

    async def close(self) -> None:
        """Stops all work, deletes what it made, and closes every connection."""
        await self._work.close()
        await self._renderer.close()
        await self._servers.close()

    async def _answer(self, context: DispatchContext, asked_at: datetime) -> Done:
        async with self._desk:
            opened = await open_side(context.side, self._tools)
        with told_by(opened.redactor):
            server = self._servers.find(opened.config)
        question = self._question(context, opened, server, asked_at)
        left = opened.config.timeout - (self._tools.clock.now() - asked_at)
        try:
            async with asyncio.timeout(max(left, timedelta(0)).total_seconds()), server.room:
                return await self._planner.plan(context, opened, server, question)
        except TimeoutError:
            seconds = int(opened.config.timeout.total_seconds())
            raise AgentRejected(
                f"Argo CD did not render {opened.wanted.name} in {seconds} s", reason="timeout"
            ) from None

    def _question(
        self, context: DispatchContext, opened: Opened, server: Server, asked_at: datetime
    ) -> Question:
        return Question(
            context.plan_id,
            context.invocation_id,
            server.address,
            asked_at,
            plan_project=opened.config.plan_project or "",
            spares=bool(self._tools.settings.get("argocdWithoutTemporary")),
        )

    def _asked_at(self, state: JsonObject | None) -> datetime:
        """When this was asked first, in whatever process."""
        if state is None:
            return self._tools.clock.now()
        return datetime.fromisoformat(str(state["askedAt"]))
