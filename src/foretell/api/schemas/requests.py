"""Bodies of requests: camelCase, unknown fields are errors, nothing is converted."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from foretell.domain.context import Deployed, Version
from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.plan import GithubRef, JsonObject, PlanRequest
from foretell.inventory.load.schema import Map, Name, Part, Slug
from foretell.inventory.wording import complaints

_REPOSITORY_WORD = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
_SHA = re.compile(r"[0-9a-fA-F]{4,64}\Z")
REASON_LENGTH = 1_000
_LABELS = {"owner": "github/owner", "repo": "github/repo", "sha": "git/sha"}


def _repository_word(value: str) -> str:
    if not _REPOSITORY_WORD.match(value):
        raise PydanticCustomError("github", "expected letters, digits and . _ - as GitHub has them")
    return value


def _sha(value: str) -> str:
    if not _SHA.match(value):
        raise PydanticCustomError("sha", "expected a commit: 4 to 64 hexadecimal digits")
    return value


def _reason(value: str) -> str:
    if not value.strip() or len(value) > REASON_LENGTH:
        raise PydanticCustomError("reason", "expected a reason of 1 to 1000 characters")
    return value.strip()


RepositoryWord = Annotated[str, AfterValidator(_repository_word)]
Sha = Annotated[str, AfterValidator(_sha)]
Reason = Annotated[str, AfterValidator(_reason)]


class GithubBody(Part):
    """Where the results are wanted (RFC 0004 "GitHub integration")."""

    owner: RepositoryWord
    repo: RepositoryWord
    sha: Sha
    pr_number: int | None = Field(default=None, ge=1)

    def ref(self) -> GithubRef:
        """In the domain's words."""
        return GithubRef(self.owner, self.repo, self.sha, self.pr_number)


class VersionBody(Part):
    """A version as it would be created."""

    tag: Name
    name: str = ""
    config: Map = Field(default_factory=dict)
    job_agent_config: Map = Field(default_factory=dict)
    metadata: Map = Field(default_factory=dict)


class _Scope(Part):
    github: GithubBody | None = None
    environment_selector: str = ""
    resource_selector: str = ""


class PlanBody(VersionBody, _Scope):
    """RFC 0004 "API": the fields mirror those that create a version."""

    def request(self) -> PlanRequest:
        """In the domain's words."""
        return _request(self, self.metadata, self)


class NestedPlanBody(_Scope):
    """The same with the version in an object of its own; `metadata` beside it wins."""

    version: VersionBody
    metadata: Map = Field(default_factory=dict)

    def request(self) -> PlanRequest:
        """In the domain's words."""
        return _request(self.version, {**self.version.metadata, **self.metadata}, self)


def plan_model(body: JsonObject) -> type[PlanBody] | type[NestedPlanBody]:
    """Which of the two forms the body has."""
    return NestedPlanBody if "version" in body else PlanBody


def _request(version: VersionBody, metadata: JsonObject, scope: _Scope) -> PlanRequest:
    return PlanRequest(
        tag=version.tag,
        name=version.name,
        config=version.config,
        job_agent_config=version.job_agent_config,
        metadata=metadata,
        github=scope.github.ref() if scope.github else _labelled(metadata),
        environment_selector=scope.environment_selector,
        resource_selector=scope.resource_selector,
    )


def _labelled(metadata: JsonObject) -> GithubRef | None:
    """The commit that the metadata names, if all of `github/owner github/repo git/sha` are there.

    Raises InvalidRequest where one of them can't be what it says.
    """
    found: dict[str, Any] = {name: metadata.get(label) for name, label in _LABELS.items()}
    if None in found.values():
        return None
    try:
        return GithubBody.model_validate(found).ref()
    except ValidationError as error:
        problems = [
            Problem("body", f"metadata.{_LABELS[each.field]}", each.message)
            for each in complaints(error, GithubBody)
        ]
        raise InvalidRequest("the metadata names no commit of GitHub", problems) from error


class CurrentBody(Part):
    """What is deployed on a target now; `variables` null: as the inventory resolves them."""

    tag: Name
    name: str = ""
    config: Map = Field(default_factory=dict)
    metadata: Map = Field(default_factory=dict)
    variables: Map | None = None
    content_hash: str = Field(default="", max_length=200)

    def deployed(self) -> Deployed:
        """In the domain's words."""
        version = Version(self.tag, self.name, self.config, self.metadata)
        return Deployed(version, self.variables, self.content_hash)


class OverrideBody(Part):
    """Who answers for a denial says why. `policy` is needed where two have a rule of that name."""

    rule: Name
    reason: Reason
    policy: str = ""
    target: str = ""


class WorkspaceBody(Part):
    """A workspace's name; `slug` renames one, and is otherwise that of the address."""

    name: Name | None = None
    slug: Slug | None = None
