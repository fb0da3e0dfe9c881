"""What a failed run printed -> one message: what failed, why, and what would help.

The programs write for a terminal: boxes drawn around each error, warnings among them, paths of
this machine, and lines of the configuration with their values.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from foretell.domain.errors import AgentError, AgentRejected, AgentUnavailable
from foretell.formats.redact.names import DEFAULT_NAMES
from foretell.formats.redact.values import MASK
from foretell.kit.scrub import scrub

MOST_CHARS: Final = 1500
_BOX: Final = re.compile(r"(?m)^[╷│╵] ?|\x1b\[[0-9;]*m")
_BLANKS: Final = re.compile(r"\n\s*\n+")
_FIRST_ERROR: Final = re.compile(r"(?m)^Error: ")
_WARNING: Final = re.compile(r"(?ms)^Warning: .*?(?=^Error: |\Z)")
_ASSIGNED: Final = re.compile(
    r"""([A-Za-z_][\w.-]{0,100})(["']?(?:\s*[=:]\s*|\s+is\s+))("[^"\n]*"|\d\S*)"""
)
_PASSING: Final = re.compile(
    r"(?i)connection (?:refused|reset)|no such host|i/o timeout|TLS handshake timeout"
    r"|context deadline exceeded|temporary failure in name resolution|unexpected EOF"
    r"|could not connect to|\b50[234]\b|\b429\b|too many requests|service unavailable|throttl"
)
_LOCKED: Final = "Error acquiring the state lock"
_ADVICE: Final[tuple[tuple[str, str], ...]] = (
    ("No value for required variable", "give it in a file of varFiles, or as TF_VAR_… in env"),
    ("Input variable is not set", "give it in a file of varFiles, or as TF_VAR_… in env"),
    ("Backend configuration changed", "make backendConfig say all that the backend needs"),
    ("Backend initialization required", "make backendConfig say all that the backend needs"),
    ("Failed to query available provider", "check its source and version, and the network"),
    ("Provider registry", "check its source and version, and the network"),
    ("Could not retrieve the list of available", "check its source and version"),
    ("Inconsistent dependency lock file", "run init in the repository and commit the lock file"),
    ("No valid credential sources", "let the credentials' variables through in env"),
    ("Unsupported Terraform Core version", "name another program with binary"),
    ("Unsupported OpenTofu Core version", "name another program with binary"),
    ("error(s) occurred while configuring the backend", "check backendConfig"),
)


def failure(
    what: str, said: str, places: Mapping[Path, str], hide: Callable[[str], str] = str
) -> AgentError:
    """The error for a run that failed: AgentUnavailable where only waiting helps.

    `what` is what was tried ("terraform init"), `places` the paths of this machine with what they
    are called, `hide` takes out the secrets that are known.
    """
    told = told_of(said, places, hide)
    message = f"{what} failed: {told or 'it did not say why'}"
    if _LOCKED in said:
        return AgentUnavailable(f"{message}\nthe state is locked by another run: it is tried again")
    advice = next((advice for part, advice in _ADVICE if part in said), "")
    if _PASSING.search(told) and not what.endswith("show"):
        return AgentUnavailable(message + (f"\n{advice}" if advice else ""))
    return AgentRejected(message + (f"\n{advice}" if advice else ""))


def told_of(said: str, places: Mapping[Path, str], hide: Callable[[str], str] = str) -> str:
    """The errors in `said` without boxes, warnings, paths and secrets; the first ones, trimmed."""
    text = _BOX.sub("", said)
    for path, name in sorted(places.items(), key=lambda each: -len(str(each[0]))):
        text = text.replace(f"{path}/", f"{name}/" if name else "").replace(str(path), name or ".")
    if first := _FIRST_ERROR.search(text):
        text = _WARNING.sub("", text[first.start() :])
    text = scrub(hide(_ASSIGNED.sub(_without_secret, text)))
    text = _BLANKS.sub("\n", text).strip().removeprefix("Error: ")
    return text if len(text) <= MOST_CHARS else text[:MOST_CHARS].rsplit("\n", 1)[0] + "\n…"


def _without_secret(found: re.Match[str]) -> str:
    """`password = "…"` in a line of the configuration, or `var.password is "…"` below it."""
    name, between, _ = found.groups()
    return f"{name}{between}{MASK}" if DEFAULT_NAMES.hides(name.split(".")[-1]) else found[0]
