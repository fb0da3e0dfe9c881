"""Argo CD's REST API: calls that plans need, patient where that helps, errors without secrets.

Source: `assets/swagger.json` of argoproj/argo-cd; errors are those of gRPC behind its gateway
(`{"code": 5, "message": …}`), by HTTP status as grpc-gateway maps them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from foretell.agents.argocd.documents import (
    Application,
    ApplicationSet,
    Document,
    Manifests,
    Project,
    SourceDetails,
    Version,
)
from foretell.agents.argocd.gate import Gate
from foretell.agents.argocd.refusal import refusal
from foretell.agents.argocd.wire import PATIENCE, Call, Pace, Wire
from foretell.domain.errors import InvalidRequest, NotFound
from foretell.domain.plan import JsonObject
from foretell.kit.http import Http, Options

D = TypeVar("D", bound=Document)

Query = Sequence[tuple[str, str]]


class ArgoCD:
    """One server, one token. `close` it, or use it as a context manager.

    Every call raises NotFound, Forbidden, Conflict or InvalidRequest for what asking again does not
    change, and Unavailable when the server stayed away or overloaded through all attempts. A
    missing Application is told from a forbidden one only where `project` is given.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def close(self) -> None:
        """Close every connection."""
        await self._wire.close()

    async def __aenter__(self) -> "ArgoCD":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def version(self) -> str:
        """The server's version, such as `v3.1.9+4a6bd27`."""
        return (await self._read(Version, "api/version")).version

    async def applications(
        self, *, selector: str = "", projects: Sequence[str] = (), repo: str = "", name: str = ""
    ) -> list[Application]:
        """What this token may see, by label selector, project, repository address and name."""
        query = _given(("selector", selector), ("repo", repo), ("name", name))
        query += [("projects", project) for project in projects]
        found = await self._json("GET", "api/v1/applications", query=query)
        return self._all(Application, found)

    async def application(
        self, name: str, *, project: str = "", namespace: str = "", refresh: str = ""
    ) -> Application:
        """One Application; `refresh` is "", "normal" or "hard" (with a new render)."""
        query = _given(("refresh", refresh), *_where(project, namespace))
        return await self._read(Application, _application(name), query=query)

    async def create(self, application: JsonObject, *, upsert: bool = True) -> Application:
        """Makes an Application, or with `upsert` brings one that is there to this form.

        The server checks permissions and destination, and not that the sources render: their error
        comes with the manifests.
        """
        query = [("upsert", _flag(upsert)), ("validate", "false")]
        made = await self._json("POST", "api/v1/applications", query=query, body=application)
        return self._one(Application, made)

    async def delete(
        self, name: str, *, project: str = "", namespace: str = "", cascade: bool = False
    ) -> bool:
        """Deletes the Application, with `cascade` its objects too; False where there is none."""
        query = [("cascade", _flag(cascade)), *_given(*_where(project, namespace))]
        try:
            await self._json("DELETE", _application(name), query=query)
        except NotFound:
            return False
        return True

    async def manifests(
        self,
        name: str,
        *,
        project: str = "",
        namespace: str = "",
        revision: str | Sequence[str] = "",
        no_cache: bool = False,
    ) -> Manifests:
        """What the Application renders, Secrets masked; it is rendered while this waits.

        `revision`: text for an Application with `source`; for one with `sources` a revision for
        each, in their order, "" to leave a source at its own. `no_cache` needs a newer server than
        3.1; older ones do not know it and ignore it.
        """
        query = _given(*_where(project, namespace), ("noCache", "true" if no_cache else ""))
        path = f"{_application(name)}/manifests"
        found = await self._json("GET", path, query=query + _revisions(revision), renders=True)
        return self._one(Manifests, found)

    async def source_type(
        self, source: JsonObject, *, name: str, project: str, index: int = 0
    ) -> str:
        """What the server takes a source for: Helm, Kustomize, Directory or Plugin.

        `name`: an Application that is not there and may be created. Of one that is there, the
        server tells only about sources that it had before.
        """
        address = quote(str(source.get("repoURL", "")), safe="")
        body = {"source": source, "appName": name, "appProject": project, "sourceIndex": index}
        path = f"api/v1/repositories/{address}/appdetails"
        found = await self._json("POST", path, body=body, renders=True)
        return self._one(SourceDetails, found).type

    async def application_sets(self, *, projects: Sequence[str] = ()) -> list[ApplicationSet]:
        """The ApplicationSets that this token may see."""
        query = [("projects", project) for project in projects]
        return self._all(
            ApplicationSet, await self._json("GET", "api/v1/applicationsets", query=query)
        )

    async def projects(self) -> list[Project]:
        """The projects that this token may see."""
        return self._all(Project, await self._json("GET", "api/v1/projects"))

    async def project(self, name: str) -> Project:
        """One project."""
        return await self._read(Project, f"api/v1/projects/{quote(name, safe='')}")

    async def _read(self, kind: type[D], path: str, *, query: Query = ()) -> D:
        return self._one(kind, await self._json("GET", path, query=query))

    async def _json(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Any = None,
        renders: bool = False,
    ) -> Any:
        target = f"{path}?{urlencode(query)}" if query else path
        answer = await self._wire.answer(Call(method, target, body, renders))
        if answer.status >= 300:
            raise refusal(f"{method} /{path}", answer, self._wire.masked)
        return answer.json()

    def _one(self, kind: type[D], value: Any) -> D:
        try:
            return kind.model_validate(value)
        except ValidationError as error:
            places = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
            raise InvalidRequest(
                f"Argo CD answered with a {kind.__name__} that can't be read: {places}"
            ) from None  # the cause quotes the document

    def _all(self, kind: type[D], value: Any) -> list[D]:
        items = value.get("items") if isinstance(value, dict) else None
        return [self._one(kind, item) for item in items or ()]


def connect(
    address: str,
    token: str,
    *,
    ca_file: str = "",
    gate: Gate | None = None,
    transport: Any = None,
    pace: Pace | None = None,
) -> ArgoCD:
    """A client. Raises InvalidRequest for an address or a CA file that is none."""
    options = Options(
        # The type also where nothing is sent: a server refuses a DELETE without it, and with it a
        # page in somebody's browser that would have him delete (`enforceContentTypes` there).
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        secrets=frozenset({token}),
        ca_file=ca_file,
        patience=PATIENCE,
        transport=transport,
    )
    return ArgoCD(Wire(Http(address, options), gate or Gate(40), pace=pace))


def _application(name: str) -> str:
    return f"api/v1/applications/{quote(name, safe='')}"


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _where(project: str, namespace: str) -> Iterable[tuple[str, str]]:
    return (("project", project), ("appNamespace", namespace))


def _given(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in pairs if value]


def _revisions(revision: str | Sequence[str]) -> list[tuple[str, str]]:
    """Positions count from 1; a source without a position stays at its own revision."""
    if isinstance(revision, str):
        return _given(("revision", revision))
    asked = [(place, each) for place, each in enumerate(revision, 1) if each]
    return [
        *(("revisions", each) for _, each in asked),
        *(("sourcePositions", str(place)) for place, _ in asked),
    ]
