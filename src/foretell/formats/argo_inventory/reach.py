"""Which Applications a change of files can reach; what cannot be decided is taken."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from foretell.formats.argo_inventory.application import Application, Source
from foretell.formats.argo_inventory.inputs import Inputs, inputs
from foretell.formats.argo_inventory.tree import Tree

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be planned: `files` changed from one commit to another one, whose tree `tree` is.

    `files` None: nobody knows which. `branch`: where the change is going to be merged; "" unknown.
    """

    files: tuple[str, ...] | None = None
    tree: Tree | None = None
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An Application that the change can reach, and why it is thought so."""

    application: Application
    reason: str


def choose(applications: Iterable[Application], change: Change) -> list[Chosen]:
    """The Applications that the change can reach, in the order given."""
    found = ((one, reason(one, change)) for one in applications)
    return [Chosen(one, why) for one, why in found if why]


def reason(one: Application, change: Change) -> str:
    """Why the change can reach the Application; "" if it cannot."""
    if not any(_follows(source, change.branch) for source in one.here):
        return ""
    if change.files is None:
        return "nobody knows which files changed"
    found = inputs(one, change.tree)
    if found.undecided:
        return found.undecided if change.files else ""
    return _met(found, change.files)


def _follows(source: Source, branch: str) -> bool:
    """Whether a merge into `branch` may move the source. HEAD may be any branch."""
    if _COMMIT.fullmatch(source.revision):
        return False
    plain = source.revision.removeprefix("refs/heads/")
    return not branch or plain in ("HEAD", branch.removeprefix("refs/heads/"))


def _met(found: Inputs, files: Sequence[str]) -> str:
    for file in files:
        for place in sorted(found.places):
            if _reaches(file, place):
                return f"{file} changed" if file == place else f"{file} changed, it reads {place}"
    return ""


def _reaches(file: str, place: str) -> bool:
    """A submodule is one changed path above all places in it."""
    inside = not place or file == place or file.startswith(f"{place}/")
    return inside or place.startswith(f"{file}/") or _matches(file, place)


def _matches(file: str, pattern: str) -> bool:
    """Go's `filepath.Match`: no part of a pattern matches a slash."""
    if not any(mark in pattern for mark in "*?["):
        return False
    parts, wanted = file.split("/"), pattern.replace("[^", "[!").split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
