"""The inventory file's shape: `docs/reference/inventory.md` in code."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from foretell.inventory.durations import Duration
from foretell.inventory.ignore_part import IgnorePart

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_NAME_LENGTH = 253  # a DNS name, the longest name that Kubernetes has


def _slug(value: str) -> str:
    if not _SLUG.match(value):
        raise PydanticCustomError(
            "slug",
            "expected at most 63 lower-case letters, digits and hyphens, not at either end",
        )
    return value


def _name(value: str) -> str:
    if not value.strip() or len(value) > _NAME_LENGTH or not value.isprintable():
        raise PydanticCustomError("name", "expected 1 to 253 printable characters")
    return value


def _glob(value: str) -> str:
    if not value.strip("*? \t"):
        raise PydanticCustomError("glob", "expected a name, with * for any letters: *password*")
    return value


Slug = Annotated[str, AfterValidator(_slug)]
Name = Annotated[str, AfterValidator(_name)]
Glob = Annotated[str, AfterValidator(_glob)]
Map = dict[str, Any]


class Part(BaseModel):
    """Keys are camelCase, unknown ones are errors, and nothing is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class VariableValuePart(Part):
    value: Any
    resource_selector: str = ""
    priority: int = 0


class VariablePart(Part):
    key: Name
    default: Any = None
    values: list[VariableValuePart] = []


class PlanPart(Part):
    enabled: bool | None = None
    timeout: Duration | None = None
    ignore: list[IgnorePart] = []
    mask_names: list[Glob] = []


class DeploymentPart(Part):
    name: Name
    slug: Slug | None = None
    resource_selector: str = ""
    job_agent_selector: str = ""
    job_agent_config: Map = {}
    variables: list[VariablePart] = []
    metadata: Map = {}
    plan: PlanPart = PlanPart()


class EnvironmentPart(Part):
    name: Name
    resource_selector: str = ""
    metadata: Map = {}


class ResourcePart(Part):
    identifier: Name
    name: Name | None = None
    kind: str = ""
    version: str = ""
    config: Map = {}
    metadata: Map = {}
    variables: Map = {}


class AgentPart(Part):
    name: Name
    type: Name
    config: Map = {}


class OverridesPart(Part):
    role: Literal["viewer", "planner", "admin"]
    count: int = Field(default=1, ge=1, le=20)


class OpaPart(Part):
    name: Name
    description: str = ""
    rego: str | None = None
    file: str | None = None
    enforcement: Literal["mandatory", "advisory"] = "mandatory"


class PolicyRulePart(Part):
    plan_validation_opa: OpaPart


class PolicyPart(Part):
    name: Name
    selector: str = ""
    overrides: OverridesPart | None = None
    rules: list[PolicyRulePart] = []


class InventoryPart(Part):
    """One file; a folder's files are read as one."""

    workspace: Slug | None = None
    ignore: list[IgnorePart] = []
    mask_names: list[Glob] = []
    job_agents: list[AgentPart] = []
    environments: list[EnvironmentPart] = []
    resources: list[ResourcePart] = []
    deployments: list[DeploymentPart] = []
    policies: list[PolicyPart] = []
