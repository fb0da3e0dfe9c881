"""The application: its routes, and what they are given."""

from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from foretell.api import problems
from foretell.api.edge import Edge
from foretell.api.items import PARTS
from foretell.api.routes import github, health, inventory, overrides, plans, results, workspaces
from foretell.api.schemas import documents, requests
from foretell.api.services import Inventories, Services
from foretell.api.webhook import Webhook
from foretell.auth.door import Door
from foretell.auth.oidc import Oidc
from foretell.inventory.load.schema import InventoryPart
from foretell.ports import Clock, Ids, PlanLimits, Selectors, Store, Validator

_DESCRIPTION = """\
Shows what a deployment will change before it does. Bodies are JSON with camelCase keys, times \
RFC 3339 in UTC, errors problem documents (RFC 9457). Every call but the health checks needs \
`Authorization: Bearer ft_…`."""
_DESCRIBED: tuple[type[BaseModel], ...] = (
    requests.PlanBody,
    requests.NestedPlanBody,
    requests.CurrentBody,
    requests.OverrideBody,
    requests.WorkspaceBody,
    InventoryPart,
    *PARTS.values(),
    documents.ProblemDocument,
    documents.EndDocument,
)
"""What routes read themselves, or FastAPI does not see."""


def create_app(  # noqa: PLR0913 - the ports that it stands on, each named
    *,
    store: Store,
    selectors: Selectors,
    validator: Validator,
    clock: Clock,
    ids: Ids,
    limits: PlanLimits,
    inventories: Inventories,
    webhook: Webhook | None = None,
    oidc: Oidc | None = None,
) -> FastAPI:
    """The API over these ports; `inventories` is `inventory.load.parse` with its agents.

    Without a `webhook` GitHub's events are not taken, without `oidc` only our own tokens are.
    """
    app = describe_app()
    app.state.services = Services(
        store=store,
        selectors=selectors,
        validator=validator,
        clock=clock,
        ids=ids,
        limits=limits,
        inventories=inventories,
        webhook=webhook,
    )
    app.state.door = Door(store, clock, oidc)
    app.add_middleware(Edge, new_id=ids.new)
    return app


def describe_app() -> FastAPI:
    """The routes alone: enough to describe them, not to answer."""
    app = FastAPI(
        title="Foretell",
        version=version("foretell"),
        description=_DESCRIPTION,
        openapi_url=None,
        redirect_slashes=False,
    )
    problems.install(app)
    for part in (plans, results, overrides, inventory, workspaces, github, health):
        app.include_router(part.router)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1, with the bodies that routes read themselves."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        schema["components"]["schemas"] |= _schemas()
        app.openapi_schema = schema
    return app.openapi_schema


def _schemas() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in _DESCRIBED:
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        found |= schema.pop("$defs", {})
        found[model.__name__] = schema
    return found
