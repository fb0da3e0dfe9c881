"""`.terraformignore`: which files stay out of an upload, as Terraform's own uploads read it.

Like `.gitignore`, with two differences: a pattern without a leading "/" holds in every folder,
also when it has a "/" in the middle, and "!" brings back what lies in a folder that is left out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

from foretell.domain.errors import AgentRejected

DEFAULT_RULES: Final = (".git/", ".terraform/", "!.terraform/modules/")
"""What stays out without a file (HCP Terraform, "Excluding files from upload")."""
NEVER: Final = ("*.tfstate", "*.tfstate.*", ".terraformrc", "terraform.rc")
"""State and credentials have no place in a configuration; no rule brings them back."""
_MOST_RULES: Final = 1000
_LONGEST: Final = 512
_ANY_FOLDERS: Final = "**"
_ESCAPED: Final = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class _Rule:
    """`names`: a pattern for each part of a path, None for any number of them."""

    names: tuple[re.Pattern[str] | None, ...]
    folder: bool
    keeps: bool

    def fits(self, parts: Sequence[str]) -> bool:
        """Whether it names the path, or a folder above it.

        All places in the rule that a part may stand at, at once: nothing is tried twice, however
        many stars a rule has.
        """
        last = len(self.names)
        places = self._reached({0})
        for number, part in enumerate(parts, 1):
            places = self._reached({next_ for at in places for next_ in self._after(at, part)})
            if last in places and (number < len(parts) or not self.folder):
                return True
        return False

    def _after(self, at: int, part: str) -> tuple[int, ...]:
        if at == len(self.names):
            return ()
        name = self.names[at]
        if name is None:
            return (at,)
        return (at + 1,) if name.match(part) else ()

    def _reached(self, places: set[int]) -> set[int]:
        """And those behind a `**` that stands for no folder at all."""
        for at in range(len(self.names)):
            if at in places and self.names[at] is None:
                places.add(at + 1)
        return places


class Ignore:
    """Rules in order; the last one that fits a path decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        written = [line.strip() for line in lines]
        own = [line for line in written if line.strip("!/") and not line.startswith("#")]
        if len(own) > _MOST_RULES or any(len(line) > _LONGEST for line in own):
            raise AgentRejected(
                f".terraformignore: at most {_MOST_RULES} rules of {_LONGEST} characters are read"
            )
        self._rules = [_rule(line) for line in (*DEFAULT_RULES, *own)]
        self._never = [_rule(line) for line in NEVER]

    def leaves_out(self, path: str) -> bool:
        """Whether the file at `path` ("/" between its parts, from the archive's root) stays out."""
        parts = path.split("/")
        if any(rule.fits(parts) for rule in self._never):
            return True
        last = next((rule for rule in reversed(self._rules) if rule.fits(parts)), None)
        return last is not None and not last.keeps


def _rule(line: str) -> _Rule:
    pattern = line.removeprefix("!")
    folder = pattern.endswith(("/", f"/{_ANY_FOLDERS}"))
    pattern = pattern.removesuffix(f"/{_ANY_FOLDERS}")
    names = [name for name in pattern.split("/") if name]
    if not pattern.startswith("/"):
        names.insert(0, _ANY_FOLDERS)
    return _Rule(tuple(_name(name) for name in names), folder, keeps=line.startswith("!"))


def _name(name: str) -> re.Pattern[str] | None:
    """`*`, `?` and `[…]` within one part of a path; fnmatch does not go back over a star."""
    if name == _ANY_FOLDERS:
        return None
    glob = _ESCAPED.sub(lambda found: f"[{found[1]}]", name).replace("[^", "[!")
    try:
        return re.compile(translate(glob))
    except re.error as error:
        raise AgentRejected(f".terraformignore: {name!r}: {error}") from error
