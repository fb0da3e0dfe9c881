"""What a server of Argo CD has of one repository, asked with a token from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from foretell.domain.errors import InvalidRequest, NotFound
from foretell.formats.argo_inventory import TOKEN_VARIABLE, Application, read_application

if TYPE_CHECKING:
    from foretell.agents.argocd.documents import Application as Answered

RepoOption = Annotated[
    str,
    typer.Option(
        "--repo", metavar="OWNER/NAME", help="The repository: OWNER/NAME, or its address."
    ),
]
CaFileOption = Annotated[
    str, typer.Option("--ca-file", metavar="FILE", help="Certificates that Argo CD's is signed by.")
]


@dataclass(frozen=True, slots=True)
class ArgoServer:
    """Where Argo CD is, and the token to ask it with."""

    url: str
    token: str = field(repr=False)
    ca_file: str = ""


def argo_server(
    address: str, ca_file: str = "", environ: Mapping[str, str] = os.environ
) -> ArgoServer:
    """The server at `address`, which may lack its `https://` as on Argo CD's own command line.

    Raises InvalidRequest where the environment holds no token: on a command line everybody on the
    machine could read it.
    """
    token = environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise InvalidRequest(
            f"{TOKEN_VARIABLE} is not set: expected in the environment a token of an Argo CD "
            "account that may read Applications"
        )
    url = address if "://" in address else f"https://{address}"
    return ArgoServer(url.rstrip("/"), token, os.path.abspath(ca_file) if ca_file else "")


async def applications_of(server: ArgoServer, repository: str) -> list[Application]:
    """The Applications with a source in `repository`, by name.

    Raises NotFound where there is none that this token may see, and what the server's refusal is.
    """
    from foretell.agents.argocd.client import connect  # most command lines need no HTTP

    async with connect(server.url, server.token, ca_file=server.ca_file) as argo:
        answered = await argo.applications()
    read = (_read(each, repository) for each in answered)
    found = sorted((one for one in read if one), key=lambda one: (one.name, one.namespace))
    if not found:
        raise NotFound(
            f"{server.url} shows no Application with a source in {repository} (of "
            f"{len(answered)} that this token may see): check the repository and the token's role"
        )
    return found


def _read(answered: "Answered", repository: str) -> Application | None:
    metadata = answered.metadata.model_dump(by_alias=True, mode="json")
    status = answered.status
    types = status.source_types or ((status.source_type,) if status.source_type else ())
    return read_application(metadata, answered.spec, repository, types)
