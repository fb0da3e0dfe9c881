"""Charts from a registry or a chart repository: the only thing helm needs the network for."""

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from foretell.agents.helm.config import HelmConfig
from foretell.agents.helm.program import Call, HelmProgram, said
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit.process import Completed
from foretell.kit.scrub import scrub

_ALIAS = "r"
# What will be the same when asked again; everything else is taken for bad weather.
_FINAL = (
    "not found",
    "401",
    "403",
    "404",
    "unauthorized",
    "denied",
    "no chart",
    "invalid",
    "not a valid",
    "improper constraint",
    "unsupported protocol",
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A chart elsewhere. `url` with a chart repository is `repository`, else the OCI reference."""

    chart: str
    repository: str
    version: str

    @property
    def name(self) -> str:
        """For people: without credentials."""
        place = f" of {scrub(self.repository)}" if self.repository else ""
        return f"{scrub(self.chart)} {self.version or '(latest)'}{place}"


def remote_reference(config: HelmConfig) -> Reference | None:
    """What has to be pulled, or None: the chart is a path.

    An http(s) `repoURL` is a chart repository when `chart` is a bare name and the address does not
    end in .git; `./name` is the folder of that name in a git repository.
    """
    version, chart, url = config.revision or "", config.chart, config.repo_url
    if chart.startswith("oci://"):
        return Reference(chart, "", version)
    if url is None:
        return None
    if url.startswith("oci://"):
        return Reference(f"{url.rstrip('/')}/{chart}", "", version)
    bare = "/" not in chart and not chart.endswith((".tgz", ".tar.gz")) and chart != "."
    if url.startswith(("http://", "https://")) and not url.endswith(".git") and bare:
        return Reference(chart, url, version)
    return None


async def pull(program: HelmProgram, reference: Reference, shelf: Path) -> Path:
    """The packed chart, kept on `shelf` under the digest of its bytes.

    Raises AgentUnavailable while the other side can't be reached.
    """
    shelf.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=shelf) as draft:
        folder = Path(draft)
        call = Call(program, folder).online()
        await _fetch(call, reference)
        packed = next(folder.glob("*.tgz"), None)
        if packed is None:
            raise AgentRejected(f"helm pulled no chart for {reference.name}")
        kept = shelf / f"{digest('c1', packed.read_bytes()).partition(':')[2]}.tgz"
        os.replace(packed, kept)
    return kept


async def _fetch(call: Call, reference: Reference) -> None:
    chart = reference.chart
    if reference.repository:
        _write_repository(call.folder, reference.repository)
        # Helm 3 takes a failed update for a success unless told otherwise.
        strict = ("--fail-on-repo-update-fail",) if call.program.is_3 else ()
        _check(call, reference, await call.run("repo", "update", _ALIAS, *strict))
        chart = f"{_ALIAS}/{chart}"
    version = (f"--version={reference.version}",) if reference.version else ()
    _check(call, reference, await call.run("pull", chart, *version))


def _check(call: Call, reference: Reference, done: Completed) -> None:
    if done.returncode == 0:
        return
    # `repo update` says why on standard output, and only that it failed on the other one.
    both = replace(done, stderr=done.stdout + b"\n" + done.stderr)
    text = said(both, [call.folder]).replace(f"{_ALIAS}/", "")
    message = f"helm could not pull chart {reference.name}: {text or 'no reason given'}"
    if any(word in text.lower() for word in _FINAL):
        raise AgentRejected(f"{message}; check name, version and credentials")
    raise AgentUnavailable(message)


def _write_repository(folder: Path, url: str) -> None:
    """Helm's list of repositories: credentials go into a file, not into arguments."""
    parts = urlsplit(url)
    userinfo, _, host = parts.netloc.rpartition("@")
    user, _, word = userinfo.partition(":")
    entry = {
        "name": _ALIAS,
        "url": urlunsplit(parts._replace(netloc=host)),
        "username": unquote(user),
        "password": unquote(word),
    }
    place = folder / "home" / "config"
    place.mkdir(parents=True)
    content = json.dumps({"apiVersion": "v1", "repositories": [entry]})
    (place / "repositories.yaml").write_text(content)
