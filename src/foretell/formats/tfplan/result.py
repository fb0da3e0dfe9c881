"""A plan as the result that every report, rule and approval reads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from foretell.domain.diff import unified_diff
from foretell.domain.digest import Key
from foretell.domain.result import Action, Kind, KindResult, ResourceChange
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
    """A plan's result with what only Terraform has: the verdict, and the policy document."""

    result: KindResult
    verdict: Verdict
    policy_current: Any = field(repr=False)
    policy_proposed: Any = field(repr=False)


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
    after. `InvalidRequest` for a key under 32 bytes.
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
        ),
        verdict,
        *policy_sides(shown),
    )


def policy_sides(redacted: Plan) -> tuple[Any, Any]:
    """(current, proposed) for rules: the redacted prior state and the redacted plan JSON."""
    return redacted.document.get("prior_state"), redacted.document


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
