"""What is different from the plan of the commit before: for a reviewer who was here already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foretell.domain.digest import digest
from foretell.domain.rollup import KindState, TargetRollup
from foretell.domain.summary import change_words
from foretell.formats.markdown.grouping import distinct_places
from foretell.formats.markdown.lists import everywhere
from foretell.formats.markdown.text import code

_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Since:
    """Places of targets that the plan of `commit` did not have, had besides, or had otherwise."""

    commit: str
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    same: int = 0


def target_digests(targets: Sequence[TargetRollup]) -> dict[str, str]:
    """What each target comes to, by its place: equal exactly if a reviewer would see the same.

    Of redacted texts only, so that it may be kept after the plan is gone.
    """
    places = distinct_places(targets)
    return {name: _digest(row) for name, row in zip(places, targets, strict=True)}


def since(commit: str, before: Mapping[str, str], now: Mapping[str, str]) -> Since:
    """From what was kept of the plan of `commit` to what there is now."""
    return Since(
        commit=commit,
        new=tuple(name for name in now if name not in before),
        gone=tuple(name for name in before if name not in now),
        altered=tuple(name for name in now if before.get(name, now[name]) != now[name]),
        same=sum(before.get(name) == found for name, found in now.items()),
    )


def since_line(found: Since) -> str:
    """`**Since the last push** (1234567): 1 new, 1 gone, 2 altered, 5 as before`."""
    counts = [f"{len(places)} {word}" for word, places in _parts(found) if places]
    if found.same:
        counts.append(f"{found.same} as before")
    return f"**Since the last push** ({code(found.commit[:7])}): {', '.join(counts) or 'no target'}"


def since_lines(found: Since) -> list[str]:
    """Which these are, a line for each word."""
    return [f"- {word}: {everywhere(places)}" for word, places in _parts(found) if places]


def _parts(found: Since) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (("new", found.new), ("gone", found.gone), ("altered", found.altered))


def _digest(row: TargetRollup) -> str:
    kinds = [_kind(result) for result in row.results]
    verdicts = [
        (one.policy, one.rule, one.status, [denial.message for denial in one.denials])
        for one in row.verdicts
    ]
    found = digest("told1", row.status, change_words(row), row.message, kinds, verdicts)
    return found.partition(":")[2][:_DIGITS]


def _kind(result: KindState) -> tuple[object, ...]:
    # The hash of a content that is shown may be keyed: another key is no other content.
    shown = result.diff if result.diff is not None else result.content_hash
    return (result.kind, result.has_changes, shown)
