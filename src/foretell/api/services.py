"""What the routes are given, at `app.state.services`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fastapi import Request

from foretell.api.ready import ReadyDocuments
from foretell.api.webhook import Webhook
from foretell.inventory.load import LoadedInventory
from foretell.ports import Clock, Ids, PlanLimits, Selectors, Store, Validator

Inventories = Callable[[Mapping[str, str]], LoadedInventory]
"""(texts by file name) -> inventory: `inventory.load.parse` with the agents that are installed."""


@dataclass(frozen=True, slots=True)
class Services:
    """The ports and settings that requests are answered with."""

    store: Store
    selectors: Selectors
    validator: Validator
    clock: Clock
    ids: Ids
    limits: PlanLimits
    inventories: Inventories
    webhook: Webhook | None = None
    ready: ReadyDocuments = field(default_factory=ReadyDocuments)


def services_of(request: Request) -> Services:
    """Those of the application that got the request."""
    services: Services = request.app.state.services
    return services
