"""What a test of an agent needs: its tools, and questions to ask it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from foretell.domain.context import AgentRef, DispatchContext, Side, Source, Version
from foretell.domain.plan import AgentId, InvocationId, JsonObject, PlanId, WorkspaceId
from foretell.inventory.secrets import References
from foretell.inventory.template import Templates
from foretell.kit.clock import SystemClock
from foretell.kit.renders import SharedRenders
from foretell.ports import AgentTools
from foretell.testing.budget import FreeBudget


@asynccontextmanager
async def agent_tools(
    settings: JsonObject | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    secret_roots: list[Path] | None = None,
) -> AsyncIterator[AgentTools]:
    """The tools as a worker makes them; references resolve in `environ` alone."""
    async with Templates(size=1) as templates:
        yield AgentTools(
            clock=SystemClock(),
            secrets=References(environ or {}, secret_roots),
            templates=templates,
            renders=SharedRenders(),
            budget=FreeBudget(),
            key=b"a key of this test installation, 40 bytes",
            settings=settings or {},
        )


def a_side(
    config: JsonObject,
    *,
    tag: str = "v1",
    variables: JsonObject | None = None,
    resource: JsonObject | None = None,
    source: Source | None = None,
    version_config: JsonObject | None = None,
) -> Side:
    """One side of a target called production/eu-1 of the deployment `web`."""
    described: dict[str, Any] = {"id": "r-1", "identifier": "eu-1", "name": "eu-1", "kind": ""}
    return Side(
        version=Version(tag, config=version_config or {}),
        agent_config=config,
        variables=variables or {},
        deployment={"id": "d-1", "slug": "web", "name": "Web", "metadata": {}},
        environment={"id": "e-1", "name": "production", "metadata": {}},
        resource={**described, "config": {}, "metadata": {}, **(resource or {})},
        source=source,
    )


def a_context(
    agent_type: str, *, current: Side | None, proposed: Side | None, plan: str = "p-1"
) -> DispatchContext:
    """A question of plan `plan`; of two plans nothing is remembered from one to the other."""
    return DispatchContext(
        invocation_id=InvocationId("i-1"),
        plan_id=PlanId(plan),
        workspace_id=WorkspaceId("w-1"),
        agent=AgentRef(AgentId("a-1"), "agent", agent_type),
        current=current,
        proposed=proposed,
    )
