"""Apps, their installations and tokens; and who a token belongs to."""

from datetime import timedelta

from foretell.testing.github import shapes
from foretell.testing.github.request import Request, Response, Route, paged
from foretell.testing.github.state import Actor, App, Refused
from foretell.testing.github.world import World

TOKEN_LIVES_FOR = timedelta(hours=1)
_LEVELS = ("", "read", "write", "admin")


def _app(world: World, request: Request) -> App:
    if not request.actor.is_app_itself or request.actor.app is None:
        raise Refused(401, "A JSON web token could not be decoded")
    return world.apps[request.actor.app]


def _own(world: World, request: Request) -> Response:
    return Response(200, shapes.app(_app(world, request)))


def _installations(world: World, request: Request) -> Response:
    app = _app(world, request)
    found = list(app.installations.items())
    return paged(request, found, lambda one: shapes.installation(app, *one))


def _installation(world: World, request: Request) -> Response:
    app = _app(world, request)
    repo = world.repo(f"{request.parts['owner']}/{request.parts['repo']}")
    number = app.installations.get(repo.owner.lower())
    if number is None:
        raise Refused(404, "Not Found")
    return Response(200, shapes.installation(app, repo.owner, number))


def _token(world: World, request: Request) -> Response:
    app = _app(world, request)
    number = request.number("installation_id")
    owner = next((name for name, id in app.installations.items() if id == number), None)
    if owner is None:
        raise Refused(404, "Not Found")
    asked = request.body.get("permissions") or app.permissions
    for name, level in asked.items():
        if _LEVELS.index(app.permissions.get(name, "")) < _LEVELS.index(level):
            raise Refused(
                422,
                "The permissions requested are not granted to this installation.",
            )
    names = request.body.get("repositories")
    token = f"ghs_{next(world.ids)}"
    world.tokens[token] = Actor(
        login=f"{app.slug}[bot]",
        permissions=asked,
        account=owner,
        app=app.id,
        repositories=_full_names(owner, names),
    )
    world.lives_for(token, TOKEN_LIVES_FOR)
    expires_at = shapes.moment(world.clock.now() + TOKEN_LIVES_FOR)
    return Response(201, {"token": token, "expires_at": expires_at, "permissions": dict(asked)})


def _full_names(owner: str, names: list[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(f"{owner}/{name}".lower() for name in names)


def _user(world: World, request: Request) -> Response:
    if request.actor.app is not None:
        raise Refused(403, "Resource not accessible by integration")
    login = request.actor.login
    at = shapes.moment(world.clock.now())
    nothing = ("bio", "blog", "company", "email", "hireable", "location", "name")
    return Response(
        200,
        {
            **shapes.user(login),
            **dict.fromkeys(nothing),
            **dict.fromkeys(("followers", "following", "public_gists", "public_repos"), 0),
            "created_at": at,
            "updated_at": at,
        },
    )


ROUTES = (
    Route("GET", "/app", (), _own),
    Route("GET", "/app/installations", (), _installations),
    Route("GET", "/repos/{owner}/{repo}/installation", (), _installation),
    Route("POST", "/app/installations/{installation_id}/access_tokens", (), _token),
    Route("GET", "/user", (), _user),
)
