"""Step 4: the rules judge what the agent answered, once per invocation (RFC 0013)."""

from typing import Any

from foretell.domain.plan import InvocationId
from foretell.domain.result import Invocation, KindResult, Status
from foretell.domain.verdict import KindDocument, Rule, Verdict, errored, rule_input, rules_for
from foretell.formats.parsed import parse_text
from foretell.ports import Clock, Job, Selectors, Step, Store, Validator


async def validate(
    store: Store,
    validator: Validator,
    selectors: Selectors,
    clock: Clock,
    invocation_id: InvocationId,
) -> None:
    """Write one verdict a rule and settle the invocation; no rule that applies is no verdict.

    What the rule engine raises goes out, and the queue tries again, up to the plan's deadline:
    from then on every rule has erred.
    """
    async with store.begin() as tx:
        work = await tx.answered(invocation_id)
        if work is None or work.status is not Status.COMPUTING:
            return
        policies = await tx.policies(work.context.workspace_id)
    rules = rules_for(policies, work.context, selectors.matches())
    try:
        verdicts = await _judge(validator, rules, work) if rules else ()
    except Exception as error:
        if work.plan_deadline_at is None or clock.now() < work.plan_deadline_at:
            raise
        verdicts = errored(rules, f"no answer before the deadline: {type(error).__name__}")
    async with store.begin() as tx:
        if await tx.save_verdicts(work.id, verdicts, clock.now()):
            await tx.enqueue([Job(Step.SETTLE, work.plan_id)])


async def _judge(
    validator: Validator, rules: tuple[Rule, ...], work: Invocation
) -> tuple[Verdict, ...]:
    document = rule_input(
        work.context, {result.kind: _kind_document(result) for result in work.results}
    )
    verdicts = tuple(await validator.evaluate(rules, document))
    if [(verdict.policy, verdict.rule) for verdict in verdicts] != [
        (rule.policy, rule.name) for rule in rules
    ]:
        return errored(rules, "the rule engine did not answer every rule")
    return verdicts


def _kind_document(result: KindResult) -> KindDocument:
    changes = tuple(
        {
            "kind": change.kind,
            "name": change.name,
            "namespace": change.namespace,
            "action": change.action.value,
            "before": parse_text(change.before),
            "after": parse_text(change.after),
        }
        for change in result.resources
    )
    current, proposed = _sides(result)
    return KindDocument(current, proposed, result.has_changes, changes)


def _sides(result: KindResult) -> tuple[Any, Any]:
    if result.policy is not None:
        return result.policy.current, result.policy.proposed
    return parse_text(result.current), parse_text(result.proposed)
