"""Which of two states of a pull request is the later one, whatever came in first."""

from dataclasses import replace

from foretell.formats.pull_request.event import Moved
from foretell.ports import PullRequestState


def is_newer(state: PullRequestState, moved: Moved) -> bool | None:
    """Whether the event tells of a later state than the one known; None: nobody can tell.

    GitHub's time has whole seconds. Within one the heads tell: a push names the head before it.
    """
    known, told = state.pull_request, moved.pull_request
    if told.updated_at != known.updated_at:
        return told.updated_at > known.updated_at
    if told == known:
        return True
    follows = bool(moved.before) and moved.before == known.sha
    precedes = bool(state.before) and state.before == told.sha
    # A push there and back within a second follows and precedes itself.
    return follows if follows != precedes else None


def followed(state: PullRequestState | None, moved: Moved) -> PullRequestState:
    """The state after an event that is newer; what was asked for stays with its head."""
    told = moved.pull_request
    if state is None:
        return PullRequestState(told, moved.before)
    before = moved.before if told.sha != state.pull_request.sha else state.before
    return replace(state, pull_request=told, before=before)


def guessed(state: PullRequestState, moved: Moved) -> PullRequestState:
    """Where nobody can tell: the last to come in, but what is closed stays so."""
    return followed(state, moved) if state.pull_request.is_open else state
