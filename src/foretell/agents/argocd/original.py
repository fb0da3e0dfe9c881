"""The Application that is there now, and whether there is one at all."""

from foretell.agents.argocd.application import Desired
from foretell.agents.argocd.client import ArgoCD
from foretell.agents.argocd.documents import Application
from foretell.domain.errors import AgentRejected, Forbidden, NotFound


async def find_original(client: ArgoCD, wanted: Desired) -> Application | None:
    """None: there is none. Raises AgentRejected where this token can't tell.

    The server says "not found" only to who may see the Application's project, and "forbidden" for
    anything else, also for what is not there (argo-cd#13000).
    """
    try:
        return await client.application(
            wanted.name, project=wanted.project, namespace=wanted.namespace
        )
    except NotFound:
        return await _elsewhere(client, wanted)
    except Forbidden as error:
        if await _is_surely_missing(client, wanted):
            return None
        raise AgentRejected(
            f"cannot tell whether the Application {wanted.name} exists: {error.message}; let the "
            f"apiKey's account get the applications of project {wanted.project}",
            reason="forbidden",
        ) from error


async def _elsewhere(client: ArgoCD, wanted: Desired) -> Application | None:
    """It may be in another project, which "not found" hides: names are unique in a namespace."""
    for found in await client.applications(name=wanted.name):
        if found.name == wanted.name and wanted.namespace in ("", found.metadata.namespace):
            return found
    return None


async def _is_surely_missing(client: ArgoCD, wanted: Desired) -> bool:
    """Who sees other Applications of the project sees this one too, if it is there."""
    seen = await client.applications(projects=[wanted.project])
    return bool(seen) and all(each.name != wanted.name for each in seen)
