"""What the rules say of an invocation: verdicts, denials, and the document they judge.

A verdict is *passed* only if its rule ran and denied nothing: a rule that errs is an error of the
gate, and no rule at all is "no rules", never "passed".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from foretell.domain.context import DispatchContext, Side
from foretell.domain.errors import InvalidRequest
from foretell.domain.override import NOBODY, Override, OverrideTerms, in_force, people
from foretell.domain.plan import JsonObject
from foretell.domain.target import Matches, Policy

RESERVED = frozenset(
    {
        "agent_type",
        "deployment",
        "environment",
        "resource",
        "proposed_version",
        "current_version",
    }
)
"""Top-level keys of the policy document that no kind may bear (RFC 0013 "Validation")."""


class VerdictStatus(StrEnum):
    """One rule's answer about one invocation."""

    PASSED = "passed"
    DENIED = "denied"
    ERRORED = "errored"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as it applies: its policy, its Rego text, whether a denial fails the check.

    `terms` say who may override such a denial. `trouble` is why it can't be asked at all.
    """

    policy: str
    name: str
    rego: str
    description: str = ""
    mandatory: bool = True
    terms: OverrideTerms = NOBODY
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Denial:
    """One reason why a rule said no; `details` is what the rule gave beside `msg`."""

    message: str
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's answer. `message` tells why it erred.

    `overrides` are all that were given, also where more people are needed by the `terms`.
    """

    policy: str
    rule: str
    status: VerdictStatus
    mandatory: bool = True
    denials: tuple[Denial, ...] = ()
    warnings: tuple[str, ...] = ()
    message: str = ""
    terms: OverrideTerms = NOBODY
    overrides: tuple[Override, ...] = ()

    @property
    def overridden_by(self) -> tuple[str, ...]:
        """Who overrode this denial, each person once; nobody while there are too few of them."""
        if self.status is not VerdictStatus.DENIED or not in_force(self.terms, self.overrides):
            return ()
        return people(self.overrides)

    @property
    def blocks(self) -> bool:
        """Whether it fails the check: a mandatory denial in force, or any error."""
        if self.status is VerdictStatus.ERRORED:
            return True
        return self.status is VerdictStatus.DENIED and self.mandatory and not self.overridden_by


def selector_scope(context: DispatchContext) -> dict[str, Any]:
    """What a policy's selector is asked about."""
    side, agent = context.side, context.agent
    return {
        "deployment": side.deployment,
        "environment": side.environment,
        "resource": side.resource,
        "jobAgent": {"id": agent.id, "name": agent.name, "type": agent.type},
    }


def rules_for(
    policies: Iterable[Policy], scope: Mapping[str, Any], matches: Matches
) -> tuple[Rule, ...]:
    """The rules whose policy selects this scope, by policy and rule name.

    `matches` answers yes where a selector depends on a key that is absent. A policy whose selector
    can't be answered applies with rules that can't be asked: nobody knows that it does not.
    """
    rules = [rule for policy in policies for rule in _rules_of(policy, scope, matches)]
    return tuple(sorted(rules, key=lambda rule: (rule.policy, rule.name)))


def _rules_of(policy: Policy, scope: Mapping[str, Any], matches: Matches) -> list[Rule]:
    try:
        if not matches(policy.selector, scope):
            return []
        trouble = ""
    except InvalidRequest as error:
        trouble = f"whether the policy applies can't be told: {error.message}"
    return [
        Rule(
            policy=policy.name,
            name=rule.name,
            rego=rule.rego,
            description=rule.description,
            mandatory=rule.mandatory,
            terms=policy.overrides,
            trouble=trouble,
        )
        for rule in policy.rules
    ]


@dataclass(frozen=True, slots=True)
class KindDocument:
    """One kind as rules see it: parsed sides, so that they can address fields."""

    current: Any
    proposed: Any
    has_changes: bool | None
    changes: tuple[JsonObject, ...] = ()


def rule_input(context: DispatchContext, kinds: Mapping[str, KindDocument]) -> dict[str, Any]:
    """RFC 0013's flat document: a key per kind beside the reserved ones."""
    side = context.side
    return {
        **{kind: _kind_input(document) for kind, document in kinds.items()},
        "agent_type": context.agent.type,
        "deployment": dict(side.deployment),
        "environment": dict(side.environment),
        "resource": dict(side.resource),
        "proposed_version": _version(context.proposed),
        "current_version": _version(context.current),
    }


def _kind_input(document: KindDocument) -> dict[str, Any]:
    return {
        "current": document.current,
        "proposed": document.proposed,
        "has_changes": document.has_changes,
        "changes": [dict(change) for change in document.changes],
    }


def _version(side: Side | None) -> dict[str, Any] | None:
    return side.version.describe() if side is not None else None


def errored(rules: Sequence[Rule], message: str) -> tuple[Verdict, ...]:
    """Every rule as errored for one cause: a gate that could not be asked is not passed."""
    return tuple(
        Verdict(
            policy=rule.policy,
            rule=rule.name,
            status=VerdictStatus.ERRORED,
            mandatory=rule.mandatory,
            message=message,
            terms=rule.terms,
        )
        for rule in rules
    )
