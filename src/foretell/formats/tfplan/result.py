"""A plan as the result that every report, rule and approval reads."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from foretell.domain.diff import unified_diff
from foretell.domain.digest import Key
from foretell.domain.result import Action, Kind, KindResult, PolicySides, ResourceChange
from foretell.formats.exact_json import dumps
from foretell.formats.redact.redactor import Rules
from foretell.formats.tfplan.hash import plan_hash
from foretell.formats.tfplan.plan import Change, Deferred, Invocation, Plan
from foretell.formats.tfplan.redacted import DEFAULT_RULES, redact
from foretell.formats.tfplan.text.literal import visible
from foretell.formats.tfplan.text.order import by_severity
from foretell.formats.tfplan.text.page import page
from foretell.formats.tfplan.text.snapshot import sides, title
from foretell.formats.tfplan.text.tags import tags_of
from foretell.formats.tfplan.verdict import UNKNOWN_RUN, Run, Verdict, judge

PLAN_KIND: Final = Kind("plan")
_ACTIONS: Final = {
    ("create",): Action.ADD,
    ("update",): Action.MODIFY,
    ("delete",): Action.DELETE,
    ("delete", "create"): Action.REPLACE,
    ("create", "delete"): Action.REPLACE,
    ("create", "forget"): Action.ADD,
    ("forget", "create"): Action.ADD,
}


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan's result with what only Terraform has: the verdict."""

    result: KindResult
    verdict: Verdict


def to_result(
    plan: Plan,
    *,
    key: Key | None = None,
    rules: Rules = DEFAULT_RULES,
    run: Run = UNKNOWN_RUN,
    context: int = 3,
) -> PlanResult:
    """The redacted result of an unredacted plan.

    `content_hash` is its `p2:` hash (empty without a key, or for Terraform Cloud's redacted
    form); `diff` the native-style text; `current` and `proposed` the changed objects before and
    after; `policy` the redacted prior state and the redacted plan JSON. `InvalidRequest` for a key
    under 32 bytes.
    """
    verdict = judge(plan, run)
    hashable = key is not None and not plan.partial_form and not plan.redacted
    shown = redact(plan, rules)
    resources = tuple(_resources(shown, context))
    whole = _joined_sides(resources)
    return PlanResult(
        KindResult(
            kind=PLAN_KIND,
            current=whole[0],
            proposed=whole[1],
            has_changes=verdict.has_changes,
            content_hash=plan_hash(plan, key.secret) if key and hashable else "",
            plan_key_id=key.id if key and hashable else "",
            diff=page(shown, verdict),
            additions=sum(change.additions for change in resources),
            deletions=sum(change.deletions for change in resources),
            resources=resources,
            policy=_policy_sides(shown),
        ),
        verdict,
    )


def _policy_sides(redacted: Plan) -> PolicySides:
    """Without the time of planning: the same plan made twice is the same answer."""
    lasting = {name: part for name, part in redacted.document.items() if name != "timestamp"}
    document = _plain(lasting)
    return PolicySides(document.get("prior_state"), document)


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """With numbers as any JSON has them: rules compare, they bind nothing."""
    try:
        json.dumps(document)
    except (TypeError, ValueError):
        plain: dict[str, Any] = json.loads(dumps(document), parse_float=_number)
        return plain
    return document


def _number(text: str) -> float | str:
    """A number that no float holds stays as text: JSON has no infinity."""
    number = float(text)
    return number if math.isfinite(number) else text


def _joined_sides(resources: tuple[ResourceChange, ...]) -> tuple[str, str]:
    return "".join(r.before for r in resources), "".join(r.after for r in resources)


def _resources(plan: Plan, context: int) -> Iterator[ResourceChange]:
    shown = (c for c in plan.changes if c.acts and c.actions != ("read",))
    for change in sorted(shown, key=by_severity):
        yield _resource(change, tags_of(change), context)
    for output in sorted((o for o in plan.outputs if not o.is_no_op), key=by_severity):
        yield _resource(output, tags_of(output), context)
    yield from (_deferred(item) for item in plan.deferred)
    yield from (_invocation(item) for item in plan.invocations)


def _resource(change: Change, tags: tuple[str, ...], context: int) -> ResourceChange:
    before, after = sides(change)
    diff = unified_diff(
        before, after, current_name="before", proposed_name="after", context=context
    )
    is_output = change.mode == "output"
    return ResourceChange(
        kind="output" if is_output else change.type,
        name=change.name if is_output else title(change),
        action=Action.NO_OP if is_output else _ACTIONS.get(change.actions, Action.NO_OP),
        before=before,
        after=after,
        diff=diff.text,
        additions=diff.additions,
        deletions=diff.deletions,
        tags=tags,
        result_kind=PLAN_KIND,
    )


def _deferred(item: Deferred) -> ResourceChange:
    name = title(item.change)
    return _announced(item.change.type, name, f"deferred: {visible(item.reason)}")


def _invocation(item: Invocation) -> ResourceChange:
    return _announced(item.type, visible(item.address), "action to invoke")


def _announced(kind: str, name: str, tag: str) -> ResourceChange:
    """What is no object with two sides: one line that stands only in what would be."""
    after = f"# {name} {tag}\n"
    diff = unified_diff("", after, current_name="before", proposed_name="after")
    return ResourceChange(
        kind=kind,
        name=name,
        action=Action.NO_OP,
        after=after,
        diff=diff.text,
        additions=diff.additions,
        tags=(tag,),
        result_kind=PLAN_KIND,
    )
