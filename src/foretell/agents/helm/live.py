"""The live release of a cluster, as helm stored it: what was rendered when it was deployed."""

import tempfile
from pathlib import Path
from typing import Any

from foretell.agents.helm.program import Call, HelmProgram, said
from foretell.agents.helm.render import Inputs
from foretell.domain.errors import AgentRejected, AgentUnavailable, InvalidRequest
from foretell.formats.yaml import load_documents
from foretell.kit.process import Completed

_PROGRAMS = ("exec", "auth-provider")
_FILES = ("tokenFile", "client-certificate", "client-key", "certificate-authority")
_FINAL = ("unauthorized", "forbidden", "invalid configuration", "x509")


async def live_manifests(program: HelmProgram, inputs: Inputs, kubeconfig: str) -> str | None:
    """Manifests and hooks of the release, or None: there is none of that name.

    Raises AgentUnavailable while the cluster can't be reached.
    """
    check_kubeconfig(kubeconfig)
    with tempfile.TemporaryDirectory(prefix="foretell-helm-") as name:
        folder = Path(name)
        file = folder / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(kubeconfig)
        call = Call(program, folder, inputs.timeout).online()
        texts = [await _get(call, what, inputs, file) for what in ("manifest", "hooks")]
    found = [text for text in texts if text is not None]
    return "\n---\n".join(found) if found else None


async def _get(call: Call, what: str, inputs: Inputs, file: Path) -> str | None:
    done = await call.run(
        "get",
        what,
        inputs.release_name,
        f"--namespace={inputs.namespace}",
        f"--kubeconfig={file}",
    )
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    text = said(done, [call.folder])
    if "release: not found" in text:
        return None
    raise _refused(inputs, done, text)


def _refused(inputs: Inputs, done: Completed, text: str) -> AgentRejected | AgentUnavailable:
    message = (
        f"helm could not read the live release {inputs.release_name} in namespace "
        f"{inputs.namespace}: {text or f'status {done.returncode}'}"
    )
    if any(word in text.lower() for word in _FINAL):
        return AgentRejected(f"{message}; check the kubeconfig and what it may read")
    return AgentUnavailable(message)


def check_kubeconfig(text: str) -> None:
    """Raises AgentRejected for a kubeconfig that runs programs or reads files where we run."""
    try:
        documents = load_documents(text, source="the kubeconfig")
    except InvalidRequest as error:
        raise AgentRejected(str(error)) from error
    value = documents[0].value if documents else None
    if not isinstance(value, dict) or len(documents) > 1:
        raise AgentRejected("the kubeconfig is wrong: expected one map")
    for key in sorted(_keys_of(value, "users", "user") | _keys_of(value, "clusters", "cluster")):
        if key in _PROGRAMS:
            raise AgentRejected(
                f"the kubeconfig may not run a program ({key}): give it a token or a certificate"
            )
        if key in _FILES:
            raise AgentRejected(
                f"the kubeconfig may not name a file ({key}): put the content in, as {key}-data "
                "or token"
            )


def _keys_of(config: dict[str, Any], entries: str, inner: str) -> set[str]:
    listed = config.get(entries)
    return {
        str(key)
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get(inner), dict)
        for key in entry[inner]
    }
