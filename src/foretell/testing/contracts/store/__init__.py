"""The promises of `foretell.ports.Store` as tests.

Subclass `StoreContract`, override its two fixtures, and run it with pytest and pytest-asyncio in
its automatic mode.
"""

from foretell.testing.contracts.store.inventory import InventoryPromises
from foretell.testing.contracts.store.invocation import InvocationPromises
from foretell.testing.contracts.store.listing import ListingPromises
from foretell.testing.contracts.store.override import OverridePromises
from foretell.testing.contracts.store.plan import PlanPromises
from foretell.testing.contracts.store.pull_request import PullRequestPromises
from foretell.testing.contracts.store.queue import QueuePromises
from foretell.testing.contracts.store.report import ReportPromises
from foretell.testing.contracts.store.token import TokenPromises
from foretell.testing.contracts.store.watch import WatchPromises
from foretell.testing.contracts.store.world import Queued, World

__all__ = ["Queued", "StoreContract", "World"]


class StoreContract(
    PlanPromises,
    InvocationPromises,
    ListingPromises,
    QueuePromises,
    InventoryPromises,
    OverridePromises,
    TokenPromises,
    ReportPromises,
    PullRequestPromises,
    WatchPromises,
):
    """All that a store promises."""
