"""Somebody answers for a rule's no: who may, and when it is enough.

An override changes what blocks, never what was said: the denial stays, with everybody who
overrode it and why. An error can't be overridden, because nobody knows what it would have said.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from foretell.domain.plan import TargetId


@dataclass(frozen=True, slots=True)
class OverrideTerms:
    """Who may override: `count` distinct people with `role`; a `role` of "" means nobody."""

    role: str = ""
    count: int = 1


NOBODY = OverrideTerms()


@dataclass(frozen=True, slots=True)
class Override:
    """One person's word, as it is shown. `by` is the name of the token that was shown."""

    by: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PlanOverride:
    """What an override is about: a policy's rule, on one target or (None) wherever it said no."""

    override: Override
    policy: str
    rule: str
    target_id: TargetId | None = None

    def is_about(self, policy: str, rule: str, target_id: TargetId) -> bool:
        """Whether it is about what this rule said of this target."""
        return (policy, rule) == (self.policy, self.rule) and self.target_id in (None, target_id)


def people(overrides: Iterable[Override]) -> tuple[str, ...]:
    """Each person once, in the order of their first word.

    Two tokens of one name are one person: whoever needs a second pair of eyes can't be both.
    """
    found: dict[str, str] = {}
    for override in overrides:
        found.setdefault(override.by.strip().casefold(), override.by)
    return tuple(found.values())


def in_force(terms: OverrideTerms, overrides: Iterable[Override]) -> bool:
    """Whether enough people overrode."""
    return bool(terms.role) and len(people(overrides)) >= max(terms.count, 1)
