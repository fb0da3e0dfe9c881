"""The one place where ports meet adapters."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from foretell.agents.registry import Registry
from foretell.api.app import create_app
from foretell.api.server import listening
from foretell.engine.submit import PlanLimits
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.inventory.secrets import References
from foretell.inventory.template import Templates
from foretell.kit.clock import RandomIds, SystemClock
from foretell.kit.renders import SharedRenders
from foretell.policy.choice import rule_engine
from foretell.ports import Agents, AgentTools, Clock, Ids, Reporter, Selectors, Store, Validator
from foretell.settings import Settings
from foretell.store.embedded import EmbeddedPostgres
from foretell.store.migrate import migrate_async
from foretell.store.postgres import open_store
from foretell.store.queue.link import QueueDatabase
from foretell.worker.queue import Pace, Queue
from foretell.worker.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Backend:
    """Everything behind the entry points, started and connected to each other."""

    settings: Settings
    dsn: str
    store: Store
    agents: Agents
    validator: Validator
    selectors: Selectors
    clock: Clock
    ids: Ids
    limits: PlanLimits
    tasks: Tasks

    def queue(self) -> Queue:
        """A worker of this process, not yet running."""
        pace = Pace(concurrency=self.settings.worker_concurrency)
        return Queue(QueueDatabase(self.dsn), self.tasks.by_step(), pace)


@asynccontextmanager
async def open_backend(settings: Settings, *, trusted: bool = False) -> AsyncIterator[Backend]:
    """The backend on a migrated database, an embedded one where none is given.

    `trusted`: the caller's own files and environment may be read by path, as on a command line.
    Raises Unavailable where the database can't be had.
    """
    async with (
        _database(settings) as dsn,
        _open_store(settings, dsn) as store,
        Templates() as templates,
        rule_engine(settings.opa) as validator,
    ):
        secrets = References(os.environ, None if trusted else settings.secret_roots)
        agents = _agents(settings, secrets, templates, trusted=trusted)
        yield _backend(settings, dsn, store, agents, validator, secrets)


def installed_agents(settings: Settings) -> Agents:
    """The agents alone, for those who ask what is installed: nothing is started."""
    return _agents(settings, References(os.environ, None), Templates(), trusted=True)


@asynccontextmanager
async def api_server(backend: Backend) -> AsyncIterator[str]:
    """The API, listening; yields its address. Running requests end before this returns."""
    app = create_app(
        store=backend.store,
        selectors=backend.selectors,
        validator=backend.validator,
        clock=backend.clock,
        ids=backend.ids,
        limits=backend.limits,
        inventories=partial(parse, agents=backend.agents),
    )
    async with listening(app, backend.settings.host, backend.settings.port) as address:
        yield address


def plan_limits(settings: Settings) -> PlanLimits:
    """The settings' part that the first step needs."""
    return PlanLimits(
        deployment_per_minute=settings.plans_per_minute,
        deployment_computing=settings.plans_computing,
        workspace_per_minute=settings.workspace_plans_per_minute,
        workspace_computing=settings.workspace_plans_computing,
        deadline=settings.plan_deadline,
        retention=settings.plan_retention,
        github_retention=settings.github_plan_retention,
    )


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    async with EmbeddedPostgres(settings.data_dir) as dsn:
        yield dsn


@asynccontextmanager
async def _open_store(settings: Settings, dsn: str) -> AsyncIterator[Store]:
    await migrate_async(dsn)
    store = await open_store(dsn, size=settings.worker_concurrency + 2)
    try:
        yield store
    finally:
        await store.close()


def _agents(
    settings: Settings, secrets: References, templates: Templates, *, trusted: bool
) -> Registry:
    renders, clock = SharedRenders(), SystemClock()
    own = settings.for_agents(trusted=trusted)
    return Registry(lambda type: AgentTools(clock, secrets, templates, renders, own))


def _backend(
    settings: Settings,
    dsn: str,
    store: Store,
    agents: Agents,
    validator: Validator,
    secrets: References,
) -> Backend:
    selectors, clock, ids = CelSelectors(), SystemClock(), RandomIds()
    return Backend(
        settings=settings,
        dsn=dsn,
        store=store,
        agents=agents,
        validator=validator,
        selectors=selectors,
        clock=clock,
        ids=ids,
        limits=plan_limits(settings),
        tasks=Tasks(store, agents, validator, list[Reporter](), selectors, secrets, clock, ids),
    )
