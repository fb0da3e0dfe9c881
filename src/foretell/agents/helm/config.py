"""The `config` of a job agent of type `helm`, after templates and references."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.inventory.durations import Duration
from foretell.inventory.open_config import is_open, matching, open_complaints
from foretell.inventory.wording import Complaint, complaints

_Label = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
ReleaseName = Annotated[
    str, matching(rf"(?=.{{1,53}}\Z){_Label}", "at most 53 of a-z, 0-9, '-' and '.'")
]
Namespace = Annotated[
    str, matching(rf"(?=.{{1,63}}\Z){_Label}", "the name of a Kubernetes namespace")
]
KubeVersion = Annotated[str, matching(r"v?1\.\d+(\.\d+)?\S{0,40}", "a version such as 1.33")]
ApiVersion = Annotated[
    str, matching(r"[A-Za-z0-9][\w./-]{0,252}", "an API such as batch/v1 or batch/v1/CronJob")
]
Text = Annotated[str, Field(min_length=1, max_length=2048), matching(r"[^\0\n]*", "one line")]


class HelmConfig(BaseModel):
    """`docs/agents/helm.md` in code. Nothing is converted: "1.30" is a version, 1.30 is 1.3."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    chart: Text
    repo_url: Text | None = Field(default=None, alias="repoURL")
    revision: Text | None = None
    release_name: ReleaseName | None = None
    namespace: Namespace = "default"
    kube_version: KubeVersion | None = None
    api_versions: list[ApiVersion] = []
    values: dict[str, Any] = {}
    values_files: list[Text] = []
    kubeconfig: Annotated[str, Field(min_length=1)] | None = None
    timeout: Duration = timedelta(seconds=60)


def read_config(config: JsonObject) -> HelmConfig:
    """Raises AgentRejected that names every wrong key, and quotes no value."""
    try:
        return HelmConfig.model_validate(dict(config))
    except ValidationError as error:
        raise _rejected(complaints(error, HelmConfig)) from None


def check_unrevealed(config: JsonObject) -> None:
    """Raises AgentRejected for what must be a reference and is not."""
    if wrong := list(_plain_secrets(config)):
        raise _rejected(wrong)


def _rejected(found: Sequence[Complaint]) -> AgentRejected:
    told = "; ".join(f"{each.field}: {each.message}" for each in found)
    return AgentRejected(f"the config of the helm agent is wrong: {told}")


def _plain_secrets(config: JsonObject) -> list[Complaint]:
    given = config.get("kubeconfig")
    if given is None or is_open(given):
        return []
    return [Complaint(("kubeconfig",), "expected a reference: {file: PATH} or {env: NAME}")]


def config_complaints(config: JsonObject, *, partial: bool) -> list[Complaint]:
    """What is wrong with a config that was not rendered yet."""
    shape = {**config, "kubeconfig": None}
    return _plain_secrets(config) + open_complaints(shape, HelmConfig, partial=partial)
