"""What only the forge knows. Not to be allowed to ask is an answer: the careful one."""

import structlog

from foretell.domain.errors import Forbidden, ForetellError
from foretell.engine.pull_request.tools import Tools
from foretell.formats.pull_request.event import PlanAsked
from foretell.formats.pull_request.head import PullRequest
from foretell.ports import Reaction

_log = structlog.get_logger()


async def may_write(tools: Tools, owner: str, repo: str, login: str) -> bool:
    """Whether that person may push; nobody may where nobody can be asked."""
    if tools.forge is None:
        return False
    try:
        return await tools.forge.may_write(owner, repo, login)
    except Forbidden as error:
        _log.warning("forge.forbidden", error=error.message)
        return False


async def current(tools: Tools, owner: str, repo: str, number: int) -> PullRequest | None:
    """The pull request as it stands now, where that can be seen."""
    if tools.forge is None:
        return None
    try:
        return await tools.forge.pull_request(owner, repo, number)
    except Forbidden as error:
        _log.warning("forge.forbidden", error=error.message)
        return None


async def changed_files(tools: Tools, pull_request: PullRequest) -> frozenset[str] | None:
    """Every path that it touches; None: it can't be told, and nothing be ruled out."""
    if tools.forge is None:
        return None
    owner, repo, number = pull_request.owner, pull_request.repo, pull_request.number
    try:
        return await tools.forge.changed_files(owner, repo, number)
    except Forbidden as error:
        _log.warning("forge.forbidden", error=error.message)
        return None


async def react(tools: Tools, ask: PlanAsked, reaction: Reaction) -> None:
    """Answer the comment; an answer that can't be given keeps nobody from the plan."""
    if tools.forge is None:
        return
    try:
        await tools.forge.react(ask.owner, ask.repo, ask.comment_id, reaction)
    except ForetellError as error:
        _log.warning("comment.unanswered", comment=ask.comment_id, error=error.message)
