"""Which reporters this installation has: GitHub where it has credentials for it, else none."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from foretell.domain.digest import derived_key
from foretell.domain.errors import InvalidRequest
from foretell.kit.clock import RandomIds, SystemClock
from foretell.kit.http import Http, Options, Patience
from foretell.ports import Budget, Reporter, Store
from foretell.reporters.github.auth import Access, AppAccess, TokenAccess, check_key
from foretell.reporters.github.client import Github
from foretell.reporters.github.reporter import GithubReporter, Style
from foretell.settings import Settings

_PATIENCE = Patience(
    read_for=timedelta(seconds=20), attempts=3, longest_pause=timedelta(seconds=10)
)
"""Short: who is not heard of is told again by the queue."""


def reporters(
    settings: Settings, store: Store, github: Github | None, key: bytes
) -> list[Reporter]:
    """The reporters of an installation; `key` is its own, under which markers are signed."""
    if github is None:
        return []
    style = Style(
        prefix=settings.github_check_prefix,
        checks_limit=settings.github_checks_limit,
        key=derived_key(key, "github marker"),
    )
    return [GithubReporter(store, github, RandomIds(), style)]


@asynccontextmanager
async def open_github(settings: Settings, budget: Budget) -> AsyncIterator[Github | None]:
    """The client of the settings' GitHub; None where there are no credentials for it.

    Raises InvalidRequest for credentials that can't be used.
    """
    _check_credentials(settings)
    token = settings.github_token.get_secret_value() if settings.github_token else ""
    if not token and not settings.github_app_id:
        yield None
        return
    options = Options(secrets=frozenset({token} if token else ()), patience=_PATIENCE)
    clock = SystemClock()
    async with Http(settings.github_api_url, options) as http:
        access: Access
        if token:
            access = TokenAccess(http, token)
        else:
            keys = _keys(settings)
            check_key(keys())
            access = AppAccess(http, settings.github_app_id, keys, clock)
        yield Github(http, access, budget, clock)


def _check_credentials(settings: Settings) -> None:
    keys = [settings.github_private_key, settings.github_private_key_file]
    if settings.github_token and settings.github_app_id:
        raise InvalidRequest(
            "FORETELL_GITHUB_TOKEN and FORETELL_GITHUB_APP_ID are both set: set one of them"
        )
    if settings.github_app_id and sum(one is not None for one in keys) != 1:
        raise InvalidRequest(
            "FORETELL_GITHUB_APP_ID needs the App's key: set one of"
            " FORETELL_GITHUB_PRIVATE_KEY and FORETELL_GITHUB_PRIVATE_KEY_FILE"
        )
    if not settings.github_app_id and any(keys):
        raise InvalidRequest("a GitHub App's key is set, but not FORETELL_GITHUB_APP_ID")


def _keys(settings: Settings) -> Callable[[], str]:
    """Read at each use, so that a file which is replaced is taken up."""
    if settings.github_private_key is not None:
        return settings.github_private_key.get_secret_value
    path = settings.github_private_key_file
    assert path is not None, "one of them is set"
    return lambda: _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(
            f"FORETELL_GITHUB_PRIVATE_KEY_FILE={path} can't be read: {type(error).__name__}"
        ) from error
