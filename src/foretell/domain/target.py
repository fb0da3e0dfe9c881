"""What a plan reaches: the inventory's parts, and which of them match.

A target is an environment and a resource that the environment's, the deployment's and the
request's selectors all match. Selectors arrive as plain callables: which language they are
written in is the inventory's matter.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from foretell.domain.override import OverrideTerms
from foretell.domain.plan import (
    AgentId,
    DeploymentId,
    EnvironmentId,
    JsonObject,
    PlanRequest,
    ResourceId,
)

Matches = Callable[[str, Mapping[str, Any]], bool]
"""(selector text, {"deployment": …, "environment": …, …}) -> does it match; "" matches all."""


@dataclass(frozen=True, slots=True)
class VariableValue:
    """A value for the resources that `resource_selector` matches; the highest priority wins."""

    value: Any
    resource_selector: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Variable:
    """A deployment's variable. `default` counts only where `has_default`: None is a value."""

    key: str
    values: tuple[VariableValue, ...] = ()
    default: Any = None
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class IgnoreEntry:
    """Differences that are no change, in the objects that the four globs select.

    `pointers` are JSON pointers, `names` of fields at any depth, `jq` path expressions.
    """

    pointers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    jq: tuple[str, ...] = ()
    group: str = "*"
    kind: str = "*"
    namespace: str = "*"
    name: str = "*"


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """How Kubernetes objects are compared: what is ignored, and which values are masked by name.

    `mask_names` are globs, any case, for keys of ConfigMaps and names of variables. Nothing by
    default, and what either of them hides is counted.
    """

    ignore: tuple[IgnoreEntry, ...] = ()
    mask_names: tuple[str, ...] = ()


COMPARE_ALL = CompareSettings()


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """`enabled` None leaves the choice to the agent: Terraform Cloud plans are opt-in."""

    enabled: bool | None = None
    timeout: timedelta | None = None
    compare: CompareSettings = COMPARE_ALL


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is deployed, where it may go, and how its agents are told."""

    id: DeploymentId
    slug: str
    name: str
    resource_selector: str = ""
    job_agent_selector: str = ""
    job_agent_config: JsonObject = field(default_factory=dict)
    variables: tuple[Variable, ...] = ()
    metadata: JsonObject = field(default_factory=dict)
    plan: PlanSettings = PlanSettings()

    def describe(self) -> dict[str, Any]:
        """As selectors, templates and policies see it."""
        return {
            "id": self.id,
            "slug": self.slug,
            "name": self.name,
            "metadata": dict(self.metadata),
        }


@dataclass(frozen=True, slots=True)
class Environment:
    """A stage that a deployment reaches, and which resources belong to it."""

    id: EnvironmentId
    name: str
    resource_selector: str = ""
    metadata: JsonObject = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As selectors, templates and policies see it."""
        return {"id": self.id, "name": self.name, "metadata": dict(self.metadata)}


@dataclass(frozen=True, slots=True)
class Resource:
    """A place to deploy to: a cluster, a namespace, a workspace. `identifier` is its unique key."""

    id: ResourceId
    identifier: str
    name: str
    kind: str = ""
    version: str = ""
    config: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    variables: JsonObject = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As selectors, templates and policies see it; its variables are resolved apart."""
        return {
            "id": self.id,
            "identifier": self.identifier,
            "name": self.name,
            "kind": self.kind,
            "version": self.version,
            "config": dict(self.config),
            "metadata": dict(self.metadata),
        }


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """A job agent of the inventory. Secrets in `config` are references, never values."""

    id: AgentId
    name: str
    type: str
    config: JsonObject = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As selectors see it: its config stays out, it may name secrets."""
        return {"id": self.id, "name": self.name, "type": self.type}


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for the targets that `selector` matches, and who may override them.

    `overrides_role` "" means that nobody may; `overrides_count` distinct people are needed.
    """

    id: str
    name: str
    selector: str = ""
    rules: tuple["PolicyRule", ...] = ()
    overrides_role: str = ""
    overrides_count: int = 1

    @property
    def overrides(self) -> OverrideTerms:
        """Who may override its rules' denials."""
        return OverrideTerms(self.overrides_role, self.overrides_count)


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One Rego document with a `deny` set; `mandatory` fails the check, advisory only shows."""

    name: str
    rego: str
    description: str = ""
    mandatory: bool = True


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that may be planned in one workspace, as one consistent reading."""

    deployments: tuple[Deployment, ...] = ()
    environments: tuple[Environment, ...] = ()
    resources: tuple[Resource, ...] = ()
    agents: tuple[AgentSpec, ...] = ()
    policies: tuple[Policy, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One (environment, resource) of a deployment; the API's "release target"."""

    environment: Environment
    resource: Resource

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it over two readings of an inventory, where ids may differ."""
        return (self.environment.name, self.resource.identifier)


def select(
    deployment: Deployment,
    environments: Iterable[Environment],
    resources: Sequence[Resource],
    request: PlanRequest,
    matches: Matches,
) -> tuple[Target, ...]:
    """Every target of the request, by environment name and resource identifier.

    The deployment's and the request's selectors are asked first: they leave fewer pairs to try.
    """
    about = deployment.describe()
    wanted = [
        resource
        for resource in resources
        if matches(
            deployment.resource_selector, {"deployment": about, "resource": resource.describe()}
        )
    ]
    found = [
        Target(environment, resource)
        for environment in environments
        if matches(
            request.environment_selector,
            {"deployment": about, "environment": environment.describe()},
        )
        for resource in wanted
        if _in_scope(about, environment, resource, request, matches)
    ]
    return tuple(sorted(found, key=lambda target: target.key))


def _in_scope(
    about: Mapping[str, Any],
    environment: Environment,
    resource: Resource,
    request: PlanRequest,
    matches: Matches,
) -> bool:
    scope = {
        "deployment": about,
        "environment": environment.describe(),
        "resource": resource.describe(),
    }
    return matches(environment.resource_selector, scope) and matches(
        request.resource_selector, scope
    )


def agents_for(
    deployment: Deployment, target: Target, agents: Iterable[AgentSpec], matches: Matches
) -> tuple[AgentSpec, ...]:
    """The agents that plan this target, by name; none is an answer ("no job agent matches")."""
    scope = {
        "deployment": deployment.describe(),
        "environment": target.environment.describe(),
        "resource": target.resource.describe(),
    }
    chosen = [
        agent
        for agent in agents
        if matches(deployment.job_agent_selector, {**scope, "jobAgent": agent.describe()})
    ]
    return tuple(sorted(chosen, key=lambda agent: agent.name))
