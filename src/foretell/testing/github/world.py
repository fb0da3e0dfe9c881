"""The fake's state, and what a test does to it: push, close, delete, install, revoke."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count

from foretell.ports import Clock
from foretell.testing.github.keys import public_key
from foretell.testing.github.state import (
    Actor,
    App,
    Check,
    Comment,
    Permissions,
    Pull,
    Refused,
    Repo,
    StatusRow,
)

APP_PERMISSIONS: Permissions = {
    "checks": "write",
    "contents": "read",
    "metadata": "read",
    "pull_requests": "write",
}
WORKFLOW_BOT = "github-actions"


class World:
    """Everything that GitHub remembers."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.repos: dict[str, Repo] = {}
        self.moved: dict[str, Repo] = {}
        self.pulls: dict[tuple[int, int], Pull] = {}
        """By the repository's id and the number."""
        self.comments: dict[int, Comment] = {}
        self.checks: dict[int, Check] = {}
        self.statuses: list[StatusRow] = []
        self.apps: dict[int, App] = {}
        self.tokens: dict[str, Actor] = {}
        self.expiries: dict[str, float] = {}
        self.ids = count(1001)

    def add_repository(self, full_name: str, *, fork_of: str = "") -> Repo:
        """`owner/name`."""
        owner, _, name = full_name.partition("/")
        repo = Repo(next(self.ids), owner, name, self.clock.now(), fork_of=fork_of)
        self.repos[full_name.lower()] = repo
        return repo

    def rename(self, full_name: str, to: str) -> None:
        """The old name answers with where it went."""
        repo = self.repos.pop(full_name.lower())
        repo.owner, _, repo.name = to.partition("/")
        self.repos[to.lower()] = self.moved[full_name.lower()] = repo

    def add_pull(
        self,
        full_name: str,
        number: int,
        sha: str,
        *,
        author: str = "octocat",
        fork: str = "",
        state: str = "open",
    ) -> Pull:
        """`fork`: the full name of the repository that the branch is in."""
        repo = self.repo(full_name)
        head = self.repo(fork) if fork else repo
        found = Pull(next(self.ids), repo, number, sha, head, author, self.clock.now(), state)
        self.pulls[(repo.id, number)] = found
        return found

    def push(self, full_name: str, number: int, sha: str) -> None:
        """The pull request has a new head."""
        self.pull(self.repo(full_name), number).sha = sha

    def add_app(
        self,
        id: int,
        slug: str,
        private_key: str,
        *,
        owners: Sequence[str],
        permissions: Permissions = APP_PERMISSIONS,
    ) -> App:
        """An App that is installed on everything that `owners` have."""
        installations = {owner.lower(): next(self.ids) for owner in owners}
        keys = [public_key(private_key)] if private_key else []
        now = self.clock.now()
        found = App(id, slug, "acme", keys, permissions, now, installations)
        self.apps[id] = found
        return found

    def add_token(self, token: str, login: str, permissions: Permissions) -> None:
        """A personal token, or a workflow's (`ghs_…`), which is one of the workflows' App."""
        app = None
        if token.startswith("ghs_"):
            app = 15368
            self.apps.setdefault(
                app, App(app, WORKFLOW_BOT, "github", [], permissions, self.clock.now())
            )
        self.tokens[token] = Actor(login, permissions, account=login, app=app)

    def revoke_tokens(self) -> None:
        """Every installation token is void at once."""
        for token in [token for token, actor in self.tokens.items() if actor.app]:
            del self.tokens[token]

    def add_comment(
        self, full_name: str, number: int, login: str, body: str, *, app: int | None = None
    ) -> Comment:
        """Somebody else's, or a former one of ours."""
        now = self.clock.now()
        repo = self.repo(full_name)
        found = Comment(next(self.ids), repo, number, login, app, body, now, now)
        self.comments[found.id] = found
        return found

    def repo(self, full_name: str) -> Repo:
        """By full name, in any case; Refused 404."""
        found = self.repos.get(full_name.lower())
        if found is None:
            raise Refused(404, "Not Found")
        return found

    def pull(self, repo: Repo, number: int) -> Pull:
        """By number; Refused 404."""
        found = self.pulls.get((repo.id, number))
        if found is None:
            raise Refused(404, "Not Found")
        return found

    def comments_of(self, full_name: str, number: int) -> list[Comment]:
        """Those of a pull request, oldest first."""
        repo = self.repo(full_name)
        return [one for one in self.comments.values() if one.repo is repo and one.number == number]

    def checks_of(self, full_name: str, sha: str) -> list[Check]:
        """Those of a commit, oldest first."""
        repo = self.repo(full_name)
        return [one for one in self.checks.values() if one.repo is repo and one.head_sha == sha]

    def statuses_of(self, full_name: str, sha: str) -> dict[str, StatusRow]:
        """The newest of each context."""
        repo = self.repo(full_name)
        return {one.context: one for one in self.statuses if one.repo is repo and one.sha == sha}

    def lives_for(self, token: str, period: timedelta) -> None:
        """Until when a token is good."""
        self.expiries[token] = (self.clock.now() + period).timestamp()
