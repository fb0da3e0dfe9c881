"""Checked parts of files -> the domain's inventory."""

import re
from collections.abc import Callable
from typing import TypeVar

from foretell.domain.plan import AgentId, DeploymentId, EnvironmentId, ResourceId
from foretell.domain.target import (
    AgentSpec,
    CompareSettings,
    Deployment,
    Environment,
    Inventory,
    PlanSettings,
    Policy,
    PolicyRule,
    Resource,
    Variable,
    VariableValue,
)
from foretell.inventory.identity import item_id
from foretell.inventory.ignore_part import IgnorePart
from foretell.inventory.load.schema import (
    AgentPart,
    DeploymentPart,
    EnvironmentPart,
    InventoryPart,
    OpaPart,
    PlanPart,
    PolicyPart,
    ResourcePart,
    VariablePart,
)
from foretell.inventory.load.source import Path, SourceFile
from foretell.ports import InventoryKind

T = TypeVar("T", AgentPart, DeploymentPart, EnvironmentPart, PolicyPart, ResourcePart)

RegoText = Callable[[SourceFile, str], str]
"""(the inventory file, the path that a rule's `file` gives) -> the text."""


def slug_of(part: DeploymentPart) -> str:
    """The deployment's slug: its own, or its name in the letters of one."""
    return part.slug or re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")[:63].rstrip("-")


class Parts:
    """The parts of all files, in order, each with where it stands."""

    def __init__(self) -> None:
        self.agents: list[tuple[SourceFile, Path, AgentPart]] = []
        self.deployments: list[tuple[SourceFile, Path, DeploymentPart]] = []
        self.environments: list[tuple[SourceFile, Path, EnvironmentPart]] = []
        self.policies: list[tuple[SourceFile, Path, PolicyPart]] = []
        self.resources: list[tuple[SourceFile, Path, ResourcePart]] = []
        self.ignore: list[tuple[SourceFile, Path, IgnorePart]] = []
        self.mask_names: list[str] = []

    def add(self, source: SourceFile, part: InventoryPart) -> None:
        """The parts of one more file."""
        self.agents += _placed(source, "jobAgents", part.job_agents)
        self.deployments += _placed(source, "deployments", part.deployments)
        self.environments += _placed(source, "environments", part.environments)
        self.policies += _placed(source, "policies", part.policies)
        self.resources += _placed(source, "resources", part.resources)
        self.ignore += [(source, ("ignore", i), one) for i, one in enumerate(part.ignore)]
        self.mask_names += part.mask_names

    def compare(self, part: PlanPart) -> CompareSettings:
        """A deployment's, after those of the whole inventory."""
        return CompareSettings(
            ignore=tuple(one.entry() for one in (*(p for _, _, p in self.ignore), *part.ignore)),
            mask_names=tuple(dict.fromkeys((*self.mask_names, *part.mask_names))),
        )


def _placed(source: SourceFile, key: str, parts: list[T]) -> list[tuple[SourceFile, Path, T]]:
    return [(source, (key, i), part) for i, part in enumerate(parts)]


def build(workspace: str, parts: Parts, rego: RegoText) -> Inventory:
    """Each part of the inventory by its ref, whatever file it came from."""
    return Inventory(
        deployments=tuple(
            sorted((_deployment(workspace, p, parts) for _, _, p in parts.deployments), key=_slug)
        ),
        environments=tuple(
            sorted((_environment(workspace, p) for _, _, p in parts.environments), key=_name)
        ),
        resources=tuple(
            sorted((_resource(workspace, p) for _, _, p in parts.resources), key=_identifier)
        ),
        agents=tuple(sorted((_agent(workspace, p) for _, _, p in parts.agents), key=_name)),
        policies=tuple(
            sorted((_policy(workspace, f, p, rego) for f, _, p in parts.policies), key=_name)
        ),
    )


def _slug(item: Deployment) -> str:
    return item.slug


def _identifier(item: Resource) -> str:
    return item.identifier


def _name(item: Environment | AgentSpec | Policy) -> str:
    return item.name


def _deployment(workspace: str, part: DeploymentPart, parts: Parts) -> Deployment:
    slug = slug_of(part)
    return Deployment(
        id=DeploymentId(item_id(workspace, InventoryKind.DEPLOYMENT, slug)),
        slug=slug,
        name=part.name,
        resource_selector=part.resource_selector,
        job_agent_selector=part.job_agent_selector,
        job_agent_config=part.job_agent_config,
        variables=tuple(_variable(variable) for variable in part.variables),
        metadata=part.metadata,
        plan=PlanSettings(part.plan.enabled, part.plan.timeout, parts.compare(part.plan)),
    )


def _variable(part: VariablePart) -> Variable:
    return Variable(
        key=part.key,
        values=tuple(
            VariableValue(value.value, value.resource_selector, value.priority)
            for value in part.values
        ),
        default=part.default,
        has_default="default" in part.model_fields_set,
    )


def _environment(workspace: str, part: EnvironmentPart) -> Environment:
    return Environment(
        id=EnvironmentId(item_id(workspace, InventoryKind.ENVIRONMENT, part.name)),
        name=part.name,
        resource_selector=part.resource_selector,
        metadata=part.metadata,
    )


def _resource(workspace: str, part: ResourcePart) -> Resource:
    return Resource(
        id=ResourceId(item_id(workspace, InventoryKind.RESOURCE, part.identifier)),
        identifier=part.identifier,
        name=part.name or part.identifier,
        kind=part.kind,
        version=part.version,
        config=part.config,
        metadata=part.metadata,
        variables=part.variables,
    )


def _agent(workspace: str, part: AgentPart) -> AgentSpec:
    return AgentSpec(
        id=AgentId(item_id(workspace, InventoryKind.AGENT, part.name)),
        name=part.name,
        type=part.type,
        config=part.config,
    )


def _policy(workspace: str, source: SourceFile, part: PolicyPart, rego: RegoText) -> Policy:
    return Policy(
        id=item_id(workspace, InventoryKind.POLICY, part.name),
        name=part.name,
        selector=part.selector,
        rules=tuple(_rule(source, rule.plan_validation_opa, rego) for rule in part.rules),
        overrides_role=part.overrides.role if part.overrides else "",
        overrides_count=part.overrides.count if part.overrides else 1,
    )


def _rule(source: SourceFile, part: OpaPart, rego: RegoText) -> PolicyRule:
    return PolicyRule(
        name=part.name,
        rego=rego(source, part.file) if part.file is not None else part.rego or "",
        description=part.description,
        mandatory=part.enforcement == "mandatory",
    )
