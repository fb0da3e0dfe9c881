"""What the other side's policies and run tasks say of a plan: shown, and told apart by weight.

Only what is final is asked about: the output of a check that was never reached does not end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from foretell.agents.terraform_cloud.client import Client
from foretell.agents.terraform_cloud.run import RunView
from foretell.domain.errors import AgentError, InvalidRequest

_MOST_NAMES: Final = 10
_GOOD: Final = frozenset({"passed", "overridden"})
_NOT_REACHED: Final = frozenset({"pending", "queued", "running", "unreachable", "canceled"})


@dataclass(frozen=True, slots=True)
class Judged:
    """One line for people: whose judgement, what it is, and what did not hold."""

    name: str
    status: str
    detail: str = ""
    evaluation: str = ""
    """The id of a policy evaluation, whose outcomes have names."""

    @property
    def failed(self) -> bool:
        return self.status not in _GOOD and self.status not in _NOT_REACHED

    def __str__(self) -> str:
        return f"{self.name} {self.status}{f' ({self.detail})' if self.detail else ''}"


async def read_judged(client: Client, run: RunView) -> tuple[Judged, ...]:
    """All that were reached, in the API's order. What can't be read is said as such."""
    found: list[Judged] = []
    if run.policy_checks:
        found += await _asked(client, f"runs/{run.id}/policy-checks", _check, "policy check")
    if run.task_stages:
        path = f"runs/{run.id}/task-stages?include=task_results,policy_evaluations"
        found += await _asked(client, path, _stage, "task stage")
    if run.policy_evaluations:
        path = f"runs/{run.id}/tf-policy-evaluations"
        found += await _asked(client, path, _evaluation, "policy evaluation")
    reached = [judged for judged in found if judged.status not in _NOT_REACHED]
    return tuple([await _named(client, judged) for judged in reached])


async def _named(client: Client, judged: Judged) -> Judged:
    """With the names of the policies that did not hold, where they can be read."""
    if not judged.failed or not judged.evaluation:
        return judged
    path = f"policy-evaluations/{judged.evaluation}/policy-set-outcomes"
    names = [each.name for each in await _asked(client, path, _outcomes, "") if each.name]
    return replace(judged, detail=_joined(judged.detail, ", ".join(names[:_MOST_NAMES])))


def _outcomes(data: Mapping[str, Any], _: Any) -> Iterator[Judged]:
    for each in (data.get("attributes") or {}).get("outcomes") or ():
        if each.get("status") not in _GOOD:
            yield Judged(str(each.get("policy_name") or ""), str(each.get("status")))


async def _asked(client: Client, path: str, read: Any, what: str) -> list[Judged]:
    try:
        answer = await client.call("GET", path)
        if answer.status != 200:
            return [Judged(what, "unreadable", f"status {answer.status}")]
        return _members(answer.json(), read)
    except (AgentError, InvalidRequest):
        return [Judged(what, "unreadable")]
    except (AttributeError, TypeError, KeyError):
        # Not the documented shape: what others judged is shown, and nothing depends on it.
        return [Judged(what, "unreadable", "an answer of another shape")]


def _members(document: Any, read: Any) -> list[Judged]:
    included = document.get("included") or ()
    by_id = {(each.get("type"), each.get("id")): each for each in included}
    return [judged for each in document.get("data") or () for judged in read(each, by_id)]


def _check(data: Mapping[str, Any], _: Any) -> Iterator[Judged]:
    """Sentinel: counts, and the names of what did not hold where they are there."""
    attributes = data.get("attributes") or {}
    result = attributes.get("result") or {}
    counts = _counted(result, ("hard-failed", "soft-failed", "advisory-failed"))
    names = ", ".join(list(_failing(result.get("sentinel")))[:_MOST_NAMES])
    scope = attributes.get("scope") or "policy"
    yield Judged(f"{scope} policies", str(attributes.get("status")), _joined(counts, names))


def _failing(sentinel: Any) -> Iterator[str]:
    """Names of policies that did not hold; the structure is not promised, so nothing is."""
    match sentinel:
        case {"policy": str() | {"name": _} as policy, "result": False}:
            yield policy if isinstance(policy, str) else str(policy["name"])
        case Mapping():
            for each in sentinel.values():
                yield from _failing(each)
        case list():
            for each in sentinel:
                yield from _failing(each)
        case _:
            pass


def _stage(data: Mapping[str, Any], by_id: Mapping[Any, Any]) -> Iterator[Judged]:
    """Run tasks and OPA policies of one stage, or the stage itself where it lists none."""
    attributes = data.get("attributes") or {}
    stage = str(attributes.get("stage") or "task stage").replace("_", " ")
    relations = data.get("relationships") or {}
    listed = [
        by_id.get((each.get("type"), each.get("id")))
        for name in ("task-results", "policy-evaluations")
        for each in ((relations.get(name) or {}).get("data") or ())
    ]
    told = [judged for each in listed if each for judged in _member(each, stage)]
    yield from told or [Judged(f"{stage} stage", str(attributes.get("status")))]


def _member(data: Mapping[str, Any], stage: str) -> Iterator[Judged]:
    if data.get("type") == "policy-evaluations":
        yield from _evaluation(data, {})
        return
    attributes = data.get("attributes") or {}
    weight = attributes.get("workspace-task-enforcement-level") or ""
    message = str(attributes.get("message") or "")[:200]
    name = f"{stage} task {attributes.get('task-name') or ''}".strip()
    yield Judged(name, str(attributes.get("status")), _joined(str(weight), message))


def _evaluation(data: Mapping[str, Any], _: Any) -> Iterator[Judged]:
    attributes = data.get("attributes") or {}
    counts = _counted(
        attributes.get("result-count") or {}, ("mandatory-failed", "advisory-failed", "errored")
    )
    kind = attributes.get("policy-kind") or attributes.get("stage-type") or ""
    opa = str(data.get("id") or "") if data.get("type") == "policy-evaluations" else ""
    yield Judged(f"{kind} policies".strip(), str(attributes.get("status")), counts, opa)


def _counted(holder: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return ", ".join(
        f"{holder[name]} {name.replace('-', ' ')}" for name in names if holder.get(name)
    )


def _joined(*parts: str) -> str:
    return ": ".join(part for part in parts if part)
