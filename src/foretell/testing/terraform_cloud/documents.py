"""The fake's things as the JSON:API documents of the published schema."""

from datetime import datetime
from typing import Any

from foretell.testing.terraform_cloud.world import (
    Access,
    ConfigurationVersion,
    Run,
    Workspace,
)

MAY_PLAN = (Access.ADMIN, Access.PLAN)


def error(status: int, title: str, detail: str = "", pointer: str = "") -> dict[str, Any]:
    told: dict[str, Any] = {"status": str(status), "title": title}
    if detail:
        told["detail"] = detail
    if pointer:
        told["source"] = {"pointer": pointer}
    return {"errors": [told]}


def workspace(found: Workspace, access: Access, organization: str) -> dict[str, Any]:
    return {
        "id": found.id,
        "type": "workspaces",
        "attributes": {
            "name": found.name,
            "execution-mode": found.execution_mode,
            "locked": False,
            "auto-apply": False,
            "speculative-enabled": True,
            "structured-run-output-enabled": True,
            "terraform-version": "1.11.4",
            "working-directory": found.working_directory or None,
            "permissions": {
                "can-queue-run": access in MAY_PLAN,
                "can-read-run": True,
                "can-update": access is Access.ADMIN,
            },
        },
        "relationships": {"organization": {"data": {"id": organization, "type": "organizations"}}},
    }


def configuration(found: ConfigurationVersion, upload_url: str | None) -> dict[str, Any]:
    script = found.workspace.script
    failed = found.status == "errored"
    return {
        "id": found.id,
        "type": "configuration-versions",
        "attributes": {
            "auto-queue-runs": found.auto_queue_runs,
            "speculative": found.speculative,
            "status": found.status,
            "error": "failed_to_unpack" if failed else None,
            "error-message": script.unpack_error if failed else None,
            "source": "tfe-api",
            "provisional": False,
            "upload-url": upload_url,
        },
        "links": {"self": f"/api/v2/configuration-versions/{found.id}"},
    }


def run(found: Run, now: datetime) -> dict[str, Any]:
    status, final = found.status(now), found.is_final(now)
    running = status not in ("pending",) and not final
    attributes = {
        "actions": {
            "is-cancelable": running,
            "is-confirmable": False,
            "is-discardable": not final and not running,
            "is-force-cancelable": False,
        },
        "canceled-at": None,
        "created-at": moment(found.created_at),
        "has-changes": bool(found.workspace.script.has_changes) and final,
        "is-destroy": False,
        "message": found.message,
        "plan-only": bool(found.attributes.get("plan-only", found.configuration.speculative)),
        "source": "tfe-api",
        "status": status,
        "status-timestamps": {},
        "trigger-reason": "manual",
        "variables": list(found.attributes.get("variables") or ()),
    }
    return {
        "id": found.id,
        "type": "runs",
        "attributes": attributes,
        "relationships": _relationships(found),
        "links": {"self": f"/api/v2/runs/{found.id}"},
    }


def _relationships(found: Run) -> dict[str, Any]:
    script = found.workspace.script
    relations: dict[str, Any] = {
        "workspace": {"data": {"id": found.workspace.id, "type": "workspaces"}},
        "configuration-version": {
            "data": {"id": found.configuration.id, "type": "configuration-versions"}
        },
        "plan": {"data": {"id": found.plan_id, "type": "plans"}},
    }
    checks = [{"id": each["id"], "type": "policy-checks"} for each in script.policy_checks]
    relations["policy-checks"] = {"data": checks}
    if script.task_stages is not None:
        stages = [{"id": each["id"], "type": "task-stages"} for each in script.task_stages["data"]]
        relations["task-stages"] = {"data": stages}
    return relations


def plan(found: Run, now: datetime, log_url: str) -> dict[str, Any]:
    script, status = found.workspace.script, found.plan_status(now)
    counts = script.counts if status == "finished" else None
    add, change, destroy, imports = counts or (None, None, None, None)
    attributes: dict[str, Any] = {
        "status": status,
        "status-timestamps": {},
        "log-read-url": log_url,
        "structured-run-output-enabled": True,
        "resource-additions": add,
        "resource-changes": change,
        "resource-destructions": destroy,
        "resource-imports": imports,
    }
    if status == "finished" and script.has_changes is not None:
        attributes["has-changes"] = script.has_changes
    return {
        "id": found.plan_id,
        "type": "plans",
        "attributes": attributes,
        "links": {
            "self": f"/api/v2/plans/{found.plan_id}",
            "json-output": f"/api/v2/plans/{found.plan_id}/json-output",
            "json-output-redacted": f"/api/v2/plans/{found.plan_id}/json-output-redacted",
        },
    }


def moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
