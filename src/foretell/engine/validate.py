"""Step 4: the rules judge what the agent answered, once per invocation (RFC 0013)."""

from collections.abc import Sequence

from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import InvocationId
from foretell.domain.result import Invocation, Status
from foretell.domain.verdict import Rule, Verdict, errored, rules_for, selector_scope
from foretell.formats.parsed import policy_input
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
    # A policy applies where its selector depends on a key that is not there: a gate stays shut.
    scope = selector_scope(work.context)
    rules = rules_for(policies, scope, selectors.matches(absent=True))
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
    validator: Validator, rules: Sequence[Rule], work: Invocation
) -> tuple[Verdict, ...]:
    """In the order of the rules; one that can't be asked has erred."""
    asked = [rule for rule in rules if not rule.trouble]
    answers = iter(await _answers(validator, asked, work) if asked else ())
    return tuple(
        errored([rule], rule.trouble)[0] if rule.trouble else next(answers) for rule in rules
    )


async def _answers(
    validator: Validator, rules: Sequence[Rule], work: Invocation
) -> tuple[Verdict, ...]:
    try:
        document = policy_input(work.context, work.results)
    except InvalidRequest as error:
        return errored(rules, error.message)
    verdicts = tuple(await validator.evaluate(rules, document))
    if [(verdict.policy, verdict.rule) for verdict in verdicts] != [
        (rule.policy, rule.name) for rule in rules
    ]:
        return errored(rules, "the rule engine did not answer every rule")
    return verdicts
