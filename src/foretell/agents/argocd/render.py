"""One render on the server: asked of an Application that is there, or of one made for it."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, assert_never

import structlog
from prometheus_client import Counter as Metric

from foretell.agents.argocd.asked import By, OfExisting, OfTemporary, manifests
from foretell.agents.argocd.client import ArgoCD
from foretell.agents.argocd.manifests import Rendered, as_original, as_rendered
from foretell.agents.argocd.server import Server
from foretell.domain.errors import AgentUnavailable, ForetellError, NotFound
from foretell.domain.plan import InvocationId
from foretell.ports import Renders

RENDERS = Metric("foretell_argocd_renders", "Renders asked of Argo CD, by Application", ["of"])
_DELETE_FOR = timedelta(seconds=20)
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ask:
    """Renders with the same `inputs` are the same, but where they are `named`: then only those of
    the same Application. `expected`: the commit, where known."""

    inputs: str
    by: By
    expected: str = ""
    named: bool = False

    @property
    def key(self) -> str:
        """What is rendered once for all who ask."""
        return f"{self.inputs} {self.by.name}" if self.named else self.inputs


class Renderer:
    """Renders each input once, whoever asks, and leaves no temporary Application behind."""

    def __init__(self, renders: Renders) -> None:
        self._renders = renders
        self._running: set[asyncio.Task[Any]] = set()
        self._owners: Counter[InvocationId] = Counter()
        self._dropped: set[InvocationId] = set()

    async def render(self, server: Server, ask: Ask) -> Rendered:
        """Goes on after the caller was cancelled: others may wait for the same."""
        return await self._renders.once(ask.key, lambda: self._make(server, ask))

    def drop(self, invocation_id: InvocationId) -> None:
        """What this invocation began is not wanted any more: others begin it again, if they do."""
        if self._owners[invocation_id]:
            self._dropped.add(invocation_id)

    async def close(self) -> None:
        """Stops all renders, and waits until their Applications are deleted."""
        while running := list(self._running):
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _make(self, server: Server, ask: Ask) -> Rendered:
        match ask.by:
            case OfExisting() as by:
                with self.listed():
                    RENDERS.labels(of="original").inc()
                    return as_rendered(await manifests(server.client, by, ask.expected))
            case OfTemporary() as by:
                with self.listed(by.invocation_id):
                    return await self._temporary(server.client, by, ask.expected)
            case _:
                assert_never(ask.by)

    async def _temporary(self, client: ArgoCD, by: OfTemporary, expected: str) -> Rendered:
        try:
            await client.create(by.document)
            self._check_wanted(by)
            RENDERS.labels(of="temporary").inc()
            found = await manifests(client, by, expected)
        except NotFound as error:
            # Who was asked to abandon it, or a sweep, was faster.
            raise AgentUnavailable(f"the temporary Application {by.name} was deleted") from error
        finally:
            await delete(client, by.name, by.project, by.namespace)
        return as_original(found, by.name, by.original, by.namespace)

    def _check_wanted(self, by: OfTemporary) -> None:
        if by.invocation_id in self._dropped:
            raise AgentUnavailable(f"the render of {by.original} was given up by who began it")

    @contextmanager
    def listed(self, owner: InvocationId | None = None) -> Iterator[None]:
        """The running task is stopped by `close`, which waits for it."""
        task = asyncio.current_task()
        assert task is not None  # nothing runs outside of one
        self._running.add(task)
        if owner is not None:
            self._owners[owner] += 1
        try:
            yield
        finally:
            self._running.discard(task)
            if owner is not None:
                self._released(owner)

    def _released(self, owner: InvocationId) -> None:
        self._owners[owner] -= 1
        if not self._owners[owner]:
            del self._owners[owner]
            self._dropped.discard(owner)


async def delete(client: ArgoCD, name: str, project: str, namespace: str) -> None:
    """Never in the way of an answer that is there: what can't be deleted is left to the sweep."""
    try:
        async with asyncio.timeout(_DELETE_FOR.total_seconds()):
            await client.delete(name, project=project, namespace=namespace)
    except (ForetellError, TimeoutError) as error:
        _log.warning("argocd.not_deleted", application=name, error=str(error) or "timeout")
