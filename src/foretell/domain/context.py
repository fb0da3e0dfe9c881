"""What an agent is asked: merged config, resolved variables and a version, frozen.

A context is written once, by the fan-out, and never changes: a retry, another worker or a later
look sees the same question. Secrets stand in it as references.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.plan import (
    AgentId,
    GithubRef,
    InvocationId,
    JsonObject,
    PlanId,
    PlanRequest,
    WorkspaceId,
)
from foretell.domain.target import (
    COMPARE_ALL,
    AgentSpec,
    CompareSettings,
    Deployment,
    Matches,
    Resource,
    Target,
    Variable,
    VariableValue,
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version, real or only proposed: RFC 0004's transient version object."""

    tag: str
    name: str = ""
    config: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As templates and policies see it."""
        return {
            "tag": self.tag,
            "name": self.name or self.tag,
            "config": dict(self.config),
            "metadata": dict(self.metadata),
        }


def proposed_version(request: PlanRequest) -> Version:
    """The version that the request would create."""
    return Version(request.tag, request.name, request.config, request.metadata)


@dataclass(frozen=True, slots=True)
class Source:
    """A repository at one commit: where paths without a repository of their own are read."""

    repository: str
    revision: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """What the deploying system recorded for a target; `variables` None: as resolved now."""

    version: Version
    variables: JsonObject | None = None
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """All that one side of the comparison is rendered from."""

    version: Version
    agent_config: JsonObject
    variables: JsonObject
    deployment: JsonObject
    environment: JsonObject
    resource: JsonObject
    source: Source | None = None

    def template_variables(self) -> dict[str, Any]:
        """What a template may name; `release` is the spelling that Go templates use."""
        version = self.version.describe()
        return {
            "deployment": dict(self.deployment),
            "environment": dict(self.environment),
            "resource": dict(self.resource),
            "variables": dict(self.variables),
            "version": version,
            "release": {"version": version, "variables": dict(self.variables)},
        }


@dataclass(frozen=True, slots=True)
class AgentRef:
    """The agent as reports name it."""

    id: AgentId
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class DispatchContext:
    """One question to one agent about one target.

    `current` None: nothing is known of what is there now. `proposed` None: the target is being
    removed. Never both. `head` is the commit that the request named. `attempt` counts the calls of
    `plan` with this question, this one included, and is written down before the call: what must
    not be done twice compares it with what its state says; 0: nobody counts. `compare` is how the
    two sides of Kubernetes objects are compared.
    """

    invocation_id: InvocationId
    plan_id: PlanId
    workspace_id: WorkspaceId
    agent: AgentRef
    proposed: Side | None
    current: Side | None
    head: GithubRef | None = None
    attempt: int = 0
    compare: CompareSettings = COMPARE_ALL

    @property
    def side(self) -> Side:
        """The side that names the target: the proposed one, or what is left of a removed one."""
        side = self.proposed or self.current
        if side is None:
            raise InvalidRequest(f"invocation {self.invocation_id} has neither side")
        return side


_REFERENCE_KINDS = ("env", "file")


def secret_reference(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """("env", NAME) or ("file", PATH) where the map is exactly one such key with text."""
    if len(value) != 1:
        return None
    kind, name = next(iter(value.items()))
    return (kind, name) if kind in _REFERENCE_KINDS and isinstance(name, str) else None


def refuse_references(fields: Mapping[str, Any]) -> None:
    """Only an inventory names secrets: who may plan may not choose what a chart prints.

    Raises InvalidRequest with the path of each reference in the request's `fields`.
    """
    found = [path for name, value in fields.items() for path in _reference_paths(value, name)]
    if found:
        message = "a request may not refer to a secret; the inventory may, ask who keeps it"
        problems = [Problem("body", path, message) for path in found]
        raise InvalidRequest(f"secrets are referred to in: {', '.join(found)}", problems)


def _reference_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        # A null removes its key when configs are merged: what is left may be a reference.
        if secret_reference({key: item for key, item in value.items() if item is not None}):
            yield path
        for key, item in value.items():
            yield from _reference_paths(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _reference_paths(item, f"{path}[{place}]")


def merge_config(*layers: JsonObject) -> dict[str, Any]:
    """Later layers over earlier ones: maps deep, lists and scalars replaced, null removes."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if value is None:
                merged.pop(key, None)
            elif isinstance(value, Mapping):
                below = merged.get(key)
                merged[key] = merge_config(below if isinstance(below, Mapping) else {}, value)
            else:
                merged[key] = value
    return merged


def resolve_variables(
    definitions: Sequence[Variable], resource: Resource, matches: Matches
) -> dict[str, Any]:
    """Every variable of the deployment for one resource.

    The resource's own value beats the matching value of highest priority, which beats the
    default. Raises InvalidRequest for a tie (it names both) and for a variable without a value.
    """
    return {
        definition.key: resource.variables[definition.key]
        if definition.key in resource.variables
        else _resolve(definition, resource, matches)
        for definition in definitions
    }


def _resolve(definition: Variable, resource: Resource, matches: Matches) -> Any:
    scope = {"resource": resource.describe()}
    fitting = [value for value in definition.values if matches(value.resource_selector, scope)]
    if fitting:
        return _highest(definition, fitting, resource).value
    if definition.has_default:
        return definition.default
    raise InvalidRequest(
        f"variable {definition.key!r} has no value for resource {resource.identifier!r}: "
        "give the resource its own, a value whose resourceSelector matches it, or a default"
    )


def _highest(
    definition: Variable, fitting: Sequence[VariableValue], resource: Resource
) -> VariableValue:
    top = max(value.priority for value in fitting)
    best = [value for value in fitting if value.priority == top]
    if len(best) > 1:
        first, second = (value.resource_selector or "(all resources)" for value in best[:2])
        raise InvalidRequest(
            f"variable {definition.key!r} has two values of priority {top} for resource "
            f"{resource.identifier!r}: {first} and {second}; give one a higher priority"
        )
    return best[0]


@dataclass(frozen=True, slots=True)
class Scope:
    """One side's inventory around a deployment: what its sides are frozen from."""

    deployment: Deployment
    matches: Matches
    source: Source | None = None

    def freeze(
        self,
        target: Target,
        agent: AgentSpec,
        version: Version,
        *,
        variables: JsonObject | None = None,
        job_agent_config: JsonObject | None = None,
    ) -> Side:
        """The side of `target` for `version`; raises InvalidRequest where a variable is missing."""
        if variables is None:
            variables = resolve_variables(self.deployment.variables, target.resource, self.matches)
        config = merge_config(
            agent.config, self.deployment.job_agent_config, job_agent_config or {}
        )
        return Side(
            version=version,
            agent_config=config,
            variables=variables,
            deployment=self.deployment.describe(),
            environment=target.environment.describe(),
            resource=target.resource.describe(),
            source=self.source,
        )
