"""Comments of pull requests, and reactions to them."""

from foretell.testing.github import shapes
from foretell.testing.github.request import Request, Response, Route, invalid, paged
from foretell.testing.github.state import Comment, Refused
from foretell.testing.github.world import World

BODY_LIMIT = 65_536
_READ = (("pull_requests", "read"), ("issues", "read"))
_WRITE = (("pull_requests", "write"), ("issues", "write"))
_REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def _shown(world: World, found: Comment) -> object:
    return shapes.comment(found, world.apps.get(found.app) if found.app else None)


def _found(world: World, request: Request) -> Comment:
    found = world.comments.get(request.number("comment_id"))
    if found is None or found.repo is not request.repo(world):
        raise Refused(404, "Not Found")
    return found


def _body(request: Request) -> str:
    body = request.text("body")
    if not body:
        raise invalid("body", "body can't be blank")
    if len(body) > BODY_LIMIT:
        raise invalid("data", f"Body is too long (maximum is {BODY_LIMIT} characters)")
    return body


def _list(world: World, request: Request) -> Response:
    pull = world.pull(request.repo(world), request.number("issue_number"))
    found = world.comments_of(pull.repo.full_name, pull.number)
    return paged(request, found, lambda one: _shown(world, one))


def _create(world: World, request: Request) -> Response:
    pull = world.pull(request.repo(world), request.number("issue_number"))
    actor = request.actor
    found = world.add_comment(
        pull.repo.full_name, pull.number, actor.login, _body(request), app=actor.app
    )
    return Response(201, _shown(world, found))


def _get(world: World, request: Request) -> Response:
    return Response(200, _shown(world, _found(world, request)))


def _update(world: World, request: Request) -> Response:
    found = _found(world, request)
    if found.author != request.actor.login and request.actor.app is not None:
        raise Refused(403, "Resource not accessible by integration")
    found.body = _body(request)
    found.updated_at = world.clock.now()
    found.writes += 1
    return Response(200, _shown(world, found))


def _delete(world: World, request: Request) -> Response:
    del world.comments[_found(world, request).id]
    return Response(204)


def _reactions(world: World, request: Request) -> Response:
    found = _found(world, request)
    at = world.clock.now()
    numbered = list(enumerate(found.reactions, found.id * 10))
    return paged(request, numbered, lambda one: shapes.reaction(one[0], *one[1], at))


def _react(world: World, request: Request) -> Response:
    found = _found(world, request)
    content = request.text("content")
    if content not in _REACTIONS:
        raise invalid("content", f"expected one of {', '.join(_REACTIONS)}")
    mine = (request.actor.login, content)
    status = 200 if mine in found.reactions else 201
    if status == 201:
        found.reactions.append(mine)
    number = found.id * 10 + found.reactions.index(mine)
    return Response(status, shapes.reaction(number, *mine, world.clock.now()))


_ONE = "/repos/{owner}/{repo}/issues/comments/{comment_id}"
_ALL = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
ROUTES = (
    Route("GET", _ALL, _READ, _list),
    Route("POST", _ALL, _WRITE, _create),
    Route("GET", _ONE, _READ, _get),
    Route("PATCH", _ONE, _WRITE, _update),
    Route("DELETE", _ONE, _WRITE, _delete),
    Route("GET", f"{_ONE}/reactions", _READ, _reactions),
    Route("POST", f"{_ONE}/reactions", _WRITE, _react),
)
