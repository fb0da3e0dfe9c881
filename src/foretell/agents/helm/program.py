"""The helm program, and how it is run: limited, without the server's environment."""

import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from foretell.domain.errors import AgentRejected
from foretell.kit.process import Completed, Limits, ProgramMissing, ProgramStopped, TimedOut, run
from foretell.kit.scrub import tail

OUTPUT_BYTES = 20 * 1024 * 1024
MEMORY_BYTES = 1024**3
RENDER_FOR = timedelta(seconds=60)
_PULL_FOR = timedelta(minutes=2)
_OLDEST = (3, 17)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+\S*)")


@dataclass(frozen=True, slots=True)
class HelmProgram:
    """A helm that can be used; `version` as it says itself, without the "v"."""

    path: Path
    version: str

    @property
    def is_3(self) -> bool:
        """Helm 4 dropped some flags and environment variables."""
        return self.version.startswith("3.")


async def find_helm(configured: str, cache: Path) -> HelmProgram:
    """The configured helm, else the first on PATH, else the one that was unpacked into `cache`.

    Raises AgentRejected in one line when there is none, or it is older than 3.17.
    """
    for path in _candidates(configured, cache):
        return await _checked(path)
    raise AgentRejected(
        "there is no helm program: install helm 3.17 or newer, put it on PATH, or name it in "
        "FORETELL_HELM"
    )


def _candidates(configured: str, cache: Path) -> Iterator[Path]:
    if configured:
        yield Path(configured)
    elif found := shutil.which("helm"):
        yield Path(found)
    else:
        unpacked = (path for path in cache.glob("helm-*/helm") if os.access(path, os.X_OK))
        yield from sorted(unpacked, reverse=True)


async def _checked(path: Path) -> HelmProgram:
    limits = Limits(timedelta(seconds=20), MEMORY_BYTES, 65_536, network=False)
    try:
        done = await run([str(path), "version", "--template", "{{.Version}}"], limits=limits)
    except ProgramStopped as error:
        raise AgentRejected(f"helm at {path} can't be used: {error.message}") from error
    said = _VERSION.match(done.stdout.decode("utf-8", "replace").strip())
    if done.returncode != 0 or said is None:
        raise AgentRejected(f"{path} is no helm that can be used: {tail(done.stderr, 300)}")
    if (int(said[1]), int(said[2])) < _OLDEST:
        raise AgentRejected(f"helm at {path} is {said[0]}; 3.17 or newer is needed")
    return HelmProgram(path, said[0].removeprefix("v"))


@dataclass(frozen=True, slots=True)
class Call:
    """One run of helm in a folder of its own; `folder` is what its messages are cleaned of."""

    program: HelmProgram
    folder: Path
    wall: timedelta = RENDER_FOR
    network: bool = False

    async def run(self, *arguments: str) -> Completed:
        """A status other than 0 is the caller's to judge; a limit is an AgentRejected.

        A limit says nothing of what helm printed: that may be a secret.
        """
        # At once: helm holds nothing that it would have to give back.
        limits = Limits(self.wall, MEMORY_BYTES, OUTPUT_BYTES, self.network, stop=signal.SIGKILL)
        argv = [str(self.program.path), *arguments]
        try:
            return await run(argv, limits=limits, cwd=self.folder, env=_environment(self.folder))
        except TimedOut as error:
            raise AgentRejected(error.message, reason="timeout") from error
        except ProgramMissing as error:
            raise AgentRejected(error.message) from error
        except ProgramStopped as error:
            raise AgentRejected(f"{error.message} (helm {arguments[0]})") from error

    def online(self) -> "Call":
        """The same with the network, and time for it."""
        return Call(self.program, self.folder, max(self.wall, _PULL_FOR), network=True)


def _environment(folder: Path) -> Mapping[str, str]:
    """Helm's own folders below `folder`: no plug-in, login or repository of the machine's user."""
    home = folder / "home"
    return {
        "HOME": str(home),
        "HELM_CACHE_HOME": str(home / "cache"),
        "HELM_CONFIG_HOME": str(home / "config"),
        "HELM_DATA_HOME": str(home / "data"),
        "HELM_PLUGINS": str(home / "plugins"),
        "KUBECONFIG": str(home / "no-kubeconfig"),
        "TMPDIR": str(folder),
        "GOMEMLIMIT": str(MEMORY_BYTES * 9 // 10),
    }


def said(done: Completed, places: Mapping[Path, str] | Sequence[Path] = ()) -> str:
    """What helm printed on stderr, trimmed and scrubbed, with each path as its name."""
    text = done.stderr.decode("utf-8", "replace")
    names = places if isinstance(places, Mapping) else dict.fromkeys(places, "")
    for path, name in sorted(names.items(), key=lambda item: -len(str(item[0]))):
        text = text.replace(f"{path}/", f"{name}/" if name else "").replace(str(path), name or ".")
    return tail(text, 1500)
