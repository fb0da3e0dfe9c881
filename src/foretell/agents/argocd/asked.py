"""The manifests call, and whether what came back is what was asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from foretell.agents.argocd.client import ArgoCD
from foretell.agents.argocd.documents import JsonMap, Manifests
from foretell.agents.argocd.refusal import CACHED
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.domain.plan import InvocationId

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class OfExisting:
    """Of an Application as it is, at a revision (or one for each source), "" being its own."""

    name: str
    project: str
    namespace: str
    revision: str | Sequence[str] = ""


@dataclass(frozen=True, slots=True)
class OfTemporary:
    """Of an Application that is made for it and deleted after it, in the name of `original`."""

    name: str
    original: str
    project: str
    namespace: str
    invocation_id: InvocationId
    document: JsonMap = field(repr=False)


By = OfExisting | OfTemporary


async def manifests(client: ArgoCD, by: By, expected: str) -> Manifests:
    """What `by` renders; `expected` is the commit that it should be of, "" where nobody knows.

    An error that the renderer only remembers, and a commit that it only remembers, are asked for
    once more without its memory. Raises AgentRejected for a render of another commit, and for an
    empty one that the server has an error to show for: that is no render of nothing.
    """
    try:
        found = await _ask(client, by)
    except InvalidRequest as error:
        if CACHED not in error.message:
            raise
        found = await _ask(client, by, no_cache=True)
    if _is_other(found.revision, expected):
        found = await _ask(client, by, no_cache=True)
    if _is_other(found.revision, expected):
        raise AgentRejected(
            f"Argo CD rendered another commit of {by.name}: asked for {expected}, got "
            f"{found.revision}; its cache is stale, refresh the Application and plan again",
            reason="stale",
        )
    if not found.manifests:
        await _check_empty(client, by)
    return found


async def _ask(client: ArgoCD, by: By, *, no_cache: bool = False) -> Manifests:
    return await client.manifests(
        by.name,
        project=by.project,
        namespace=by.namespace,
        revision=by.revision if isinstance(by, OfExisting) else "",
        no_cache=no_cache,
    )


def _is_other(found: str, expected: str) -> bool:
    """Of a branch nobody here knows which commit it is; some servers do not say what they did."""
    if not found or not _COMMIT.fullmatch(expected):
        return False
    return not (found.startswith(expected) or expected.startswith(found))


async def _check_empty(client: ArgoCD, by: By) -> None:
    application = await client.application(by.name, project=by.project, namespace=by.namespace)
    errors = [each for each in application.status.conditions if each.is_error]
    if errors:
        told = "; ".join(f"{each.type}: {each.message}" for each in errors)
        raise AgentRejected(f"Argo CD could not render {by.name}: {told}")
