"""The one thing that a comment can ask for: `foretell plan [-d NAME]…`."""

import re
from dataclasses import dataclass

_NAME = r"[^\s`\"'-][^\s`\"']{0,199}"
_COMMAND = re.compile(r"foretell\s+plan(?P<rest>(?:\s.*)?)\Z", re.IGNORECASE)
_CHOICES = re.compile(rf"(?:\s+(?:-d|--deployment)[ =]\s*{_NAME})*\s*\Z")
_CHOICE = re.compile(rf"(?:-d|--deployment)[ =]\s*({_NAME})")
_LONGEST = 2000
"""No command is longer; a comment has up to 65,536 characters."""


@dataclass(frozen=True, slots=True)
class Command:
    """`deployments` by slug, name or id; none of them means all.

    `is_understood` False: it was meant for us, but not a word is to be guessed.
    """

    deployments: tuple[str, ...] = ()
    is_understood: bool = True


def read_command(comment: str) -> Command | None:
    """What the first line of a comment asks for; None where it does not speak to us.

    Only the first line, and only from its start: what is quoted, fenced or told in passing is
    no order.
    """
    line = comment.lstrip("\r\n")[:_LONGEST].partition("\n")[0].rstrip()
    found = _COMMAND.match(line)
    if found is None:
        return None
    if not _CHOICES.match(found["rest"]):
        return Command(is_understood=False)
    return Command(tuple(dict.fromkeys(_CHOICE.findall(found["rest"]))))
