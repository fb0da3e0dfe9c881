"""What is asked for: the plans of a head, each under a key that makes twice once."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import structlog

from foretell.domain.digest import digest
from foretell.domain.errors import InvalidRequest, NotFound, RateLimited, Unavailable
from foretell.domain.plan import DeploymentId, GithubRef, PlanRequest, WorkspaceId
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.head import PullRequest

KEY_PREFIX = "webhook:"
_log = structlog.get_logger()


def request_of(pull_request: PullRequest) -> PlanRequest:
    """The head commit as the version to plan, with the names of RFC 0004's metadata."""
    return PlanRequest(
        tag=pull_request.sha,
        metadata={
            "github/owner": pull_request.owner,
            "github/repo": pull_request.repo,
            "github/pull-request": str(pull_request.number),
            "github/base": pull_request.base,
            "git/sha": pull_request.sha,
            "git/branch": pull_request.branch,
        },
        github=GithubRef(
            pull_request.owner, pull_request.repo, pull_request.sha, pull_request.number
        ),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """One plan to ask for."""

    workspace_id: WorkspaceId
    deployment_id: DeploymentId
    request: PlanRequest


async def submit_all(tools: Tools, wanted: Sequence[Wanted], cause: str) -> None:
    """Ask for each plan; `cause`, the id of an event, tells one asking from another.

    One that can't be had keeps none of the others. Raises the last Unavailable or RateLimited:
    then all are to be asked for again, and those that were are the same plans.
    """
    failed: RateLimited | Unavailable | None = None
    for one in wanted:
        key = KEY_PREFIX + digest("webhook1", [cause, asdict(one.request)])
        try:
            await tools.submits(one.workspace_id, one.deployment_id, one.request, key)
        except (RateLimited, Unavailable) as error:
            failed = error
        except (InvalidRequest, NotFound) as error:
            _log.warning("webhook.not_planned", deployment=one.deployment_id, error=error.message)
    if failed:
        raise failed
