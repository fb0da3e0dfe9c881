"""Who plans, and what an agent is made with."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, TypeVar

from foretell.domain.context import DispatchContext
from foretell.domain.plan import (
    InvocationId,
    JsonObject,
)
from foretell.domain.result import (
    Leftovers,
    Outcome,
)
from foretell.ports.budget import Budget
from foretell.ports.clock import Clock

T = TypeVar("T")


class Agent(ABC):
    """Somebody who can say what a deployment would change on one target.

    An implementation is found by entry point (`foretell.agents`), made with `AgentTools`, and
    passes `foretell.testing.contracts.AgentContract`: it ends in bounded calls; the same context
    gives the same `Done` (no temporary name or time leaks); kinds are unique, non-empty and not
    reserved; any earlier `Pending.state` may be replayed; only `AgentUnavailable` and
    `AgentRejected` escape; no secret of the config is in results, messages or state.
    """

    type: str
    timeout: timedelta = timedelta(minutes=10)
    opt_in: bool = False
    """Only for deployments with `plan.enabled: true`, as where each plan costs somebody money."""

    @abstractmethod
    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """One bounded step towards the answer; `state` is that of the last `Pending`, or None."""

    async def abandon(  # noqa: B027 (most agents leave nothing to abandon)
        self, context: DispatchContext, state: JsonObject | None
    ) -> None:
        """Stop and remove what this invocation left on the other side; twice is once."""

    async def sweep(
        self, config: JsonObject, older_than: timedelta, live: frozenset[InvocationId]
    ) -> Leftovers:
        """Remove what dead invocations left behind, never what belongs to a live one."""
        return Leftovers()

    async def close(self) -> None:  # noqa: B027 (most agents hold nothing)
        """The process ends: stop what runs, remove what it left on the other side, let go."""


class Agents(Protocol):
    """The agents that are installed; a broken plug-in is a problem to report, never fatal."""

    def find(self, type: str) -> Agent | None: ...

    def types(self) -> Sequence[str]: ...

    def problems(self) -> Mapping[str, str]:
        """Entry points that could not be loaded, and why."""


@dataclass(frozen=True, slots=True)
class Revealed:
    """A value with its references resolved, and the secret texts that are now inside it."""

    value: Any
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


class Secrets(Protocol):
    """References (`{env: NAME}`, `{file: PATH}`) to values, at the last moment."""

    def reveal(self, value: Any) -> Revealed:
        """`value` with every reference in it resolved; AgentRejected names a missing one."""


class Templates(Protocol):
    """Sandboxed templates, rendered in a child that can be killed."""

    async def render(self, value: Any, variables: JsonObject) -> Any:
        """`value` with every template in its strings rendered; AgentRejected names the string."""


class Renders(Protocol):
    """Same inputs once: callers with the same key share one call and its answer.

    Answers stay in memory of this process: they hold secrets that no store may see.
    """

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T: ...


@dataclass(frozen=True, slots=True)
class AgentTools:
    """What an agent is made with. `settings` is the agent's own section of the server's.

    `key` is the installation's, 32 bytes or more, to derive keys from (`domain.digest`).
    """

    clock: Clock
    secrets: Secrets
    templates: Templates
    renders: Renders
    budget: Budget
    key: bytes = field(repr=False)
    settings: JsonObject = field(default_factory=dict)
