"""What people read of a plan: the Changes column and the summary line."""

from collections.abc import Sequence

from foretell.domain.override import people
from foretell.domain.rollup import TargetRollup
from foretell.domain.summary.counts import (
    Group,
    ResourceCounts,
    Summary,
    count_changes,
    distinct_changes,
    group_of,
)
from foretell.domain.verdict import Verdict


def change_words(target: TargetRollup) -> str:
    """The Changes column: `1 added, 2 modified, 1 deleted`, `No changes (1 suppressed)`, …"""
    group = group_of(target)
    if group is not Group.CHANGED:
        return _GROUP_WORDS[group] + _hidden(target, group)
    return count_words(count_changes(target.resources)) or "Changed"


def _hidden(target: TargetRollup, group: Group) -> str:
    """Nothing changes that counts is not the same as nothing differs."""
    number = sum(result.suppressed for result in target.results)
    return f" ({number} suppressed)" if number and group is Group.UNCHANGED else ""


_GROUP_WORDS = {
    Group.COMPUTING: "Computing",
    Group.ERRORED: "Error",
    Group.UNKNOWN: "Unknown",
    Group.UNSUPPORTED: "Not supported",
    Group.UNCHANGED: "No changes",
}


def count_words(counts: ResourceCounts) -> str:
    """`1 added, 2 modified, 1 deleted, 1 kept`, only what there is."""
    named = (
        (counts.add, "added"),
        (counts.modify, "modified"),
        (counts.delete, "deleted"),
        (counts.kept, "kept"),
    )
    return ", ".join(f"{number} {word}" for number, word in named if number)


def summary_line(targets: Sequence[TargetRollup], summary: Summary) -> str:
    """`2 of 4 targets affected (1 resource modified)`, with what went wrong beside it."""
    if not summary.total:
        return "no target selected"
    noun = "target" if summary.total == 1 else "targets"
    line = f"{summary.changed} of {summary.total} {noun} affected"
    words = _distinct_words(distinct_changes(targets))
    several = summary.validation_errors > 1
    rest = [
        f"{number} {word}"
        for number, word in (
            (summary.errored, "errored"),
            (summary.unknown, "unknown"),
            (summary.unsupported, "not supported"),
            (summary.computing, "computing"),
            (summary.violations, "violations" if summary.violations > 1 else "violation"),
            (summary.overridden, "overridden"),
            (summary.validation_errors, "rules errored" if several else "rule errored"),
            (summary.suppressed, "with only suppressed changes"),
        )
        if number
    ]
    return ", ".join([f"{line} ({words})" if words else line, *rest])


def _distinct_words(counts: ResourceCounts) -> str:
    number, _, rest = count_words(counts).partition(" ")
    return f"{number} {'resource' if number == '1' else 'resources'} {rest}" if rest else ""


def denial_note(verdict: Verdict) -> str:
    """What is to be said beside a denial: that it is advisory, or who overrode it; else ""."""
    if not verdict.mandatory:
        return "advisory"
    return override_words(verdict) if verdict.overrides else ""


def override_words(verdict: Verdict) -> str:
    """`overridden by kim: it is planned`; with too few people, how many of how many there are."""
    words = "; ".join(f"{one.by}: {one.reason}" for one in verdict.overrides)
    if verdict.overridden_by or not verdict.overrides:
        return f"overridden by {words}"
    given = len(people(verdict.overrides))
    return f"override by {given} of {verdict.terms.count}, still in force: {words}"
