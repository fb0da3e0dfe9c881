"""The `config` of a job agent of type `terraform`, after templates and references."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.formats.tfplan.hash import KEY_BYTES
from foretell.inventory.durations import Duration
from foretell.inventory.open_config import is_open, matching
from foretell.inventory.wording import Complaint, complaints
from foretell.kit.terraform.run import is_ours

PLAN_FOR = timedelta(minutes=20)


def _not_ours(name: str) -> str:
    if is_ours(name):
        raise PydanticCustomError("ours", "Foretell sets this variable itself: leave it out")
    return name


def _long_enough(key: str) -> str:
    if len(key.encode()) < KEY_BYTES:
        raise PydanticCustomError("short", "expected a key of at least 32 bytes")
    return key


Text = Annotated[str, Field(min_length=1, max_length=2048), matching(r"[^\0\n]*", "one line")]
Argument = Annotated[Text, matching(r"[^-].*", "text that does not begin with '-'")]
Variable = Annotated[
    str,
    matching(r"[A-Za-z_][A-Za-z0-9_]{0,254}", "the name of an environment variable"),
    AfterValidator(_not_ours),
]
PlanKey = Annotated[str, AfterValidator(_long_enough)]

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class RepositoryConfig(BaseModel):
    """Where the configuration is: `url` may end in `?ref=REVISION`, as a module's source may."""

    model_config = _STRICT

    url: Argument
    path: Text = "."


class TerraformConfig(BaseModel):
    """`docs/agents/terraform.md` in code. Nothing is converted."""

    model_config = _STRICT

    repository: RepositoryConfig
    binary: Argument | None = None
    backend_config: dict[str, Any] = Field(default={}, repr=False)
    workspace: Annotated[Argument, matching(r"[^\s/]{1,255}", "a workspace's name")] | None = None
    var_files: list[Text] = []
    env: list[Variable] = []
    plan_key: PlanKey | None = Field(default=None, repr=False)
    timeout: Duration = PLAN_FOR


def read_config(config: JsonObject) -> TerraformConfig:
    """Raises AgentRejected that names every wrong key, and quotes no value."""
    try:
        return TerraformConfig.model_validate(dict(config))
    except ValidationError as error:
        raise _rejected(complaints(error, TerraformConfig)) from None


def check_unrevealed(config: JsonObject) -> None:
    """Raises AgentRejected for what must be a reference and is not."""
    if wrong := _plain_secrets(config):
        raise _rejected(wrong)


def config_complaints(config: JsonObject, *, partial: bool) -> list[Complaint]:
    """What is wrong with a config that was not rendered yet.

    A template or a reference stands for any value; in `backendConfig` everything is allowed.
    """
    found = _plain_secrets(config)
    try:
        TerraformConfig.model_validate(_closed({**config, "planKey": None}))
    except ValidationError as error:
        found += [
            each
            for each in complaints(error, TerraformConfig)
            if not (each.missing and (partial or _given(config, each.path)))
        ]
    return found


def _rejected(found: Sequence[Complaint]) -> AgentRejected:
    told = "; ".join(f"{each.field}: {each.message}" for each in found)
    return AgentRejected(f"the config of the terraform agent is wrong: {told}")


def _plain_secrets(config: JsonObject) -> list[Complaint]:
    given = config.get("planKey")
    if given is None or is_open(given):
        return []
    return [Complaint(("planKey",), "expected a reference: {file: PATH} or {env: NAME}")]


def _closed(config: JsonObject, model: type[BaseModel] = TerraformConfig) -> dict[str, Any]:
    """What can be checked before templates are rendered: known keys with open values are left
    out."""
    known = {field.alias or name for name, field in model.model_fields.items()}
    return {
        key: _closed(value, RepositoryConfig)
        if key == "repository" and isinstance(value, Mapping)
        else value
        for key, value in config.items()
        if key not in known or not is_open(value)
    }


def _given(config: Any, path: Sequence[str | int]) -> bool:
    """Whether there is something at `path`, a template perhaps."""
    for step in path:
        if not isinstance(config, Mapping) or step not in config:
            return False
        config = config[step]
    return True
