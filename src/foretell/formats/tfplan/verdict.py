"""What a plan comes to, in one word. "No changes" is a finding, never what is left over."""

from dataclasses import dataclass
from enum import StrEnum

from foretell.formats.tfplan.counts import Counts, count
from foretell.formats.tfplan.plan import Plan


class Word(StrEnum):
    """First match wins, in this order."""

    ERRORED = "errored"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    NEEDS_ATTENTION = "needs-attention"
    DESTRUCTIVE = "destructive"
    CHANGES = "changes"
    DRIFT_ONLY = "drift-only"
    NO_CHANGES = "no-changes"


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of the run that made the plan, apart from its JSON.

    `exit_code` is that of `plan -detailed-exitcode`: 0 nothing to do, 1 failed, 2 changes.
    """

    exit_code: int | None = None
    errored: bool = False
    cancelled: bool = False
    truncated: bool = False


UNKNOWN_RUN = Run()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`has_changes` None: an incomplete plan that showed none. `notes` are for people."""

    word: Word
    counts: Counts
    destructive: bool
    incomplete_because: tuple[str, ...]
    drift_count: int
    notes: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool | None:
        if self.counts.changes - self.counts.unknown > 0:
            return True
        return False if self.word in (Word.NO_CHANGES, Word.DRIFT_ONLY) else None


def judge(plan: Plan, run: Run = UNKNOWN_RUN) -> Verdict:
    """The verdict of a plan; `run` tells what the JSON cannot."""
    counts = count(plan)
    because = _incomplete_because(plan, run)
    drift = sum(change.acts for change in plan.drift)
    return Verdict(
        word=_word(plan, run, counts, because, drift),
        counts=counts,
        destructive=any(change.is_destructive for change in plan.changes),
        incomplete_because=because,
        drift_count=drift,
        notes=tuple(_notes(plan, counts)),
    )


def _word(plan: Plan, run: Run, counts: Counts, because: tuple[str, ...], drift: int) -> Word:
    if run.exit_code == 1 or run.errored or plan.errored is True:
        return Word.ERRORED
    if run.cancelled:
        return Word.CANCELLED
    if because:
        return Word.INCOMPLETE
    if counts.unknown:
        return Word.NEEDS_ATTENTION
    if any(change.is_destructive for change in plan.changes):
        return Word.DESTRUCTIVE
    if counts.changes:
        return Word.CHANGES
    if not _proves_nothing_to_do(plan, run, counts, drift):
        return Word.NEEDS_ATTENTION
    return Word.DRIFT_ONLY if drift else Word.NO_CHANGES


def _proves_nothing_to_do(plan: Plan, run: Run, counts: Counts, drift: int) -> bool:
    """All that is listed is still, and the plan is one that lists everything.

    `applyable` with nothing in sight but reads or drift is explained by those; with nothing at
    all, something is done that we do not see.
    """
    if plan.applyable is True or run.exit_code == 2:
        return counts.read > 0 or drift > 0
    said_so = plan.applyable is False or run.exit_code == 0
    listed = "resource_changes" in plan.document or "planned_values" in plan.document
    return said_so or (listed and not plan.partial_form)


def _incomplete_because(plan: Plan, run: Run) -> tuple[str, ...]:
    deferred = bool(plan.deferred or plan.deferred_invocations)
    targeted = plan.complete is False and not deferred and not plan.errored
    reasons = {"targeted": targeted, "deferred": deferred, "truncated": run.truncated}
    return tuple(reason for reason, applies in reasons.items() if applies)


def _notes(plan: Plan, counts: Counts) -> list[str]:
    applyable = plan.applyable is True and counts.changes == 0 and not plan.drift
    return [
        *(["the plan is applyable, and lists nothing that would change"] if applyable else []),
        *([f"checks that do not hold: {len(plan.checks)}"] if plan.checks else []),
    ]
