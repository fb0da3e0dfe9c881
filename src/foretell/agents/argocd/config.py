"""The `config` of a job agent of type `argo-cd`."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.inventory.durations import Duration
from foretell.inventory.open_config import is_open, matching
from foretell.inventory.wording import Complaint, complaints

DEFAULT_TIMEOUT = timedelta(minutes=5)
NAME = r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
"""RFC 1123 subdomain, as Kubernetes names objects."""

Address = Annotated[str, matching(r"https?://[^\s?#]{1,2000}", "an address: https://…")]
ProjectName = Annotated[str, matching(NAME, "the name of an AppProject")]


def _template(value: Any) -> Any:
    if not isinstance(value, dict | str) or not value:
        raise PydanticCustomError("template", "expected the Application, as a map or as YAML text")
    return value


class AtCommit(BaseModel):
    """Sources in `repository` (OWNER/NAME, or an address) are rendered at `commit`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    repository: Annotated[str, matching(r"[^\0\n]{1,2048}", "OWNER/NAME, or an address")]
    commit: Annotated[str, matching(r"[^\s\0]{1,255}", "a commit, or a branch or tag")]


class ArgoCdConfig(BaseModel):
    """`docs/agents/argo-cd.md` in code. `template` is the Application, as a map or as YAML text.

    `revision` is for Applications that follow a branch: what is proposed is a commit that may come
    to be on it, and no change of the Application itself.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    server_url: Address
    api_key: Annotated[str, Field(min_length=1, repr=False)]
    template: Annotated[Any, AfterValidator(_template)]
    revision: AtCommit | None = None
    plan_project: ProjectName | None = None
    timeout: Duration = DEFAULT_TIMEOUT
    ca_file: Annotated[str, matching(r"/[^\0\n]{1,1000}", "an absolute path")] | None = None
    concurrency: Annotated[int, Field(ge=1, le=200)] = 40


def read_config(config: JsonObject) -> ArgoCdConfig:
    """Raises AgentRejected that names every wrong key, and quotes no value."""
    try:
        return ArgoCdConfig.model_validate(dict(config))
    except ValidationError as error:
        raise rejected(complaints(error, ArgoCdConfig)) from None


def check_unrevealed(config: JsonObject) -> None:
    """Raises AgentRejected for what must be a reference and is not."""
    if wrong := _plain_secrets(config):
        raise rejected(wrong)


def rejected(found: Sequence[Complaint]) -> AgentRejected:
    """The error for a config of which all this is wrong."""
    told = "; ".join(f"{each.field}: {each.message}" for each in found)
    return AgentRejected(f"the config of the argo-cd agent is wrong: {told}")


def config_complaints(config: JsonObject, *, partial: bool) -> list[Complaint]:
    """What is wrong with a config that was not rendered yet; below `template` all is allowed."""
    known = {key: value for key, value in config.items() if not _is_unknown(value)}
    found, open_paths = _plain_secrets(config), [(key,) for key in config]
    try:
        ArgoCdConfig.model_validate({**known, "apiKey": "a reference"})
    except ValidationError as error:
        found += [
            each
            for each in complaints(error, ArgoCdConfig)
            if not (each.missing and (partial or each.path in open_paths))
        ]
    if "apiKey" not in config and not partial:
        found.append(Complaint(("apiKey",), "expected a reference: {file: PATH} or {env: NAME}"))
    return found


def _is_unknown(value: Any) -> bool:
    """`revision` is a map whose values may be templates."""
    below = value.values() if isinstance(value, Mapping) else ()
    return is_open(value) or any(map(is_open, below))


def _plain_secrets(config: JsonObject) -> list[Complaint]:
    given = config.get("apiKey")
    if given is None or is_open(given):
        return []
    return [Complaint(("apiKey",), "expected a reference: {file: PATH} or {env: NAME}")]
