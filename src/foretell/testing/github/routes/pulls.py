"""Pull requests, the files they change, and who may write to the repository."""

from foretell.testing.github import shapes
from foretell.testing.github.request import Request, Response, Route, paged
from foretell.testing.github.state import Refused
from foretell.testing.github.world import World

_READ = (("pull_requests", "read"),)
_METADATA = (("metadata", "read"),)
_FILES_LISTED = 3000


def _list(world: World, request: Request) -> Response:
    repo = request.repo(world)
    state = request.query.get("state", "open")
    found = [
        one for one in world.pulls.values() if one.repo is repo and state in (one.state, "all")
    ]
    found.sort(key=lambda one: -one.number)
    return paged(request, found, shapes.pull)


def _get(world: World, request: Request) -> Response:
    found = world.pull(request.repo(world), request.number("pull_number"))
    return Response(200, shapes.full_pull(found))


def _files(world: World, request: Request) -> Response:
    pull = world.pull(request.repo(world), request.number("pull_number"))
    found = pull.files[:_FILES_LISTED]
    return paged(request, found, lambda path: shapes.changed_file(pull, path))


def _of_commit(world: World, request: Request) -> Response:
    repo = request.repo(world)
    sha = request.parts["commit_sha"]
    found = [one for one in world.pulls.values() if one.repo is repo and one.sha == sha]
    return paged(request, found, shapes.pull)


def _permission(world: World, request: Request) -> Response:
    repo = request.repo(world)
    login = request.parts["username"]
    role = repo.permissions.get(login, "none")
    if role == "unknown":
        raise Refused(404, f"{login} is not a user")
    coarse = {"maintain": "write", "triage": "read"}.get(role, role)
    who = {**shapes.user(login), "role_name": role}
    return Response(200, {"permission": coarse, "role_name": role, "user": who})


def _repository(world: World, request: Request) -> Response:
    return Response(200, shapes.repository(request.repo(world)))


_ALL = "/repos/{owner}/{repo}/pulls"
ROUTES = (
    Route("GET", "/repos/{owner}/{repo}", _METADATA, _repository),
    Route("GET", _ALL, _READ, _list),
    Route("GET", _ALL + "/{pull_number}", _READ, _get),
    Route("GET", _ALL + "/{pull_number}/files", _READ, _files),
    Route("GET", "/repos/{owner}/{repo}/commits/{commit_sha}/pulls", _READ, _of_commit),
    Route(
        "GET",
        "/repos/{owner}/{repo}/collaborators/{username}/permission",
        _METADATA,
        _permission,
    ),
)
