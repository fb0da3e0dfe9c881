"""Applications -> an inventory: a deployment for each folder, a target for each Application.

The shape is `docs/reference/inventory.md`.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from foretell.domain.plan import JsonObject
from foretell.formats.argo_inventory.application import Application
from foretell.formats.yaml import dump

AGENT = "argo-cd"
TOKEN_VARIABLE = "ARGOCD_AUTH_TOKEN"
"""What Argo CD's own program calls it."""
REVISION = "{{ version.metadata.commit | default(version.tag) }}"
_SLUG_LENGTH = 63
_NAME_LENGTH = 253


def inventory(
    applications: Sequence[Application],
    *,
    server: str,
    repository: str,
    workspace: str = "",
    ca_file: str = "",
) -> dict[str, Any]:
    """The inventory of `applications`, which are all in `repository`, as one document.

    The environments are Argo CD's projects. The token is a reference, never a value.
    """
    found = sorted(applications, key=lambda each: (each.path, each.name, each.namespace))
    paths = sorted({each.path for each in found})
    named: dict[str, Any] = {"workspace": workspace} if workspace else {}
    return {
        **named,
        "jobAgents": [_agent(server, repository, ca_file)],
        "environments": [_environment(name) for name in sorted({one.project for one in found})],
        "resources": [_resource(each) for each in found],
        "deployments": [
            _deployment(path, slug) for path, slug in zip(paths, slugs(paths), strict=True)
        ],
    }


def _agent(server: str, repository: str, ca_file: str) -> dict[str, Any]:
    config: dict[str, Any] = {
        "serverUrl": server,
        "apiKey": {"env": TOKEN_VARIABLE},
        "template": "{{ resource.config.application }}",
        "revision": {"repository": repository, "commit": REVISION},
    }
    if ca_file:
        config["caFile"] = ca_file
    return {"name": AGENT, "type": "argo-cd", "config": config}


def _environment(project: str) -> dict[str, Any]:
    return {"name": project, "resourceSelector": _equals("resource.metadata.project", project)}


def _deployment(path: str, slug: str) -> dict[str, Any]:
    return {
        "name": path[-_NAME_LENGTH:],
        "slug": slug,
        "resourceSelector": _equals("resource.metadata.path", path),
        "jobAgentSelector": _equals("jobAgent.name", AGENT),
    }


def _resource(one: Application) -> dict[str, Any]:
    metadata = {
        "project": one.project,
        "path": one.path,
        "madeBy": one.made_by,
        **_destination(one),
    }
    return {
        "identifier": identifier(one),
        "name": one.name,
        "kind": "ArgoCDApplication",
        # As text: a map such as {env: production} in somebody's values is no reference of ours.
        "config": {"application": dump(manifest(one))},
        "metadata": {key: value for key, value in metadata.items() if value},
    }


def identifier(one: Application) -> str:
    """An Application's name is unique in its namespace only."""
    return f"{one.namespace}/{one.name}" if one.namespace else one.name


def manifest(one: Application) -> dict[str, Any]:
    """The Application as somebody would write it: no status, nothing that servers add."""
    about = {
        "name": one.name,
        "namespace": one.namespace,
        "labels": one.labels,
        "annotations": one.annotations,
        "finalizers": list(one.finalizers),
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {key: value for key, value in about.items() if value},
        "spec": one.spec,
    }


def _destination(one: Application) -> JsonObject:
    where = one.spec.get("destination")
    if not isinstance(where, dict):
        return {}
    cluster = where.get("name") or where.get("server") or ""
    return {"cluster": str(cluster), "namespace": str(where.get("namespace") or "")}


def _equals(what: str, text: str) -> str:
    return f"{what} == {json.dumps(text)}"


def slugs(paths: Sequence[str]) -> list[str]:
    """A slug for each path, no two the same; each depends on its own path where it can.

    Of paths that would share one, and of those too long, the slug ends in a digest of the path.
    """
    plain = ["root" if path == "." else _dashed(path) for path in paths]
    return [
        slug if 0 < len(slug) <= _SLUG_LENGTH and plain.count(slug) == 1 else _digested(path, slug)
        for path, slug in zip(paths, plain, strict=True)
    ]


def _dashed(path: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", path.lower()).strip("-")


def _digested(path: str, slug: str) -> str:
    digest = hashlib.sha256(path.encode()).hexdigest()[:8]
    return f"{slug[: _SLUG_LENGTH - 9].strip('-')}-{digest}".strip("-")
