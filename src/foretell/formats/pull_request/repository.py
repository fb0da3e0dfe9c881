"""One repository, however it is spelt; and whether a config refers to it.

The spellings are those of git-clone(1) "GIT URLS", of Terraform's module sources
(`git::https://host/owner/name.git//path?ref=main`, `host/owner/name`), and of GitHub's own second
host for SSH over port 443.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_URL = re.compile(
    r"(?:git::)?(?:(?:git\+)?(?:https?|ssh|git)://)?"
    r"(?:[^/@\s]*@)?"
    r"(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"(?::[0-9]+(?=/))?[:/]/?"
    r"(?P<owner>[A-Za-z0-9_.-]+)/(?P<name>[A-Za-z0-9_.-]+?)(?:\.git)?"
    r"(?=$|[/?#@\s\"',}])",
    re.IGNORECASE,
)
_SAME_HOST = {"ssh.github.com": "github.com", "www.github.com": "github.com"}
_ADDRESSES = frozenset({"repourl", "url", "repository", "chart", "repo", "source"})
"""The keys, in lower case, whose texts are addresses of repositories or charts."""
_IN_TEXT = re.compile(r"""\brepoURL["']?\s*:\s*["']?(?P<address>[^\s"',}]+)""")
"""Where the text of a template says it: an Argo CD Application in YAML or JSON."""


@dataclass(frozen=True, slots=True)
class Repository:
    """Its parts in lower case: GitHub does not tell `Acme/Shop` from `acme/shop`."""

    host: str
    owner: str
    name: str


def repository(host: str, owner: str, name: str) -> Repository:
    """The repository of that name, whatever the case."""
    host = host.lower()
    return Repository(_SAME_HOST.get(host, host), owner.lower(), name.lower())


def read_repository(address: str) -> Repository | None:
    """The repository that an address leads into; None where it is no address of one."""
    found = _URL.match(address.strip())
    return repository(found["host"], found["owner"], found["name"]) if found else None


def refers(config: Any, wanted: Repository) -> bool:
    """Whether a config, merged or in part, names the repository.

    By `owner` and `repo` side by side, by an address under a key for one, or by the `repoURL` of
    a template's text. An address that is itself a template names nothing until it is rendered.
    """
    # A stack, not a call: depth is somebody else's choice.
    waiting = [config]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            if _names(part, wanted):
                return True
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
    return False


def _names(part: Mapping[str, Any], wanted: Repository) -> bool:
    if _same(part.get("owner"), wanted.owner) and _same(part.get("repo"), wanted.name):
        return True
    return any(
        isinstance(value, str | list | tuple)
        and any(read_repository(text) == wanted for text in _addresses(key, value))
        for key, value in part.items()
    )


def _same(value: Any, word: str) -> bool:
    return isinstance(value, str) and value.lower() == word


def _addresses(key: str, value: str | Sequence[Any]) -> Iterator[str]:
    texts = [value] if isinstance(value, str) else [one for one in value if isinstance(one, str)]
    if key.lower() in _ADDRESSES:
        yield from texts
        return
    for text in texts:
        if "repoURL" in text:
            yield from (found["address"] for found in _IN_TEXT.finditer(text))
