"""Beside the steps: somebody answers for what a rule said no to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from foretell.domain.errors import Conflict, Forbidden, InvalidRequest, NotFound, Problem
from foretell.domain.override import Override, PlanOverride, people
from foretell.domain.plan import Plan, PlanId, PlanStatus, TargetId
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary import PlanReport
from foretell.domain.verdict import Verdict, VerdictStatus
from foretell.formats.document import encode_report
from foretell.ports import Clock, Ids, Job, OverrideRecord, Step, Store, Tx


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to override: `target` is an id or `environment/resource`, "" wherever it said no.

    `policy` "" means the only one of this plan that has such a rule.
    """

    plan_id: PlanId
    rule: str
    reason: str
    policy: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks. `may` answers whether they have a role."""

    name: str
    token_id: str
    may: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Overridden:
    """What an override led to: `given` of `needed` people, and whether the rule still blocks."""

    record: OverrideRecord
    given: int
    needed: int
    blocks: bool


@dataclass(frozen=True, slots=True)
class _Denied:
    """One denial that is to be overridden."""

    row: TargetRollup
    verdict: Verdict


async def override(
    store: Store, clock: Clock, ids: Ids, person: Person, wanted: Wanted
) -> Overridden:
    """Record the override, and show the plan with it: everywhere, from the same commit on.

    Raises InvalidRequest for a rule, policy or target that this plan has not, Conflict where
    there is nothing to override (yet), Forbidden where this person may not.
    """
    async with store.begin() as tx:
        plan, report = await _finished(tx, wanted.plan_id)
        denied = _denied(report, wanted)
        _check_terms(denied, person)
        override = Override(person.name, wanted.reason, clock.now())
        target = denied[0].row.target.id if wanted.target else None
        record = OverrideRecord(
            id=ids.new(),
            workspace_id=plan.workspace_id,
            deployment_id=plan.deployment_id,
            plan_id=plan.id,
            token_id=person.token_id,
            given=PlanOverride(override, denied[0].verdict.policy, wanted.rule, target),
            subject=_subject(report, denied),
        )
        await tx.insert_override(record)
        shown = await tx.report(plan.id)
        assert shown is not None, "the plan was locked in this transaction"
        await tx.show_overridden(plan, encode_report(shown))
        await tx.enqueue([Job(Step.REPORT, plan.id)])
    return _outcome(record, shown, {one.row.target.id for one in denied})


async def _finished(tx: Tx, plan_id: PlanId) -> tuple[Plan, PlanReport]:
    # Locked: of two at once, the second shows the first one's override too.
    plan = await tx.plan(plan_id, lock=True)
    report = await tx.report(plan_id) if plan else None
    if plan is None or report is None:
        raise NotFound(f"there is no plan {plan_id!r}, or it has expired")
    if plan.status is not PlanStatus.COMPLETED:
        raise Conflict(f"plan {plan_id} is {plan.status}: only a completed plan is overridden")
    return plan, report


def _denied(report: PlanReport, wanted: Wanted) -> list[_Denied]:
    """The denials that are meant, at least one, all of the same policy's rule."""
    rows = _rows(report, wanted.target)
    said = [_Denied(row, verdict) for row in rows for verdict in row.verdicts]
    said = [one for one in said if one.verdict.rule == wanted.rule]
    said = [one for one in said if wanted.policy in ("", one.verdict.policy)]
    if not said:
        raise _wrong("rule", f"no rule {wanted.rule!r} judged what is meant; {_judged(rows)}")
    policies = sorted({one.verdict.policy for one in said})
    if len(policies) > 1:
        raise _wrong("policy", f"say which policy's rule is meant: {', '.join(policies)}")
    denied = [one for one in said if _can_be_overridden(one.verdict)]
    if not denied:
        raise Conflict(_nothing_to_override([one.verdict for one in said]))
    return denied


def _can_be_overridden(verdict: Verdict) -> bool:
    return verdict.status is VerdictStatus.DENIED and verdict.mandatory


def _nothing_to_override(verdicts: Sequence[Verdict]) -> str:
    rule = verdicts[0].rule
    if any(verdict.status is VerdictStatus.ERRORED for verdict in verdicts):
        return f"rule {rule!r} could not answer, which nobody can override: mend it and plan again"
    if any(verdict.status is VerdictStatus.DENIED for verdict in verdicts):
        return f"rule {rule!r} is advisory: its denial blocks nothing"
    return f"rule {rule!r} denied nothing"


def _rows(report: PlanReport, target: str) -> list[TargetRollup]:
    found = [row for row in report.targets if not target or target in _names(row)]
    if target and not found:
        known = ", ".join(_names(row)[1] for row in report.targets[:10]) or "none"
        raise _wrong("target", f"this plan has no target {target!r}; it has {known}")
    if target and len(found) > 1:
        ids = ", ".join(row.target.id for row in found)
        raise _wrong("target", f"{target!r} is the name of several targets: take an id ({ids})")
    return found


def _names(row: TargetRollup) -> tuple[str, ...]:
    """The id first, then what people call it."""
    target = row.target
    return (
        target.id,
        f"{target.environment_name}/{target.resource_identifier}",
        f"{target.environment_name}/{target.resource_name}",
        f"{target.environment_name} / {target.resource_name}",
    )


def _judged(rows: Sequence[TargetRollup]) -> str:
    rules = sorted({verdict.rule for row in rows for verdict in row.verdicts})
    return f"these did: {', '.join(rules[:20])}" if rules else "no rule did"


def _check_terms(denied: Sequence[_Denied], person: Person) -> None:
    for verdict in (one.verdict for one in denied):
        if not verdict.terms.role:
            raise Forbidden(
                f"nobody may override rule {verdict.rule!r}: policy {verdict.policy!r} "
                "names no role in its `overrides`"
            )
        if not person.may(verdict.terms.role):
            raise Forbidden(
                f"to override rule {verdict.rule!r} needs the role {verdict.terms.role}, "
                f"which policy {verdict.policy!r} names"
            )


def _subject(report: PlanReport, denied: Sequence[_Denied]) -> dict[str, object]:
    return {
        "deployment": report.deployment_slug,
        "version": report.tag,
        "denied": [
            {
                "environment": one.row.target.environment_name,
                "resource": one.row.target.resource_identifier,
                "messages": [denial.message for denial in one.verdict.denials],
            }
            for one in denied
        ],
    }


def _outcome(record: OverrideRecord, shown: PlanReport, targets: set[TargetId]) -> Overridden:
    """By the denial that still needs the most people."""
    given = record.given
    verdicts = [
        verdict
        for row in shown.targets
        for verdict in row.verdicts
        if row.target.id in targets and (verdict.policy, verdict.rule) == (given.policy, given.rule)
        if _can_be_overridden(verdict)
    ]
    least = max(verdicts, key=lambda one: one.terms.count - len(people(one.overrides)))
    return Overridden(
        record=record,
        given=len(people(least.overrides)),
        needed=least.terms.count,
        blocks=any(verdict.blocks for verdict in verdicts),
    )


def _wrong(field: str, message: str) -> InvalidRequest:
    return InvalidRequest(message, [Problem("body", field, message)])
