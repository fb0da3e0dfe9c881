"""WHAT WE NEED from outside, in the engine's words.

Every promise below is a test of the contract suite in `foretell.testing`. Adapters translate
their own errors into those of `domain/errors.py` and chain the cause.
"""

from foretell.ports.agent import Agent, Agents, AgentTools, Renders, Revealed, Secrets, Templates
from foretell.ports.budget import Budget
from foretell.ports.clock import Clock, Ids
from foretell.ports.forge import Forge, Reaction
from foretell.ports.judge import Reporter, Selectors, Validator
from foretell.ports.pull_requests import (
    Delivery,
    Forks,
    PullRequestRules,
    PullRequestState,
    PullRequestTx,
)
from foretell.ports.queue import Job, Step
from foretell.ports.rows import (
    InventoryItem,
    InventoryKind,
    OverrideRecord,
    PlanBasis,
    PlanLimits,
    PlannedInvocation,
    PlannedTarget,
    PlanUsage,
    Role,
    Settled,
    Token,
    Workspace,
)
from foretell.ports.store import InventoryTx, PlanTx, Store, TokenTx, Tx

__all__ = [
    "Agent",
    "AgentTools",
    "Agents",
    "Budget",
    "Clock",
    "Delivery",
    "Forge",
    "Forks",
    "Ids",
    "InventoryItem",
    "InventoryKind",
    "InventoryTx",
    "Job",
    "OverrideRecord",
    "PlanBasis",
    "PlanLimits",
    "PlanTx",
    "PlanUsage",
    "PlannedInvocation",
    "PlannedTarget",
    "PullRequestRules",
    "PullRequestState",
    "PullRequestTx",
    "Reaction",
    "Renders",
    "Reporter",
    "Revealed",
    "Role",
    "Secrets",
    "Selectors",
    "Settled",
    "Step",
    "Store",
    "Templates",
    "Token",
    "TokenTx",
    "Tx",
    "Validator",
    "Workspace",
]
