"""A call that came in, as the fake's routes read it, and their answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from foretell.testing.github.shapes import API
from foretell.testing.github.state import Actor, Refused, Repo
from foretell.testing.github.world import World

T = TypeVar("T")
MAX_PAGE = 100


@dataclass(frozen=True, slots=True)
class Request:
    """`parts` are the pieces of the path that the route names."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
    actor: Actor
    parts: Mapping[str, str]

    def repo(self, world: World) -> Repo:
        """The repository that the path names, where the token is for it."""
        full_name = f"{self.parts['owner']}/{self.parts['repo']}".lower()
        allowed = self.actor.repositories
        if allowed is not None and full_name not in allowed:
            raise Refused(404, "Not Found")
        return world.repo(full_name)

    def number(self, name: str) -> int:
        """A number of the path."""
        return int(self.parts[name])

    def text(self, name: str, *, limit: int | None = None) -> str:
        """A text of the body, "" where there is none; Refused 422 above `limit` characters."""
        found = self.body.get(name) or ""
        if not isinstance(found, str):
            raise invalid(name, f"{name} is not a string")
        if limit is not None and len(found) > limit:
            raise invalid(name, f"{name} is too long (maximum is {limit} characters)")
        return found


@dataclass(frozen=True, slots=True)
class Response:
    """`body` is sent as JSON; None is nothing."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        """The body as it is sent."""
        return b"" if self.body is None else json.dumps(self.body).encode()


@dataclass(frozen=True, slots=True)
class Route:
    """`needs`: the permissions any of which is enough; empty: the App itself, or nobody."""

    method: str
    template: str
    needs: Sequence[tuple[str, str]]
    answer: Callable[[World, Request], Response]


def invalid(field: str, message: str) -> Refused:
    """GitHub's 422."""
    problem = {"resource": "Record", "code": "custom", "field": field, "message": message}
    return Refused(422, "Validation Failed", [problem])


def paged(
    request: Request, found: Sequence[T], shape: Callable[[T], Any], under: str = ""
) -> Response:
    """One page of a list, and the links to the others (REST docs, "Using pagination")."""
    size = min(int(request.query.get("per_page", "30")), MAX_PAGE)
    number = max(int(request.query.get("page", "1")), 1)
    shown = [shape(one) for one in found[(number - 1) * size : number * size]]
    headers = {"link": _link(request, size, number + 1)} if number * size < len(found) else {}
    body = {"total_count": len(found), under: shown} if under else shown
    return Response(200, body, headers)


def _link(request: Request, size: int, number: int) -> str:
    return f'<{API}{request.path}?per_page={size}&page={number}>; rel="next"'
