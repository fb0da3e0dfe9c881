"""The one place where ports meet adapters."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from foretell.agents.registry import Registry
from foretell.api.app import create_app
from foretell.api.server import listening
from foretell.api.webhook import webhook_of
from foretell.auth.oidc import Oidc
from foretell.domain.digest import MIN_KEY_BYTES
from foretell.inventory.load import parse
from foretell.inventory.matching import CelSelectors
from foretell.inventory.secrets import References
from foretell.inventory.template import Templates
from foretell.kit.budget import ProcessBudget
from foretell.kit.clock import RandomIds, SystemClock
from foretell.kit.key import shared_key
from foretell.kit.renders import SharedRenders
from foretell.policy.choice import rule_engine
from foretell.ports import (
    Agents,
    AgentTools,
    Clock,
    Ids,
    PlanLimits,
    Selectors,
    Step,
    Store,
    Validator,
)
from foretell.reporters.choice import open_github, reporters
from foretell.reporters.github.forge import GithubForge
from foretell.settings import Settings
from foretell.store.embedded import EmbeddedPostgres
from foretell.store.migrate import migrate_async
from foretell.store.postgres import open_store
from foretell.store.queue.link import QueueDatabase
from foretell.worker.queue import Pace, Queue
from foretell.worker.tasks import Tasks

REPORTS_AT_ONCE = 4
"""Over all workers: who waits for a turn to write does not keep them from planning."""


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
        pace = Pace(self.settings.worker_concurrency, {Step.REPORT: REPORTS_AT_ONCE})
        return Queue(QueueDatabase(self.dsn), self.tasks.by_step(), pace)


@asynccontextmanager
async def open_backend(settings: Settings, *, trusted: bool = False) -> AsyncIterator[Backend]:
    """The backend on a migrated database, an embedded one where none is given.

    `trusted`: the caller's own files and environment may be read by path, as on a command line.
    Raises Unavailable where the database can't be had.
    """
    async with (
        open_database(settings) as (dsn, store),
        Templates() as templates,
        rule_engine(settings.opa) as validator,
    ):
        secrets = References(os.environ, None if trusted else settings.secret_roots)
        key = await shared_key(settings, store)
        own = settings.for_agents(trusted=trusted)
        clock, ids, selectors = SystemClock(), RandomIds(), CelSelectors()
        shared = (clock, secrets, templates, SharedRenders(), store.budget, key)
        async with (
            Registry(lambda type: AgentTools(*shared, own)) as agents,
            open_github(settings, store.budget) as github,
        ):
            told = reporters(settings, store, github, key)
            forge = GithubForge(github) if github else None
            tasks = Tasks(store, agents, validator, told, selectors, secrets, clock, ids, forge)
            yield _backend(settings, dsn, tasks)


def installed_agents(settings: Settings) -> Agents:
    """The agents alone, for those who ask what is installed: nothing is started."""
    own, key = settings.for_agents(trusted=True), bytes(MIN_KEY_BYTES)
    shared = (SystemClock(), References(os.environ, None), Templates(), SharedRenders())
    return Registry(lambda type: AgentTools(*shared, ProcessBudget(), key, own))


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
        webhook=webhook_of(backend.settings.github_webhook_secret),
        oidc=Oidc(backend.settings.oidc_grants, backend.clock),
    )
    async with listening(app, backend.settings.host, backend.settings.port) as address:
        yield address


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[tuple[str, Store]]:
    """The migrated database and the store on it; an embedded one where no DSN is set."""
    async with AsyncExitStack() as stack:
        if settings.database_url is not None:
            dsn = settings.database_url.get_secret_value()
        else:
            dsn = await stack.enter_async_context(EmbeddedPostgres(settings.data_dir))
        await migrate_async(dsn)
        store = await open_store(dsn, size=settings.worker_concurrency + 2)
        stack.push_async_callback(store.close)
        yield dsn, store


def _backend(settings: Settings, dsn: str, tasks: Tasks) -> Backend:
    limits, rules = settings.plan_limits(), settings.pull_request_rules()
    return Backend(
        settings=settings,
        dsn=dsn,
        store=tasks.store,
        agents=tasks.agents,
        validator=tasks.validator,
        selectors=tasks.selectors,
        clock=tasks.clock,
        ids=tasks.ids,
        limits=limits,
        tasks=replace(tasks, limits=limits, pull_requests=rules, plan_ttl=settings.plan_ttl),
    )
