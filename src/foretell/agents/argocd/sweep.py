"""Temporary Applications of the dead: found by label, judged by age, deleted, and told of."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import structlog
from prometheus_client import Gauge

from foretell.agents.argocd.client import ArgoCD
from foretell.agents.argocd.documents import Application
from foretell.agents.argocd.render import delete
from foretell.agents.argocd.temporary import PLAN_LABEL, SELECTOR, age, invocation_of
from foretell.domain.plan import InvocationId
from foretell.domain.result import Leftovers

LEFTOVERS = Gauge(
    "foretell_argocd_leftovers", "Temporary Applications that could not be deleted", ["server"]
)
_log = structlog.get_logger()


async def sweep_server(
    client: ArgoCD,
    address: str,
    *,
    older_than: timedelta,
    live: frozenset[InvocationId],
    now: datetime,
) -> Leftovers:
    """One round. What is still there after it, held by a finalizer, is tried again in the next."""
    dead = [
        each
        for each in await client.applications(selector=SELECTOR)
        if _is_dead(each, older_than, live, now)
    ]
    for each in dead:
        await delete(client, each.name, each.project, each.metadata.namespace)
    stuck = _names(await client.applications(selector=SELECTOR)) & _names(dead) if dead else set()
    LEFTOVERS.labels(server=address).set(len(stuck))
    if dead:
        _log.info("argocd.swept", server=address, removed=len(dead) - len(stuck))
    for name in sorted(stuck):
        _log.warning("argocd.leftover", server=address, application=name)
    return Leftovers(len(dead) - len(stuck), tuple(sorted(stuck)))


def _is_dead(
    application: Application, older_than: timedelta, live: frozenset[InvocationId], now: datetime
) -> bool:
    """The label is looked at here too: a selector that a server ignores must not cost anybody."""
    old = age(application, now)
    return (
        application.metadata.labels.get(PLAN_LABEL) == "true"
        and invocation_of(application) not in live
        and old is not None
        and old > older_than
    )


def _names(applications: Iterable[Application]) -> set[str]:
    return {each.name for each in applications}
