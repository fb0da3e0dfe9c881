"""The servers that this process talks to: one client for each token, one limit for each server."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from foretell.agents.argocd.client import ArgoCD, connect
from foretell.agents.argocd.config import ArgoCdConfig
from foretell.agents.argocd.gate import Gate
from foretell.agents.argocd.wire import Pace
from foretell.ports import AgentTools, Budget

RENDERS_PER_SECOND = 50.0
"""Over all workers and for each server, unless the setting `argocdRendersPerSecond` says else."""


@dataclass(frozen=True, slots=True)
class Server:
    """`room` bounds how many targets are planned at once, so that the first render while the last
    are still looked up; a little over what the gate lets through, so that the next are ready when
    renders end."""

    address: str
    client: ArgoCD
    room: asyncio.Semaphore = field(repr=False)


class Servers:
    """Clients are kept: connections are, and what was learned of how much a server takes."""

    def __init__(self, tools: AgentTools, transport: Any = None) -> None:
        self._tools = tools
        self._transport = transport
        self._limits: dict[str, tuple[Gate, asyncio.Semaphore]] = {}
        self._found: dict[tuple[str, str, str], Server] = {}

    def find(self, config: ArgoCdConfig) -> Server:
        """Raises InvalidRequest for a CA file that is none."""
        address, ca_file = config.server_url.rstrip("/"), config.ca_file or ""
        key = (address, config.api_key, ca_file)
        server = self._found.get(key)
        if server is None:
            gate, room = self._limit(address, config.concurrency)
            client = connect(
                address,
                config.api_key,
                ca_file=ca_file,
                gate=gate,
                transport=self._transport,
                pace=self._pace(address, config.concurrency),
            )
            server = self._found[key] = Server(address, client, room)
        return server

    def all(self) -> list[Server]:
        """Every server that was asked since the start, with each token."""
        return list(self._found.values())

    async def close(self) -> None:
        """Close every connection."""
        for server in self._found.values():
            await server.client.close()
        self._found.clear()

    def _limit(self, address: str, concurrency: int) -> tuple[Gate, asyncio.Semaphore]:
        if address not in self._limits:
            room = asyncio.Semaphore(concurrency + max(1, concurrency // 4))
            self._limits[address] = (Gate(concurrency), room)
        return self._limits[address]

    def _pace(self, address: str, burst: int) -> Pace:
        per_second = float(self._tools.settings.get("argocdRendersPerSecond", RENDERS_PER_SECOND))
        return _Shared(self._tools.budget, f"argocd {urlsplit(address).netloc}", per_second, burst)


@dataclass(frozen=True, slots=True)
class _Shared(Pace):
    """The pace that all workers keep together, by the store."""

    budget: Budget
    name: str
    per_second: float
    burst: int

    async def take(self) -> None:
        await self.budget.take(self.name, per_second=self.per_second, burst=self.burst)

    async def hold(self, wait_for: timedelta) -> None:
        await self.budget.hold(self.name, wait_for)
