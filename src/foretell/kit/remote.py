"""How git is asked: what it may do, which secrets it gets and where they go, what it meant."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit.process import Completed, Limits, ProgramStopped, TimedOut, run
from foretell.kit.scrub import scrub, tail

LIMITS: Final = Limits(
    wall=timedelta(minutes=5), memory_bytes=2 * 1024**3, output_bytes=64 * 1024**2, network=True
)
# Nothing of the machine's or the user's configuration, no prompt, no program out of a repository.
_SAFE: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_CONFIG: Final = {
    "protocol.ext.allow": "never",
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.sparseCheckout": "false",
    "core.attributesFile": "/dev/null",
    "safe.directory": "*",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "advice.detachedHead": "false",
}
REMOTE: Final = "foretell"
_TRANSPORT: Final = re.compile(r"[\w+.-]+::")
# What the other side says when asking again won't help; everything else is taken for bad weather.
_FINAL: Final = (
    "authentication failed",
    "could not read username",
    "could not read password",
    "permission denied",
    "returned error: 401",
    "returned error: 403",
    "returned error: 404",
    "repository not found",
    "does not appear to be a git repository",
    "host key verification failed",
    "not allowed",
    "unable to find remote helper",
)


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository by URL; userinfo of an http(s) one travels as a header, not in an argument."""

    url: str
    header: str = ""

    @classmethod
    def of(cls, repository: str) -> "Remote":
        parts = urlsplit(repository)
        if parts.scheme not in ("http", "https") or "@" not in parts.netloc:
            return cls(repository)
        userinfo, _, host = parts.netloc.rpartition("@")
        user, _, word = userinfo.partition(":")
        pair = base64.b64encode(f"{unquote(user)}:{unquote(word)}".encode()).decode()
        return cls(urlunsplit(parts._replace(netloc=host)), f"Authorization: Basic {pair}")

    def config(self) -> dict[str, str]:
        settings = {f"remote.{REMOTE}.url": self.url}
        return settings | ({f"http.{self.url}.extraHeader": self.header} if self.header else {})


async def git(
    *arguments: str,
    remote: Remote | None = None,
    env: Mapping[str, str],
    wall: timedelta | None = None,
    stdin: bytes | None = None,
) -> Completed:
    """Runs git; a status other than 0 is the caller's to judge.

    Raises AgentUnavailable when it took too long, AgentRejected when a limit or a missing program
    ended it.
    """
    config = _CONFIG | (remote.config() if remote else {})
    limits = replace(LIMITS, wall=wall or LIMITS.wall, network=remote is not None)
    try:
        return await run(
            ["git", *arguments],
            limits=limits,
            env={**_SAFE, **_config_env(config), **env},
            stdin=stdin,
        )
    except TimedOut as error:
        raise AgentUnavailable(error.message, reason="timeout") from error
    except ProgramStopped as error:
        raise AgentRejected(error.message) from error


def _config_env(config: Mapping[str, str]) -> dict[str, str]:
    """Configuration of command scope (git-config, "GIT_CONFIG_COUNT"), out of the arguments."""
    env = {"GIT_CONFIG_COUNT": str(len(config))}
    for number, (key, value) in enumerate(config.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env


def refused(repository: str, done: Completed) -> AgentRejected | AgentUnavailable:
    """What a failed call to the other side means: our move, or only bad weather."""
    said = tail(done.stderr)
    message = f"git could not read {scrub(repository)}: {said or 'no reason given'}"
    if any(phrase in said.lower() for phrase in _FINAL):
        return AgentRejected(f"{message}; check the address and the credentials")
    return AgentUnavailable(message)


def check_repository(repository: str) -> None:
    """Raises AgentRejected for what git would take for an option or a program."""
    odd = not repository or repository.startswith("-") or "\0" in repository
    if odd or _TRANSPORT.match(repository):
        raise AgentRejected(
            f"repository {scrub(repository)!r} is neither a path nor an https, ssh or git URL"
        )


def parse_refs(listing: bytes) -> dict[str, str]:
    """Reference -> commit out of `git ls-remote`; an annotated tag counts as what it points at."""
    lines = [line.split("\t") for line in listing.decode("utf-8", "replace").splitlines()]
    refs = {name: sha for sha, name in lines}
    return {name: refs.get(f"{name}^{{}}", sha) for name, sha in refs.items() if name[-3:] != "^{}"}


def candidates(revision: str) -> Sequence[str]:
    """Full names that `revision` may stand for, in the order of gitrevisions(7)."""
    return (revision, f"refs/{revision}", f"refs/tags/{revision}", f"refs/heads/{revision}")
