"""Which pull request a commit is the head of, and whether it still is."""

from dataclasses import dataclass

from foretell.domain.errors import NotFound
from foretell.domain.plan import GithubRef
from foretell.reporters.github.auth import Repository
from foretell.reporters.github.client import Github


@dataclass(frozen=True, slots=True)
class Head:
    """Where to show: `pr_number` None for a commit without one; `has_moved`: it is no head now."""

    repository: Repository
    pr_number: int | None
    commit: str
    has_moved: bool = False


async def find_head(github: Github, ref: GithubRef) -> Head:
    """One call. Of several pull requests with this head an open one, the newest, is meant."""
    repository = Repository(ref.owner, ref.repo)
    if ref.pr_number is not None:
        found = await github.get(repository, f"pulls/{ref.pr_number}")
        sha = found["head"]["sha"]
        if sha.startswith(ref.sha.lower()):
            return Head(repository, ref.pr_number, sha)
        return Head(repository, ref.pr_number, ref.sha.lower(), has_moved=True)
    try:
        pulls = [one async for one in github.pages(repository, f"commits/{ref.sha}/pulls")]
    except NotFound:  # a commit that nobody pushed yet, or of a repository without pull requests
        pulls = []
    own = [one for one in pulls if one["head"]["sha"].startswith(ref.sha.lower())]
    own.sort(key=lambda one: (one["state"] == "open", one["number"]))
    if not own:
        return Head(repository, None, ref.sha.lower())
    return Head(repository, own[-1]["number"], own[-1]["head"]["sha"])
