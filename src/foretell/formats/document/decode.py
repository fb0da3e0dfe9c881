"""A JSON document to the report that it shows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from foretell.domain.context import AgentRef
from foretell.domain.errors import InvalidRequest
from foretell.domain.override import NOBODY, Override, OverrideTerms
from foretell.domain.plan import (
    AgentId,
    EnvironmentId,
    InvocationId,
    PlanId,
    PlanReason,
    PlanStatus,
    ResourceId,
    ResultId,
    TargetId,
)
from foretell.domain.result import Action, Kind, Phase, ResourceChange, Status
from foretell.domain.rollup import (
    InvocationState,
    KindState,
    TargetState,
    roll,
)
from foretell.domain.summary import PlanReport, ResourceCounts, Summary
from foretell.domain.verdict import Denial, Verdict, VerdictStatus


def read_report(document: Mapping[str, Any]) -> PlanReport:
    """The report that a server's document shows. Raises InvalidRequest for another document.

    Status, counts and has-changes come out of the same roll-up as on the server: a document that
    was read shows what a stored plan shows.
    """
    try:
        return _read(document)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRequest(
            f"the server's answer is not a plan document: {type(error).__name__} at {error}"
        ) from error


def _read(document: Mapping[str, Any]) -> PlanReport:
    deployment = document["deployment"]
    summary = document["summary"]
    completed_at = document["completedAt"]
    reason = document["reason"]
    return PlanReport(
        id=PlanId(document["id"]),
        workspace=document["workspace"],
        deployment_id=deployment["id"],
        deployment_slug=deployment["slug"],
        deployment_name=deployment["name"],
        tag=document["version"]["tag"],
        status=PlanStatus(document["status"]),
        reason=PlanReason(reason) if reason else None,
        created_at=datetime.fromisoformat(document["createdAt"]),
        expires_at=datetime.fromisoformat(document["expiresAt"]),
        completed_at=datetime.fromisoformat(completed_at) if completed_at else None,
        message=document["message"],
        summary=_read_summary(summary) if summary else None,
        targets=roll([_read_target(target) for target in document["targets"]]),
    )


def _read_summary(document: Mapping[str, Any]) -> Summary:
    lines = document["lineChanges"]
    names = ("total", "changed", "unchanged", "unknown", "errored", "unsupported", "computing")
    return Summary(
        **{name: document[name] for name in names},
        resource_changes=ResourceCounts(**document["resourceChanges"]),
        additions=lines["additions"],
        deletions=lines["deletions"],
        violations=document["violations"],
        blocking=document["blocking"],
        overridden=document["overridden"],
        validation_errors=document["validationErrors"],
        suppressed=document["suppressed"],
        suggested_target_selector=document["suggestedTargetSelector"],
    )


def _read_target(document: Mapping[str, Any]) -> TargetState:
    changes: dict[str, list[ResourceChange]] = {}
    for change in (document["diff"] or {}).get("resources", []):
        changes.setdefault(change["resultId"], []).append(_read_change(change))
    return TargetState(
        id=TargetId(document["id"]),
        environment_id=EnvironmentId(document["environmentId"]),
        environment_name=document["environmentName"],
        resource_id=ResourceId(document["resourceId"]),
        resource_name=document["resourceName"],
        resource_identifier=document["resourceIdentifier"],
        change=document["change"] or "",
        invocations=tuple(_read_agent(agent, changes) for agent in document["agents"]),
    )


def read_changes(document: Mapping[str, Any]) -> tuple[ResourceChange, ...]:
    """The changes of a result that was read alone, texts before and after included.

    Raises InvalidRequest where the server's answer is none.
    """
    try:
        return tuple(_read_texts(change) for change in document["resources"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRequest(
            f"the server's answer is not a result: {type(error).__name__} at {error}"
        ) from error


def _read_texts(document: Mapping[str, Any]) -> ResourceChange:
    return ResourceChange(
        kind=document["kind"],
        name=document["name"],
        action=Action(document["action"]),
        namespace=document["namespace"],
        api_version=document["apiVersion"],
        before=document["before"],
        after=document["after"],
        diff=document["diff"] or "",
    )


def _read_change(document: Mapping[str, Any]) -> ResourceChange:
    return ResourceChange(
        kind=document["kind"],
        name=document["name"],
        action=Action(document["action"]),
        namespace=document["namespace"],
        api_version=document["apiVersion"],
        diff=document["diff"] or "",
        additions=document["additions"],
        deletions=document["deletions"],
        tags=tuple(document["tags"]),
        result_kind=document["resultKind"],
    )


def _read_agent(
    document: Mapping[str, Any], changes: Mapping[str, Sequence[ResourceChange]]
) -> InvocationState:
    agent = document["agent"]
    return InvocationState(
        id=InvocationId(document["id"]),
        agent=AgentRef(AgentId(agent["id"]), agent["name"], agent["type"]),
        status=Status(document["status"]),
        reason=document["reason"] or "",
        message=document["message"] or "",
        phases=tuple(Phase(one["name"], one["seconds"]) for one in document["phases"]),
        results=tuple(_read_result(one, changes) for one in document["results"]),
        verdicts=tuple(_read_verdict(one) for one in document["validations"]),
    )


def _read_result(
    document: Mapping[str, Any], changes: Mapping[str, Sequence[ResourceChange]]
) -> KindState:
    return KindState(
        id=ResultId(document["id"]),
        kind=Kind(document["kind"]),
        status=Status(document["status"]),
        has_changes=document["hasChanges"],
        content_hash=document["contentHash"],
        plan_key_id=document["planKeyId"] or "",
        diff=document["diff"],
        additions=document["additions"],
        deletions=document["deletions"],
        resources=tuple(changes.get(document["id"], ())),
        suppressed=document["suppressed"],
    )


def _read_verdict(document: Mapping[str, Any]) -> Verdict:
    return Verdict(
        policy=document["policy"],
        rule=document["rule"],
        status=VerdictStatus(document["status"]),
        mandatory=document["mandatory"],
        denials=tuple(Denial(one["message"], one["details"]) for one in document["denials"]),
        warnings=tuple(document["warnings"]),
        message=document["message"] or "",
        terms=_read_terms(document["overridable"]),
        overrides=tuple(
            Override(one["by"], one["reason"], datetime.fromisoformat(one["at"]))
            for one in document["overrides"]
        ),
    )


def _read_terms(document: Mapping[str, Any] | None) -> OverrideTerms:
    return OverrideTerms(document["role"], document["count"]) if document else NOBODY
