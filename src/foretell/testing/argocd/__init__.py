"""An Argo CD of one's own: for speed and for faults. The real one passes the same tests.

argocd = FakeArgoCD({TOKEN: ADMIN})
argocd.repository(URL).commit("main", {"app": Directory([config_map])})
await argocd.deploy(an_application("web", {"repoURL": URL, "path": "app"}))
async with argocd.serving() as address: ...
"""

from foretell.testing.argocd.rbac import ADMIN, Policy, read_policies
from foretell.testing.argocd.repository import (
    Chart,
    Content,
    Directory,
    HelmFolder,
    Kustomization,
    Plugin,
    RenderInputs,
    Repository,
)
from foretell.testing.argocd.samples import an_application
from foretell.testing.argocd.server import FakeArgoCD
from foretell.testing.argocd.web import Request

__all__ = [
    "ADMIN",
    "Chart",
    "Content",
    "Directory",
    "FakeArgoCD",
    "HelmFolder",
    "Kustomization",
    "Plugin",
    "Policy",
    "RenderInputs",
    "Repository",
    "Request",
    "an_application",
    "read_policies",
]
