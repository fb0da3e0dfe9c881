"""Environment and file -> one frozen Settings. Read once, at the start, by `wiring`.

The environment (`FORETELL_<FIELD>`) beats the YAML file that `FORETELL_CONFIG` names. Every field
is described in docs/reference/settings.md.
"""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from foretell.domain.errors import InvalidRequest, Problem
from foretell.ports import Forks, PlanLimits, PullRequestRules, Role


def default_data_dir() -> Path:
    """Where the embedded database lives: `$XDG_DATA_HOME/foretell`, ~/.local/share by default.

    Root's home is closed to the account that the database runs as: /var/lib/foretell there.
    """
    if os.geteuid() == 0 and "XDG_DATA_HOME" not in os.environ:
        return Path("/var/lib/foretell")
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "foretell"


def default_cache_dir() -> Path:
    """What can be fetched again: `$XDG_CACHE_HOME/foretell`, ~/.cache by default."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "foretell"


Text = Annotated[str, Field(min_length=1)]
GITHUB_ISSUER = "https://token.actions.githubusercontent.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]+/([A-Za-z0-9_.-]+|\*)\Z")


class OidcGrant(BaseModel):
    """Which tokens of an identity provider have a role in a workspace.

    `*` in `ref` and `claims` stands for any text, in `repository` for every name of one owner: a
    token of any repository of the world is as genuine as one's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    workspace: Text
    role: Role = Role.PLANNER
    issuer: str = GITHUB_ISSUER
    audience: Text
    repository: str
    ref: Text
    claims: dict[str, str] = Field(default_factory=dict)

    @field_validator("issuer")
    @classmethod
    def _secure(cls, value: str) -> str:
        if not value.startswith("https://"):
            raise ValueError("expected an https:// address, such as " + GITHUB_ISSUER)
        return value

    @field_validator("repository")
    @classmethod
    def _of_one_owner(cls, value: str) -> str:
        if not _REPOSITORY.match(value):
            raise ValueError("expected OWNER/NAME, or OWNER/* for all of one owner")
        return value


class Settings(BaseSettings):
    """The server's settings. Durations are ISO 8601 (`PT10M`) or seconds."""

    model_config = SettingsConfigDict(env_prefix="FORETELL_", frozen=True, extra="forbid")

    database_url: SecretStr | None = None
    """A PostgreSQL 15 or newer; without it an embedded one is started in `data_dir`."""
    data_dir: Path = Field(default_factory=default_data_dir)
    cache_dir: Path = Field(default_factory=default_cache_dir)
    secret_key: SecretStr | None = None
    """At least 32 bytes, the same for all workers; else one that is made in `data_dir`."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    public_url: str = ""
    """Where people reach the pages; links appear once it is set."""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    worker_concurrency: int = Field(default=16, ge=1, le=256)
    """How many steps one worker process runs at once."""
    sweep_every: timedelta = timedelta(seconds=15)
    chart_roots: tuple[Path, ...] = ()
    """Folders below which a server may read charts and repositories by path; none by default."""
    secret_roots: tuple[Path, ...] = ()
    """Folders below which `{file: PATH}` references may be read by a server; none by default."""
    terraform_cloud_hosts: tuple[str, ...] = ("app.terraform.io", "app.eu.terraform.io")
    """Hosts that a token of the agent terraform-cloud may be sent to by a server."""
    helm: Path | None = None
    """The helm program; else the first `helm` on PATH."""
    terraform: Path | None = None
    """The terraform or tofu program; else the first `terraform`, then `tofu`, on PATH."""
    terraform_repositories: tuple[str, ...] = ()
    """URLs or folders whose configurations a server may plan, and all below them; none by default:
    a plan runs code of the repository."""
    terraform_env: tuple[str, ...] = ()
    """Variables that a server may let through to terraform; none by default."""
    opa: Path | None = None
    """The opa program that judges rules; else the embedded engine, else the first on PATH."""

    argocd_renders_per_second: float = Field(default=50.0, gt=0)
    """Of each Argo CD server, over all workers."""
    argocd_without_temporary: bool = False
    """Ask the original at another revision, where only that differs."""
    plan_ttl: timedelta = timedelta(minutes=10)
    """RFC 0004 `planTTL`: how old a leftover of a dead invocation is before it is removed."""

    plans_per_minute: int = Field(default=30, ge=1)
    plans_computing: int = Field(default=10, ge=1)
    workspace_plans_per_minute: int = Field(default=120, ge=1)
    workspace_plans_computing: int = Field(default=50, ge=1)
    plan_deadline: timedelta = timedelta(minutes=30)
    plan_retention: timedelta = timedelta(hours=1)
    github_plan_retention: timedelta = timedelta(days=14)

    github_token: SecretStr | None = None
    """A token that writes comments and commit statuses; an App writes check runs instead."""
    github_app_id: str = ""
    github_private_key: SecretStr | None = None
    github_private_key_file: Path | None = None
    """The App's key, as PEM text or in a file, which may be replaced while we run."""
    github_api_url: str = "https://api.github.com"
    github_check_prefix: str = Field(default="foretell", min_length=1, max_length=100)
    github_checks_limit: int = Field(default=20, ge=0, le=500)
    """Targets of a plan that get a check each; with more there is one check for all of them."""
    github_webhook_secret: SecretStr | None = None
    """What GitHub signs its events with; without one they are not taken."""
    github_drafts: bool = False
    github_forks: Forks = Forks.OFF
    github_labels: tuple[str, ...] = ()
    github_paths: tuple[str, ...] = ()
    oidc_grants: tuple[OidcGrant, ...] = ()
    """Who may come in with a token of an identity provider instead of one of ours."""

    @field_validator("github_webhook_secret")
    @classmethod
    def _not_empty(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().strip():
            raise ValueError("it is empty, anybody could sign with it: give one, or unset it")
        return value

    def pull_request_rules(self) -> PullRequestRules:
        """Which pull requests are planned without anybody asking."""
        return PullRequestRules(
            self.github_drafts, self.github_forks, self.github_labels, self.github_paths
        )

    def plan_limits(self) -> PlanLimits:
        """The part that the first step needs."""
        return PlanLimits(
            deployment_per_minute=self.plans_per_minute,
            deployment_computing=self.plans_computing,
            workspace_per_minute=self.workspace_plans_per_minute,
            workspace_computing=self.workspace_plans_computing,
            deadline=self.plan_deadline,
            retention=self.plan_retention,
            github_retention=self.github_plan_retention,
        )

    def for_agents(self, *, trusted: bool) -> dict[str, Any]:
        """The part that agents see; `trusted`: anything may be read or planned."""
        return {
            "cacheDir": str(self.cache_dir),
            "helm": str(self.helm) if self.helm else "",
            "terraform": str(self.terraform) if self.terraform else "",
            "terraformRepositories": None if trusted else list(self.terraform_repositories),
            "terraformEnv": None if trusted else list(self.terraform_env),
            "argocdRendersPerSecond": self.argocd_renders_per_second,
            "argocdWithoutTemporary": self.argocd_without_temporary,
            "chartRoots": None if trusted else [str(root) for root in self.chart_roots],
            "terraformCloudHosts": None if trusted else list(self.terraform_cloud_hosts),
        }


def read_settings() -> Settings:
    """The settings of this process. Raises InvalidRequest that names each wrong setting."""
    try:
        return Settings(**_from_file(os.environ.get("FORETELL_CONFIG", "")))
    except ValidationError as error:
        problems = [
            Problem("settings", ".".join(map(str, one["loc"])), one["msg"])
            for one in error.errors(include_input=False, include_url=False)
        ]
        raise InvalidRequest("the settings can't be used", problems) from error


def _from_file(path: str) -> dict[str, Any]:
    """The file's values that the environment does not set: keyword arguments would beat it."""
    if not path:
        return {}
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise InvalidRequest(f"FORETELL_CONFIG={path} can't be read: {error}") from error
    if not isinstance(content, dict):
        raise InvalidRequest(f"FORETELL_CONFIG={path} must hold a map of settings")
    return {
        key: value for key, value in content.items() if f"FORETELL_{key.upper()}" not in os.environ
    }
