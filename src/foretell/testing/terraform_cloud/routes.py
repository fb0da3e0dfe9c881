"""What each address of the fake does."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from foretell.ports import Clock
from foretell.testing.terraform_cloud import documents
from foretell.testing.terraform_cloud.lists import listed
from foretell.testing.terraform_cloud.reply import NOT_FOUND, Asked, Reply
from foretell.testing.terraform_cloud.world import (
    Access,
    ConfigurationVersion,
    Delivery,
    Dialect,
    Organization,
    Run,
    Workspace,
)

_OBJECT = re.compile(r"/_object/(upload|plan|redacted|log)/([\w-]+)")


class World(Protocol):
    """What the routes are about."""

    clock: Clock
    address: str
    archive_address: str
    organizations: dict[str, Organization]
    dialect: Dialect


Answer = Callable[..., Reply]


class Routes:
    """The API by path, and the place where objects are."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.configurations: dict[str, ConfigurationVersion] = {}
        self.runs: dict[str, Run] = {}
        id = r"([\w-]+)"
        table: list[tuple[str, str, Answer]] = [
            ("GET", rf"/organizations/{id}/workspaces/{id}", self._workspace),
            ("GET", rf"/organizations/{id}/runs", self._organization_runs),
            ("POST", rf"/workspaces/{id}/configuration-versions", self._create_configuration),
            ("GET", rf"/workspaces/{id}/runs", self._workspace_runs),
            ("GET", rf"/configuration-versions/{id}", self._configuration),
            ("POST", rf"/configuration-versions/{id}/actions/archive", self._archive),
            ("POST", "/runs", self._create_run),
            ("GET", rf"/runs/{id}", self._run),
            ("POST", rf"/runs/{id}/actions/(cancel|discard|force-cancel)", self._act),
            ("GET", rf"/runs/{id}/policy-checks", self._policy_checks),
            ("GET", rf"/runs/{id}/task-stages", self._task_stages),
            ("GET", rf"/plans/{id}", self._plan),
            ("GET", rf"/plans/{id}/(json-output(?:-redacted)?)", self._output),
        ]
        self._table = [
            (method, re.compile(f"/api/v2{path}"), answer) for method, path, answer in table
        ]

    def api(self, call: Asked, access: Access) -> Reply:
        for method, path, answer in self._table:
            found = path.fullmatch(call.path)
            if method == call.method and found:
                return answer(call, access, *found.groups())
        return NOT_FOUND

    # Workspaces

    def _named(self, organization: str, name: str) -> Workspace | None:
        place = self._world.organizations.get(organization)
        return place.workspaces.get(name) if place else None

    def _by_id(self, id: str) -> Workspace | None:
        everything = (w for o in self._world.organizations.values() for w in o.workspaces.values())
        return next((each for each in everything if each.id == id), None)

    def _workspace(self, call: Asked, access: Access, organization: str, name: str) -> Reply:
        found = self._named(organization, name)
        if found is None:
            return NOT_FOUND
        return Reply.document(200, {"data": documents.workspace(found, access, organization)})

    # Uploads

    def _create_configuration(self, call: Asked, access: Access, workspace_id: str) -> Reply:
        place = self._by_id(workspace_id)
        if place is None or access not in documents.MAY_PLAN:
            return NOT_FOUND
        asked = json.loads(call.body)["data"].get("attributes", {})
        made = ConfigurationVersion(
            id=f"cv-{len(self.configurations) + 1:016d}",
            workspace=place,
            auto_queue_runs=asked.get("auto-queue-runs", True),
            speculative=asked.get("speculative", False),
            looks_left=place.script.unpack_looks,
        )
        self.configurations[made.id] = made
        url = f"{self._world.archive_address}/_object/upload/{made.id}?signature=SIGNED"
        return Reply.document(201, {"data": documents.configuration(made, url)})

    def _configuration(self, call: Asked, access: Access, id: str) -> Reply:
        found = self.configurations.get(id)
        if found is None:
            return NOT_FOUND
        if found.content and found.status == "pending":
            self._unpack(found)
        return Reply.document(200, {"data": documents.configuration(found, None)})

    def _unpack(self, found: ConfigurationVersion) -> None:
        if found.looks_left > 0:
            found.looks_left -= 1
        else:
            found.status = "errored" if found.workspace.script.unpack_error else "uploaded"

    def _archive(self, call: Asked, access: Access, id: str) -> Reply:
        found = self.configurations.get(id)
        if found is None:
            return NOT_FOUND
        if found.status != "uploaded":
            return Reply.failed(409, "transition not allowed")
        found.status = "archived"
        return Reply.document(202, "null")  # so it is published

    # Runs

    def _create_run(self, call: Asked, access: Access) -> Reply:
        data = json.loads(call.body)["data"]
        related = data["relationships"]
        place = self._by_id(related["workspace"]["data"]["id"])
        used = self.configurations.get(related["configuration-version"]["data"]["id"])
        if place is None or used is None or access not in documents.MAY_PLAN:
            return NOT_FOUND
        if used.status != "uploaded":
            return Reply.failed(
                422, "invalid attribute", "Configuration version is not uploaded", "/data"
            )
        made = self._make_run(place, used, data["attributes"], call.authorization)
        return Reply.document(201, {"data": documents.run(made, self._world.clock.now())})

    def _make_run(
        self,
        place: Workspace,
        used: ConfigurationVersion,
        attributes: Mapping[str, Any],
        token: str,
    ) -> Run:
        script = place.script
        if not self._world.dialect.keeps_messages:
            attributes = {**attributes, "message": ""}
        made = Run(
            id=f"run-{len(self.runs) + 1:016d}",
            workspace=place,
            configuration=used,
            attributes=attributes,
            created_at=self._world.clock.now(),
            token=token,
            not_ready=script.not_ready,
            refuse_cancel=script.refuse_cancel,
            expired_redirects=script.expired_redirects,
        )
        self.runs[made.id] = made
        return made

    def _run(self, call: Asked, access: Access, id: str) -> Reply:
        found = self.runs.get(id)
        if found is None:
            return NOT_FOUND
        now = self._world.clock.now()
        document: dict[str, Any] = {"data": documents.run(found, now)}
        included = self._world.dialect.includes_plans
        if included and "plan" in call.query.get("include", "").split(","):
            document["included"] = [documents.plan(found, now, self._log_url(found))]
        found.looks += 1
        return Reply.document(200, document)

    def _log_url(self, run: Run) -> str:
        return f"{self._world.archive_address}/_object/log/{run.plan_id}?signature=SIGNED"

    def _act(self, call: Asked, access: Access, id: str, action: str) -> Reply:
        found = self.runs.get(id)
        if found is None or access not in documents.MAY_PLAN:
            return NOT_FOUND
        now = self._world.clock.now()
        actions = documents.run(found, now)["attributes"]["actions"]
        if found.refuse_cancel > 0:
            found.refuse_cancel -= 1
            found.looks += 1
            return Reply.failed(409, "transition not allowed")
        if not actions[f"is-{_able(action)}"]:
            return Reply.failed(409, "transition not allowed")
        found.ended_as = "discarded" if action == "discard" else "canceled"
        return Reply(202)

    def _workspace_runs(self, call: Asked, access: Access, id: str) -> Reply:
        place = self._by_id(id)
        if place is None:
            return NOT_FOUND
        runs = [each for each in self.runs.values() if each.workspace is place]
        return listed(call, runs, self._world.clock.now())

    def _organization_runs(self, call: Asked, access: Access, name: str) -> Reply:
        place = self._world.organizations.get(name)
        if place is None:
            return NOT_FOUND
        own = place.workspaces.values()
        runs = [run for run in self.runs.values() if any(run.workspace is each for each in own)]
        return listed(call, runs, self._world.clock.now(), totals=False)

    def _policy_checks(self, call: Asked, access: Access, id: str) -> Reply:
        found = self.runs.get(id)
        if found is None:
            return NOT_FOUND
        return Reply.document(200, {"data": list(found.workspace.script.policy_checks)})

    def _task_stages(self, call: Asked, access: Access, id: str) -> Reply:
        found = self.runs.get(id)
        if found is None or found.workspace.script.task_stages is None:
            return NOT_FOUND
        return Reply.document(200, found.workspace.script.task_stages)

    # Plans

    def _of_plan(self, plan_id: str) -> Run | None:
        return next((each for each in self.runs.values() if each.plan_id == plan_id), None)

    def _plan(self, call: Asked, access: Access, id: str) -> Reply:
        found = self._of_plan(id)
        if found is None:
            return NOT_FOUND
        shown = documents.plan(found, self._world.clock.now(), self._log_url(found))
        return Reply.document(200, {"data": shown})

    def _output(self, call: Asked, access: Access, id: str, form: str) -> Reply:
        found = self._of_plan(id)
        whole = form == "json-output"
        if found is None or (whole and access is not Access.ADMIN):
            return NOT_FOUND
        script = found.workspace.script
        content = script.plan if whole else script.redacted
        if script.too_old:
            return Reply.failed(422, "unsupported", "Terraform is too old for JSON plan output")
        if found.not_ready > 0 or found.plan_status(self._world.clock.now()) != "finished":
            found.not_ready -= 1
            return Reply(204)
        if content is None:
            return NOT_FOUND
        if script.delivery is Delivery.BODY:
            return Reply(200, _as_bytes(content), {"content-type": "application/json"})
        kind = "plan" if whole else "redacted"
        location = f"{self._world.archive_address}/_object/{kind}/{id}?signature=SIGNED"
        return Reply(script.delivery.value, b"", {"location": location})

    # Objects, on a host that gets no token

    def archive(self, call: Asked) -> Reply:
        match = _OBJECT.fullmatch(call.path)
        if call.authorization or match is None or call.query.get("signature") != "SIGNED":
            return Reply(403, b"<Error><Code>AccessDenied</Code></Error>")
        kind, id = match.groups()
        if kind == "upload":
            return self._uploaded(call, id)
        found = self._of_plan(id)
        if found is None:
            return Reply(404)
        if kind == "log":
            start, size = int(call.query.get("offset", "0")), int(call.query.get("limit", "65536"))
            return Reply(200, found.workspace.script.log[start : start + size])
        if found.expired_redirects > 0:
            found.expired_redirects -= 1
            return Reply(403, b"<Error><Code>AccessDenied</Code></Error>")
        script = found.workspace.script
        return Reply(200, _as_bytes(script.plan if kind == "plan" else script.redacted))

    def _uploaded(self, call: Asked, id: str) -> Reply:
        found = self.configurations.get(id)
        if found is None or call.method != "PUT":
            return Reply(404)
        found.content = call.body
        if found.looks_left == 0:
            self._unpack(found)
        if found.auto_queue_runs:
            self._make_run(found.workspace, found, {"message": "queued by the upload"}, "")
        return Reply(200)


def _able(action: str) -> str:
    return {"cancel": "cancelable", "discard": "discardable"}.get(action, "force-cancelable")


def _as_bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else json.dumps(content).encode()
