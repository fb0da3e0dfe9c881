"""What the fake knows: Applications, projects, and who may touch them."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from foretell.kit.clock import SystemClock
from foretell.ports import Clock
from foretell.testing.argocd.faults import Faults
from foretell.testing.argocd.rbac import Policy, permitted
from foretell.testing.argocd.refused import INVALID, Refused, denied, missing
from foretell.testing.argocd.rendering import commits_of, type_of
from foretell.testing.argocd.repo_server import RepoServer
from foretell.testing.argocd.repository import Repository
from foretell.testing.argocd.web import Request

OWN_NAMESPACE = "argocd"
RESOURCES_FINALIZER = "resources-finalizer.argocd.argoproj.io"
Document = dict[str, Any]


class ServerState:
    """Everything but the wire.

    `accounts`: what each token may do. `requests`: every call there was, with what it needed.
    `faults`: what goes wrong. `repo_server`: who renders.
    """

    def __init__(
        self, accounts: Mapping[str, Sequence[Policy]], *, clock: Clock | None = None
    ) -> None:
        self.accounts = dict(accounts)
        self.faults = Faults()
        self.repo_server = RepoServer(self.faults)
        self.applications: dict[str, Document] = {}
        self.projects: dict[str, Document] = {"default": {}}
        self.requests: list[Request] = []
        self._clock = clock or SystemClock()

    def repository(self, url: str) -> Repository:
        """The repository at that address, made when it is asked for first."""
        return self.repo_server.repositories.setdefault(url, Repository(url))

    async def deploy(self, document: Mapping[str, Any], *, synced: bool = True) -> Document:
        """An Application that its controller has looked at, synced to its revisions or not."""
        application = self.store(copy.deepcopy(dict(document)))
        sources = sources_of(application["spec"])
        repositories = self.repo_server.repositories
        commits = commits_of(sources, repositories)
        types = [type_of(source, repositories) for source in sources]
        several = "sources" in application["spec"]
        place = "sources" if several else "source"
        application["status"] = {
            "sync": {
                "status": "Synced" if synced else "OutOfSync",
                "comparedTo": {place: application["spec"][place]},
                **({"revisions": commits} if several else {"revision": commits[0]}),
            },
            **({"sourceTypes": types} if several else {"sourceType": types[0]}),
            "controllerNamespace": OWN_NAMESPACE,
        }
        await self.repo_server.warm(application, pinned(sources, commits))
        return application

    def allow(
        self, request: Request, action: str, object: str, resource: str = "applications"
    ) -> None:
        """Raises Refused where this token may not; the call is marked with what it needed."""
        request.needed.append((resource, action, object))
        if not permitted(self.accounts[request.token], resource, action, object):
            raise denied()

    def may(self, request: Request, action: str, object: str) -> bool:
        """Whether the token may, without a mark: what is only left out of a list."""
        return permitted(self.accounts[request.token], "applications", action, object)

    def needs(self, request: Request, action: str, objects: Sequence[str]) -> None:
        """Marks a list with what it had to be permitted."""
        request.needed.extend(("applications", action, object) for object in objects)

    def found(self, request: Request, name: str, action: str) -> Document:
        """The Application for a call that names it; 403 and 404 are as the real server has them."""
        project = request.one("project")
        if project:
            self.allow(request, action, f"{project}/{name}")
        application = self.applications.get(name)
        if application is None:
            raise missing(name) if project else denied()
        effective = project_of(application)
        if project and not self.may(request, action, f"{effective}/{name}"):
            raise missing(name)
        self.allow(request, action, f"{effective}/{name}")
        if project and effective != project:
            raise missing(name)
        return application

    def store(self, application: Document) -> Document:
        """Written as Kubernetes would, with what a webhook adds."""
        metadata, spec = application["metadata"], application["spec"]
        metadata.setdefault("namespace", OWN_NAMESPACE)
        metadata.setdefault("creationTimestamp", self._now())
        if self.faults.finalizers:
            metadata["finalizers"] = [*metadata.get("finalizers", ()), *self.faults.finalizers]
        spec["project"] = spec.get("project") or "default"
        self.applications[metadata["name"]] = application
        return application

    def remove(self, name: str, *, cascade: bool) -> None:
        """Gone at once, unless a finalizer that is not the server's own holds it."""
        metadata = self.applications[name]["metadata"]
        held = [each for each in metadata.get("finalizers", ()) if each != RESOURCES_FINALIZER]
        if held:
            metadata["deletionTimestamp"] = self._now()
        else:
            del self.applications[name]

    def check_spec(self, application: Document) -> None:
        """Raises Refused where the project is none, or permits less than the Application wants."""
        spec = application["spec"]
        project = self.projects.get(project_of(application))
        if project is None:
            raise Refused(
                INVALID, f"application references project {spec['project']} which does not exist"
            )
        permits = project.get("sourceRepos", ["*"])
        for source in sources_of(spec):
            if "*" not in permits and source["repoURL"] not in permits:
                raise Refused(
                    INVALID,
                    f"application spec for {application['metadata']['name']} is invalid: "
                    f"InvalidSpecError: application repo {source['repoURL']} is not permitted in "
                    f"project '{spec['project']}'",
                )

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def sources_of(spec: Mapping[str, Any]) -> list[Document]:
    """`sources`, else `source`."""
    return list(spec["sources"]) if spec.get("sources") else [spec["source"]]


def project_of(application: Mapping[str, Any]) -> str:
    """Its project."""
    return application["spec"].get("project") or "default"


def pinned(sources: Sequence[Document], revisions: Sequence[str]) -> list[Document]:
    """The sources at these revisions."""
    return [
        {**source, "targetRevision": revision}
        for source, revision in zip(sources, revisions, strict=True)
    ]
