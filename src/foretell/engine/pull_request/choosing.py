"""Which of a repository's deployments are meant: by a comment, or by the files that changed."""

from collections.abc import Sequence

from foretell.domain.plan import WorkspaceId
from foretell.domain.target import Deployment
from foretell.engine.pull_request.questions import changed_files
from foretell.engine.pull_request.rules import allow_files
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import PlanAsked
from foretell.formats.pull_request.head import PullRequest

Chosen = Sequence[tuple[WorkspaceId, Deployment]]
PATHS_LABEL = "github/paths"
"""A deployment's own patterns, in its metadata: a list, or a text with commas."""


def named_by(ask: PlanAsked, everything: Chosen) -> Chosen:
    """The deployments that a comment names; none where one of the names is none of them."""
    if not ask.deployments:
        return everything
    wanted = {name.lower() for name in ask.deployments}
    chosen = [one for one in everything if wanted & _names(one[1])]
    found = {name for _, deployment in chosen for name in _names(deployment)}
    return chosen if wanted <= found else []


def _names(deployment: Deployment) -> set[str]:
    return {deployment.id.lower(), deployment.slug.lower(), deployment.name.lower()}


async def touched(tools: Tools, pull_request: PullRequest, everything: Chosen) -> Chosen:
    """The deployments for which a changed file matters; all where that can't be told."""
    patterns = {deployment.id: _paths(tools, deployment) for _, deployment in everything}
    if not any(patterns.values()):
        return everything
    files = await changed_files(tools, pull_request)
    if files is None:
        return everything
    return [
        one
        for one in everything
        if not patterns[one[1].id] or allow_files(patterns[one[1].id], files)
    ]


def _paths(tools: Tools, deployment: Deployment) -> Sequence[str]:
    """The deployment's own patterns; where it has none, those of the settings."""
    own = deployment.metadata.get(PATHS_LABEL)
    listed = (
        own.split(",") if isinstance(own, str) else own if isinstance(own, list | tuple) else ()
    )
    found = [text.strip() for text in listed if isinstance(text, str) and text.strip()]
    return found or tools.rules.paths
