"""`.terraformignore`: which files stay out of an upload, as Terraform's own uploads read it.

Like `.gitignore`, with two differences: a pattern without a leading "/" holds in every folder,
also when it has a "/" in the middle, and "!" brings back what lies in a folder that is left out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from foretell.domain.errors import AgentRejected

DEFAULT_RULES: Final = (".git/", ".terraform/", "!.terraform/modules/")
"""What stays out without a file (HCP Terraform, "Excluding files from upload")."""
NEVER: Final = ("*.tfstate", "*.tfstate.*", ".terraformrc", "terraform.rc")
"""State and credentials have no place in a configuration; no rule brings them back."""
_MOST_RULES: Final = 1000
_LONGEST: Final = 512


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keeps: bool


class Ignore:
    """Rules in order; the last one that fits a path decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        written = [line.strip() for line in lines]
        own = [line for line in written if line and not line.startswith("#")]
        if len(own) > _MOST_RULES or any(len(line) > _LONGEST for line in own):
            raise AgentRejected(
                f".terraformignore: at most {_MOST_RULES} rules of {_LONGEST} characters are read"
            )
        self._rules = [_rule(line) for line in (*DEFAULT_RULES, *own)]
        self._never = [_rule(line) for line in NEVER]

    def leaves_out(self, path: str) -> bool:
        """Whether the file at `path` ("/" between its parts, from the archive's root) stays out."""
        if any(rule.pattern.match(path) for rule in self._never):
            return True
        fitting = (rule for rule in reversed(self._rules) if rule.pattern.match(path))
        last = next(fitting, None)
        return last is not None and not last.keeps


def _rule(line: str) -> _Rule:
    keeps = line.startswith("!")
    pattern = line.removeprefix("!")
    folder = pattern.endswith("/")
    anchored = pattern.startswith("/")
    body = _regex(pattern.strip("/"))
    start = "" if anchored else "(?:.*/)?"
    end = "/.*" if folder else "(?:/.*)?"
    return _Rule(re.compile(f"{start}{body}{end}\\Z", re.DOTALL), keeps)


def _regex(glob: str) -> str:
    """A glob's parts: `**/` any folders, `**` anything, `*` and `?` within one name, `[…]`."""
    parts: list[str] = []
    place = 0
    while place < len(glob):
        step, taken = _part(glob, place)
        parts.append(step)
        place += taken
    return "".join(parts)


def _part(glob: str, place: int) -> tuple[str, int]:
    stars = re.compile(r"\*+/?").match(glob, place)
    if stars:
        return _stars(stars[0]), len(stars[0])
    if glob[place] == "?":
        return "[^/]", 1
    group = re.compile(r"\[([!^]?)([^]/]+)]").match(glob, place)
    if group:
        inside = group[2].replace("\\", r"\\").replace("[", r"\[").replace("&&", r"\&\&")
        return _checked(f"[{'^' if group[1] else ''}{inside}]", glob), len(group[0])
    if glob[place] == "\\" and place + 1 < len(glob):
        return re.escape(glob[place + 1]), 2
    return re.escape(glob[place]), 1


def _stars(stars: str) -> str:
    """One alternative each and no nesting: matching stays linear in the path."""
    if not stars.startswith("**"):
        return "[^/]*" + stars.lstrip("*")
    return "(?:.*/)?" if stars.endswith("/") else ".*"


def _checked(group: str, glob: str) -> str:
    try:
        re.compile(group)
    except re.error as error:
        raise AgentRejected(f".terraformignore: {glob!r}: {error}") from error
    return group
