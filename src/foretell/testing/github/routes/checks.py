"""Check runs, which only Apps may write, and commit statuses.

REST docs, "Check runs" and "Commit statuses"; the limits are theirs.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from foretell.testing.github import shapes
from foretell.testing.github.request import Request, Response, Route, invalid, paged
from foretell.testing.github.state import Check, Refused, StatusRow
from foretell.testing.github.world import World

TEXT_LIMIT = 65_535
NAME_LIMIT = 255
ANNOTATIONS_A_CALL = 50
STATUSES_A_CONTEXT = 1000
_READ = (("checks", "read"),)
_WRITE = (("checks", "write"),)
_STATUSES = ("queued", "in_progress", "completed")
_CONCLUSIONS = (
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "success",
    "skipped",
    "timed_out",
)


def _shown(world: World, found: Check) -> dict[str, Any]:
    return shapes.check(found, world.apps[found.app])


def _found(world: World, request: Request) -> Check:
    found = world.checks.get(request.number("check_run_id"))
    if found is None or found.repo is not request.repo(world):
        raise Refused(404, "Not Found")
    return found


def _own(world: World, request: Request) -> Check:
    found = _found(world, request)
    if request.actor.app != found.app:
        raise Refused(403, "Invalid app_id `0` - check run can only be modified by its creator.")
    return found


def _create(world: World, request: Request) -> Response:
    if request.actor.app is None:
        raise Refused(403, "You must authenticate via a GitHub App.")
    for name in ("name", "head_sha"):
        if not request.text(name):
            raise invalid(name, f"{name} wasn't supplied")
    found = Check(
        id=next(world.ids),
        repo=request.repo(world),
        app=request.actor.app,
        head_sha=request.text("head_sha"),
        name=request.text("name", limit=NAME_LIMIT),
        started_at=world.clock.now(),
    )
    _write(found, request, world.clock.now())
    world.checks[found.id] = found
    return Response(201, _shown(world, found))


def _update(world: World, request: Request) -> Response:
    found = _own(world, request)
    _write(found, request, world.clock.now())
    found.writes += 1
    return Response(200, _shown(world, found))


def _write(found: Check, request: Request, now: datetime) -> None:
    body = request.body
    _check_words(body)
    output = body.get("output")
    if output is not None:
        _write_output(found, output)
    found.name = request.text("name", limit=NAME_LIMIT) or found.name
    found.external_id = request.text("external_id") or found.external_id
    found.details_url = request.text("details_url") or found.details_url
    found.actions = body.get("actions", found.actions)
    found.status = body.get("status") or found.status
    conclusion = body.get("conclusion")
    if conclusion:
        found.status, found.conclusion = "completed", conclusion
        found.completed_at = now
    elif "status" in body:
        found.conclusion = found.completed_at = None


def _check_words(body: Mapping[str, Any]) -> None:
    status, conclusion = body.get("status"), body.get("conclusion")
    if status is not None and status not in _STATUSES:
        raise invalid("status", f"{status} is not included in the list")
    if conclusion is not None and conclusion not in _CONCLUSIONS:
        raise invalid("conclusion", f"{conclusion} is not included in the list")
    if status == "completed" and not conclusion:
        raise invalid("conclusion", "conclusion is missing")
    if len(body.get("actions", ())) > 3:
        raise invalid("actions", "at most 3 actions")


def _write_output(found: Check, output: Mapping[str, Any]) -> None:
    if not output.get("title") or output.get("summary") is None:
        raise invalid("output", "title and summary are needed")
    for name in ("title", "summary", "text"):
        if len(output.get(name) or "") > TEXT_LIMIT:
            raise invalid(name, f"Only {TEXT_LIMIT} characters are allowed")
    added = output.get("annotations", ())
    if len(added) > ANNOTATIONS_A_CALL:
        raise invalid("annotations", f"at most {ANNOTATIONS_A_CALL} annotations")
    found.output = {name: output.get(name) for name in ("title", "summary", "text")}
    found.annotations.extend(added)


def _get(world: World, request: Request) -> Response:
    return Response(200, _shown(world, _found(world, request)))


def _annotations(world: World, request: Request) -> Response:
    return paged(request, _found(world, request).annotations, shapes.annotation)


def _of_commit(world: World, request: Request) -> Response:
    found = world.checks_of(request.repo(world).full_name, request.parts["ref"])
    for name in ("check_name", "app_id"):
        if wanted := request.query.get(name):
            found = [one for one in found if str(_filtered(one, name)) == wanted]
    found.sort(key=lambda one: -one.id)
    return paged(request, found, lambda one: _shown(world, one), under="check_runs")


def _filtered(one: Check, name: str) -> object:
    return one.name if name == "check_name" else one.app


def _set_status(world: World, request: Request) -> Response:
    repo, sha = request.repo(world), request.parts["sha"]
    context = request.text("context", limit=255) or "default"
    state = request.text("state")
    if state not in ("error", "failure", "pending", "success"):
        raise invalid("state", f"{state} is not included in the list")
    known = [
        one
        for one in world.statuses
        if one.repo is repo and one.sha == sha and one.context == context
    ]
    if len(known) >= STATUSES_A_CONTEXT:
        raise invalid("base", "This SHA and context has reached the maximum number of statuses.")
    found = StatusRow(
        id=next(world.ids),
        repo=repo,
        sha=sha,
        context=context,
        state=state,
        description=request.text("description", limit=140),
        target_url=request.text("target_url"),
        creator=request.actor.login,
        created_at=world.clock.now(),
    )
    world.statuses.append(found)
    return Response(201, shapes.status(found))


_RUNS = "/repos/{owner}/{repo}/check-runs"
ROUTES = (
    Route("POST", _RUNS, _WRITE, _create),
    Route("GET", _RUNS + "/{check_run_id}", _READ, _get),
    Route("PATCH", _RUNS + "/{check_run_id}", _WRITE, _update),
    Route("GET", _RUNS + "/{check_run_id}/annotations", _READ, _annotations),
    Route("GET", "/repos/{owner}/{repo}/commits/{ref}/check-runs", _READ, _of_commit),
    Route("POST", "/repos/{owner}/{repo}/statuses/{sha}", (("statuses", "write"),), _set_status),
)
