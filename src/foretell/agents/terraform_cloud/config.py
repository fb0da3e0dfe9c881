"""The `config` of a job agent of type `terraform-cloud`, after templates and references."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from foretell.domain.context import secret_reference
from foretell.domain.digest import MIN_KEY_BYTES
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.inventory.durations import Duration
from foretell.inventory.open_config import is_open, matching
from foretell.inventory.wording import Complaint, complaints

SECRET_KEYS: Final = ("token", "planKey")
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        plain = not (parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc)
        safe = parts.scheme == "https" or parts.netloc.rpartition(":")[0] in _LOOPBACK
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and plain and safe
    except ValueError:
        usable = False
    if not usable:
        raise PydanticCustomError("address", "expected https://HOST, without a path")
    return value.rstrip("/")


def _long_enough(value: str) -> str:
    if len(value.encode()) < MIN_KEY_BYTES:
        raise PydanticCustomError(
            "key", "expected at least {least} bytes", {"least": MIN_KEY_BYTES}
        )
    return value


Name = Annotated[
    str, matching(r"[A-Za-z0-9][\w-]{0,89}", "at most 90 letters, digits, - and _ (a name)")
]
OneLine = Annotated[str, Field(min_length=1, max_length=2048), matching(r"[^\0\n]*", "one line")]


class Template(BaseModel):
    """Which workspace a target is, and the variables of its runs; templates are rendered."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    workspace: Name
    variables: dict[str, Any] = {}


class Repository(BaseModel):
    """Where the configuration is; `path` is the folder of the root module, "" is the top."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    url: OneLine
    path: Annotated[str, Field(max_length=1024), matching(r"[^\0\n]*", "one line")] = ""


class TerraformCloudConfig(BaseModel):
    """`docs/agents/terraform-cloud.md` in code."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    organization: Name
    token: Annotated[str, matching(r"[\x21-\x7e]+", "one word")] = Field(repr=False)
    template: Template
    repository: Repository
    address: Annotated[str, AfterValidator(_address)] = "https://app.terraform.io"
    queue_timeout: Duration = timedelta(minutes=10)
    run_timeout: Duration = timedelta(minutes=15)
    plan_key: Annotated[str, AfterValidator(_long_enough)] | None = Field(default=None, repr=False)


class Access(BaseModel):
    """The part that a sweep needs: it has no target, so it renders no template."""

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)

    organization: Name
    token: str = Field(min_length=1, repr=False)
    address: Annotated[str, AfterValidator(_address)] = "https://app.terraform.io"


def read_config(config: JsonObject) -> TerraformCloudConfig:
    """Raises AgentRejected that names every wrong key, and quotes no value."""
    try:
        return TerraformCloudConfig.model_validate(dict(config))
    except ValidationError as error:
        raise _rejected(complaints(error, TerraformCloudConfig)) from None


def read_access(config: JsonObject) -> Access:
    """Raises AgentRejected, as where a template stands in place of the organization."""
    try:
        return Access.model_validate(dict(config))
    except ValidationError as error:
        raise _rejected(complaints(error, Access)) from None


def check_unrevealed(config: JsonObject) -> None:
    """Raises AgentRejected for what must be a reference and is not."""
    if wrong := _plain_secrets(config):
        raise _rejected(wrong)


def config_complaints(config: JsonObject, *, partial: bool) -> list[Complaint]:
    """What is wrong with a config that was not rendered yet.

    A template or a reference stands for any value; below `template.variables` all is allowed.
    """
    try:
        TerraformCloudConfig.model_validate({**_known(config), **_stand_ins(config)})
    except ValidationError as error:
        found = complaints(error, TerraformCloudConfig)
        kept = [each for each in found if not (each.missing and (partial or _given(config, each)))]
        return _plain_secrets(config) + kept
    return _plain_secrets(config)


def _known(config: JsonObject) -> dict[str, Any]:
    known = {key: value for key, value in config.items() if not is_open(value)}
    for key in ("template", "repository"):
        if isinstance(known.get(key), Mapping):
            known[key] = {k: v for k, v in known[key].items() if not is_open(v)}
    return known


def _stand_ins(config: JsonObject) -> dict[str, str]:
    """References are checked apart; here any value does in their place."""
    return {key: "x" * MIN_KEY_BYTES for key in SECRET_KEYS if config.get(key) is not None}


def _given(config: JsonObject, complaint: Complaint) -> bool:
    found: Any = config
    for step in complaint.path:
        if not isinstance(found, Mapping) or step not in found:
            return isinstance(found, str)
        found = found[step]
    return True


def _plain_secrets(config: JsonObject) -> list[Complaint]:
    return [
        Complaint((key,), "expected a reference: {env: NAME} or {file: PATH}")
        for key in SECRET_KEYS
        if config.get(key) is not None and not _is_reference(config[key])
    ]


def _is_reference(value: Any) -> bool:
    return isinstance(value, Mapping) and secret_reference(value) is not None


def _rejected(found: Sequence[Complaint]) -> AgentRejected:
    told = "; ".join(f"{each.field}: {each.message}" for each in found)
    return AgentRejected(f"the config of the terraform-cloud agent is wrong: {told}")
