"""The agents that are installed, found by entry point; a broken one stops nobody else."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Self

import structlog

from foretell.kit.scrub import scrub
from foretell.ports import Agent, AgentTools

GROUP = "foretell.agents"
_log = structlog.get_logger()


class Registry:
    """The Agents port. An agent is made once, at the start, with the tools for its type."""

    def __init__(
        self,
        tools_for: Callable[[str], AgentTools],
        installed: Iterable[EntryPoint] | None = None,
    ) -> None:
        self._agents: dict[str, Agent] = {}
        self._problems: dict[str, str] = {}
        points = entry_points(group=GROUP) if installed is None else installed
        for point in sorted(points, key=lambda each: (each.name, each.value)):
            self._add(point, tools_for)

    def find(self, type: str) -> Agent | None:
        """The agent for a job agent's `type`, or None: its targets are unsupported."""
        return self._agents.get(type)

    def types(self) -> Sequence[str]:
        """The types that can be planned, in order."""
        return sorted(self._agents)

    def problems(self) -> Mapping[str, str]:
        """Entry points that could not be loaded, and why."""
        return dict(self._problems)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes every agent; one that can't keeps no other from it."""
        agents = list(self._agents.items())
        found = await asyncio.gather(
            *(agent.close() for _, agent in agents), return_exceptions=True
        )
        for (type, _), error in zip(agents, found, strict=True):
            if error is not None:
                _log.warning("agent.not_closed", type=type, error=scrub(str(error)))

    def _add(self, point: EntryPoint, tools_for: Callable[[str], AgentTools]) -> None:
        if point.name in self._agents:
            self._problems[f"{point.name} = {point.value}"] = (
                f"another plug-in has the type {point.name!r} already; uninstall one of them"
            )
            return
        try:
            self._agents[point.name] = _made(point, tools_for)
        except Exception as error:  # a plug-in may raise anything, and stops nobody else
            said = scrub(str(error)) or "no message"
            self._problems[f"{point.name} = {point.value}"] = f"{type(error).__name__}: {said}"


def _made(point: EntryPoint, tools_for: Callable[[str], AgentTools]) -> Agent:
    made = point.load()(tools_for(point.name))
    if not isinstance(made, Agent):
        raise TypeError(f"{point.value} is no foretell.ports.Agent")
    if made.type != point.name:
        raise TypeError(f"its type is {made.type!r}, its entry point {point.name!r}: make them one")
    return made
