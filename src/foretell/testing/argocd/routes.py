"""Which call is which: methods and paths of `assets/swagger.json` of argoproj/argo-cd."""

import copy
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import unquote

from foretell.testing.argocd.refused import INVALID, NOT_FOUND, UNKNOWN, Refused, denied
from foretell.testing.argocd.rendering import type_of
from foretell.testing.argocd.state import Document, ServerState, project_of, sources_of
from foretell.testing.argocd.web import Request

Route = Callable[[ServerState, Request, str], Awaitable[Any]]


async def answered(state: ServerState, request: Request) -> Any:
    """The body for a call. Raises Refused."""
    for method, pattern, route in _ROUTES:
        found = re.fullmatch(pattern, request.path)
        if found and method == request.method:
            return await route(state, request, unquote(found[1]) if found.groups() else "")
    raise Refused(NOT_FOUND, "Not Found")


async def _version(state: ServerState, request: Request, _: str) -> Any:
    return {"Version": "v3.1.9+fake"}


async def _list(state: ServerState, request: Request, _: str) -> Any:
    names, projects = request.query.get("name"), request.query.get("projects")
    selector, repo = request.one("selector"), request.one("repo")
    found = [
        each
        for name, each in sorted(state.applications.items())
        if (not names or name in names)
        and (not projects or project_of(each) in projects)
        and (not selector or _selects(selector, each))
        and (not repo or any(repo == one["repoURL"] for one in sources_of(each["spec"])))
        and state.may(request, "get", f"{project_of(each)}/{name}")
    ]
    state.needs(
        request, "get", [f"{project_of(each)}/{each['metadata']['name']}" for each in found]
    )
    return {"metadata": {}, "items": found or None}


def _selects(selector: str, application: Document) -> bool:
    labels = application["metadata"].get("labels") or {}
    return all(
        labels.get(name) == value
        for name, _, value in (part.partition("=") for part in selector.split(","))
    )


async def _get(state: ServerState, request: Request, name: str) -> Any:
    application = state.found(request, name, "get")
    condition = state.faults.condition(name)
    if condition is None:
        return application
    conditions = [{"type": condition[0], "message": condition[1]}]
    return application | {"status": application.get("status", {}) | {"conditions": conditions}}


async def _create(state: ServerState, request: Request, _: str) -> Any:
    application = copy.deepcopy(request.body)
    name = application["metadata"]["name"]
    object = f"{project_of(application)}/{name}"
    state.allow(request, "create", object)
    state.check_spec(application)
    there = state.applications.get(name)
    if there is None:
        return state.store(application)
    if _is_same(there, application):
        return there
    if request.one("upsert") != "true":
        raise Refused(
            INVALID, "existing application spec is different, use upsert flag to force update"
        )
    state.allow(request, "update", object)
    application["metadata"]["creationTimestamp"] = there["metadata"]["creationTimestamp"]
    return state.store(application) | {"status": there.get("status", {})}


def _is_same(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    marks = ("labels", "annotations")
    return bool(there["spec"] == wanted["spec"]) and all(
        (there["metadata"].get(key) or {}) == (wanted["metadata"].get(key) or {}) for key in marks
    )


async def _delete(state: ServerState, request: Request, name: str) -> Any:
    application = state.found(request, name, "get")
    state.allow(request, "delete", f"{project_of(application)}/{name}")
    state.remove(name, cascade=request.one("cascade") != "false")
    return {}


async def _manifests(state: ServerState, request: Request, name: str) -> Any:
    """As 3.1 does: revisions of several sources are written into the server's own copy."""
    application = state.found(request, name, "get")
    spec = application["spec"]
    if spec.get("sources"):
        positions = request.query.get("sourcePositions", [])
        for position, revision in zip(positions, request.query.get("revisions", []), strict=True):
            if not 1 <= int(position) <= len(spec["sources"]):
                raise Refused(UNKNOWN, "source position is out of range")
            spec["sources"][int(position) - 1]["targetRevision"] = revision
        sources = spec["sources"]
    else:
        revision = request.one("revision")
        sources = [spec["source"] | ({"targetRevision": revision} if revision else {})]
    no_cache = request.one("noCache") == "true"
    return await state.repo_server.manifests(application, sources, no_cache=no_cache)


async def _details(state: ServerState, request: Request, url: str) -> Any:
    body = request.body
    object = f"{body['appProject']}/{body['appName']}"
    state.allow(request, "get", _repository_object(state, url), resource="repositories")
    state.allow(request, "get", object)
    there = state.applications.get(body["appName"])
    if there is None:
        state.allow(request, "create", object)
    elif project_of(there) != body["appProject"] or body["source"] not in sources_of(there["spec"]):
        raise denied()
    try:
        return {"type": type_of({**body["source"], "repoURL": url}, state.repo_server.repositories)}
    except ValueError as error:
        raise Refused(UNKNOWN, f"rpc error: code = Unknown desc = {error}") from error


def _repository_object(state: ServerState, url: str) -> str:
    """Repositories are of no project here, which Argo CD writes without one."""
    return url


async def _projects(state: ServerState, request: Request, _: str) -> Any:
    found = [_project(name, spec) for name, spec in sorted(state.projects.items())]
    return {"metadata": {}, "items": found}


async def _get_project(state: ServerState, request: Request, name: str) -> Any:
    state.allow(request, "get", name, resource="projects")
    if name not in state.projects:
        raise Refused(NOT_FOUND, f'appprojects.argoproj.io "{name}" not found')
    return _project(name, state.projects[name])


def _project(name: str, spec: Mapping[str, Any]) -> Document:
    return {"metadata": {"name": name}, "spec": dict(spec), "status": {}}


async def _application_sets(state: ServerState, request: Request, _: str) -> Any:
    return {"metadata": {}, "items": None}


_APPLICATIONS = "/api/v1/applications"
_ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", "/api/version", _version),
    ("GET", _APPLICATIONS, _list),
    ("POST", _APPLICATIONS, _create),
    ("GET", f"{_APPLICATIONS}/([^/]+)", _get),
    ("DELETE", f"{_APPLICATIONS}/([^/]+)", _delete),
    ("GET", f"{_APPLICATIONS}/([^/]+)/manifests", _manifests),
    ("POST", "/api/v1/repositories/([^/]+)/appdetails", _details),
    ("GET", "/api/v1/projects", _projects),
    ("GET", "/api/v1/projects/([^/]+)", _get_project),
    ("GET", "/api/v1/applicationsets", _application_sets),
)
